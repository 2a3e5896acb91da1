"""Pages of a registry, as a browser shows them.

The registry is the real command. Its skills are those of the demo and of the scanner's own corpus, good and bad, made into
repositories, served over git on loopback, submitted and decided on like any others.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import httpx
from playwright.async_api import Browser, async_playwright

from tests.browser.sites import Site, running_site
from tests.corpus.cases import read_corpus
from tools.panel_pictures import stop_the_queue
from vskill_platform.cli.samples import SAMPLES
from vskill_platform.domain.access import Role
from vskill_platform.testing.chromium import chromium_arguments, find_chromium

WIDTH = 1200
GROUPS = {
    "benign/api-clients": "northwind/api-clients",
    "malicious/download-execute": "shady/installers",
    "benign/ci-recipes": "northwind/ci-recipes",
    "benign/data-science": "lumen-labs/data-science",
    "benign/docs-and-writing": "lumen-labs/writing",
    "malicious/credential-access": "shady/logins",
    "benign/security-guides": "harbour/security-guides",
    "benign/system-admin": "harbour/operations",
    "benign/web-dev": "paperplane/web",
}
"""Groups of the corpus, and the repository that each becomes."""
SHOWN_SKILL = "northwind/api-clients/stripe-webhooks"
FAILED = "shady/helper"
COUNTED = 'class="chart-bar'
COUNTED_S = 180


class Shot(NamedTuple):
    """A page to show, the name of its picture, and the role of whoever looks at it; nobody's where there is none."""

    name: str
    path: str
    role: Role | None = None
    height: int = 800


def draw_pages(folder: Path) -> list[Path]:
    """Fill a registry, and take a picture of each page that the README shows."""
    with (
        tempfile.TemporaryDirectory(prefix="vskill-pictures-") as name,
        running_site("", Path(name), host="localhost") as site,
    ):
        return asyncio.run(_draw(site, folder))


async def _draw(site: Site, folder: Path) -> list[Path]:
    failed = await _fill(site)
    slug = f"localhost-{SHOWN_SKILL}"
    shots = [
        Shot("marketplace", "/skills"),
        Shot("skill", f"/skills/{slug}"),
        Shot("submission", f"/submissions/{failed}"),
        Shot("queue", "/queue"),
        Shot("review-desk", f"/admin/review/{failed}", Role.REVIEWER, height=1080),
        Shot("admin-overview", "/admin", Role.SUPER_ADMIN),
    ]
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find_chromium(), args=chromium_arguments())
        paths = [await _take(browser, site, shot, folder) for shot in shots]
        with site.gate.closed():
            await stop_the_queue(site)
            paths.append(await _take(browser, site, Shot("admin-queue", "/admin/queue", Role.SUPER_ADMIN), folder))
        await browser.close()
    return paths


async def _take(browser: Browser, site: Site, shot: Shot, folder: Path) -> Path:
    page = await browser.new_page(
        viewport={"width": WIDTH, "height": shot.height}, color_scheme="light", reduced_motion="reduce"
    )
    if shot.role is not None:
        await page.context.add_cookies(await site.cookies(shot.role))
    answer = await page.goto(site.address + shot.path)
    assert answer is not None, shot.path
    assert answer.ok, f"{shot.path}: {answer.status}"
    await page.evaluate("document.fonts.ready")
    path = folder / f"{shot.name}.png"
    await page.screenshot(path=path)
    await page.close()
    return path


async def _fill(site: Site) -> str:
    """Submit everything. Returns the id of a skill that was turned down."""
    ids = {name: await site.submit(site.make_repository(name, files)[1]) for name, files in _repositories()}
    views = {name: await site.until_decided(identity) for name, identity in ids.items()}
    await _until_counted(site)
    return str(views[FAILED]["children"][0]["id"])


async def _until_counted(site: Site) -> None:
    """Wait until cron has been round: the charts show what it counts."""
    async with asyncio.timeout(COUNTED_S), httpx.AsyncClient(base_url=site.address) as client:
        while COUNTED not in (await client.get("/queue")).text:  # noqa: ASYNC110 - another process counts
            await asyncio.sleep(1)


def _repositories() -> Iterator[tuple[str, dict[str, bytes]]]:
    for sample in SAMPLES:
        yield sample.name, sample.files
    for group, repository in GROUPS.items():
        cases = [case for case in read_corpus() if case.name.startswith(f"{group}/")]
        files = {
            f"skills/{case.name.rpartition('/')[2]}/{file.path}": file.content
            for case in cases
            for file in case.content.files
        }
        yield repository, files
