"""What holds for every page: nobody is shut out, nothing moves, nothing is cut off, and it can be read without a script."""

from __future__ import annotations

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Page, ViewportSize, expect

from tests.browser.conftest import Visit
from tests.browser.sites import Site
from tests.browser.stocking import Stock
from tests.browser.watching import Watched

PHONE: ViewportSize = {"width": 390, "height": 844}
DESK: ViewportSize = {"width": 1280, "height": 900}
NOWHERE = Stock("a/b/c", "sub_1", "sub_2", "sub_3")
RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "resultTypes": ["violations"],
}
COLOURS = {"runOnly": ["color-contrast"], "resultTypes": ["violations"]}
"""Of the rules, those whose answer depends on the colours."""
SERIOUS = ("serious", "critical")
STILL = 0.02
"""Below this a shift cannot be seen; a page of ours should have none."""
FEWEST_CHARS = 80
axe = Axe()


async def violations(page: Page, rules: dict[str, list[str]]) -> list[str]:
    """What keeps somebody out, and where."""
    found = await axe.run(page, options=rules)
    return [
        f"{violation['id']}: {node['html'][:200]} {node['failureSummary']}"
        for violation in found.response["violations"]
        if violation["impact"] in SERIOUS
        for node in violation["nodes"]
    ]


async def go(watched: Watched, stock: Stock, kind: str) -> Page:
    if kind == "no page":
        watched.expect_problem("404")
    return await watched.go(stock.pages[kind])


@pytest.mark.parametrize("kind", NOWHERE.pages)
async def test_page_fits_a_phone_stands_still_and_shuts_nobody_out(
    site: Site, stock: Stock, visit: Visit, kind: str
) -> None:
    watched = await visit(site, viewport=PHONE, color_scheme="light")
    page = await go(watched, stock, kind)
    width, room = await page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert width <= room
    assert await violations(page, RULES) == []
    assert await watched.layout_shift() < STILL
    await page.set_viewport_size(DESK)
    await page.emulate_media(color_scheme="dark")
    assert await violations(page, COLOURS) == []


async def test_pages_can_be_read_without_scripts(site: Site, stock: Stock, visit: Visit) -> None:
    watched = await visit(site, java_script_enabled=False)
    for kind in stock.pages:
        page = await go(watched, stock, kind)
        await expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert len(await page.locator("main").inner_text()) > FEWEST_CHARS, kind
