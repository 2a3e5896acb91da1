"""What a first visit costs, counted on the wire, and the install command as people run it: over a real socket."""

from __future__ import annotations

import asyncio
import gzip
import html
import os
import re
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.pages.planting import SKILL_MD, SLUG, plant
from vskill_platform.app import serving
from vskill_platform.domain.scan import Capabilities
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.web.app import create_web_app

MOST_BYTES = 100 * 1024
LOADED = re.compile(r'<(?:script|img)\b[^>]*\bsrc="([^"]+)"|<link\b[^>]*\brel="(?:stylesheet|preload|icon)"[^>]*>')
HREF = re.compile(r'href="([^"]+)"')


@pytest.fixture
async def address(env: WorkerEnv) -> AsyncIterator[str]:
    async with serving(create_web_app(env)) as served:
        yield served


async def fetch(address: str, path: str) -> tuple[int, str]:
    """Ask as a browser does; how many bytes came back in all, heads among them, and the text if it is one."""
    place = urlsplit(address)
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    asked = ("Host: " + place.netloc, "Accept: text/html,*/*", "Accept-Encoding: gzip", "Connection: close", "", "")
    writer.write("\r\n".join([f"GET {path} HTTP/1.1", *asked]).encode())
    answer = await reader.read(-1)
    writer.close()
    first, _, body = answer.partition(b"\r\n\r\n")
    assert b" 200 " in first.split(b"\r\n")[0], (path, first)
    if b"content-encoding: gzip" in first.lower():
        body = gzip.decompress(body)
    return len(answer), body.decode(errors="replace")


def loaded_by(page: str) -> set[str]:
    """What a browser loads together with a page."""
    found = (match[1] or HREF.search(match[0])[1] for match in LOADED.finditer(page))  # type: ignore[index]
    return {html.unescape(url) for url in found}


async def test_first_load_of_the_marketplace_is_small_and_asks_nobody_else(address: str, env: WorkerEnv) -> None:
    said = "Reads what is there first, asks before it changes anything and leaves an account of what it did. " * 2
    for number in range(30):
        capabilities = Capabilities(network_hosts=("example.com",), commands=("git",))
        await plant(
            env, slug=f"acme/tools/skill-{number}", description=said, capabilities=capabilities, installs=number
        )
    for path in ("/", "/skills"):
        size, page = await fetch(address, path)
        urls = loaded_by(page)
        assert {url.rpartition("/")[2] for url in urls} >= {
            "site.css",
            "theme.js",
            "site.js",
            "inter.woff2",
            "mark.svg",
        }
        assert all(url.startswith("/") and not url.startswith("//") for url in urls)
        whole = size + sum([(await fetch(address, url))[0] for url in urls])
        assert whole <= MOST_BYTES, f"{path} costs {whole} bytes"


async def run_as_person(command: str, home: Path) -> int:
    environment = {"PATH": os.environ["PATH"], "HOME": str(home)}
    shell = await asyncio.create_subprocess_exec("/bin/sh", "-c", command, cwd=home, env=environment)
    return await shell.wait()


@pytest.mark.skipif(
    not all(map(shutil.which, ("curl", "sha256sum", "unzip"))), reason="curl, sha256sum or unzip is missing"
)
async def test_install_command_installs_what_was_verified__and_nothing_else(
    address: str, env: WorkerEnv, tmp_path: Path
) -> None:
    version = await plant(env, files={"SKILL.md": SKILL_MD, "scripts/run.sh": b"echo hello\n"})
    async with httpx.AsyncClient(base_url=address, headers={"Accept": "text/html"}) as client:
        page = (await client.get(f"/skills/{SLUG}")).text
    found = re.search(r'<code id="install-claude-code">(.*?)</code>', page, re.DOTALL)
    assert found is not None
    command = html.unescape(found[1])
    digest = version.zip_digest.removeprefix("sha256:")
    home = tmp_path / "home"
    home.mkdir()
    assert await run_as_person(command.replace(digest, "0" * 64), home) != 0
    assert not (home / ".claude").exists()
    assert await run_as_person(command, home) == 0
    installed = home / ".claude/skills/greeting"
    assert (installed / "SKILL.md").read_bytes() == SKILL_MD
    assert (installed / "scripts/run.sh").read_bytes() == b"echo hello\n"
