"""By keyboard alone, and in the colours that a reader has chosen."""

from __future__ import annotations

from playwright.async_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.sites import Site, skill_md

DARKEST = 60
"""A background whose channels are all below this is dark."""
FOCUS = "getComputedStyle(document.activeElement)"


async def is_dark(page: Page) -> bool:
    colour = await page.evaluate("getComputedStyle(document.body).backgroundColor.match(/[0-9]+/g).map(Number)")
    return max(colour[:3]) < DARKEST


async def tab_to(page: Page, name: str) -> None:
    """Press Tab until the focus is on something of this name; every stop on the way must be seen."""
    for _ in range(40):
        await page.keyboard.press("Tab")
        seen = await page.evaluate(f"[{FOCUS}.outlineStyle, {FOCUS}.visibility, document.activeElement.tagName]")
        assert seen[0] != "none", await page.evaluate("document.activeElement.outerHTML")
        assert seen[1] == "visible"
        focused = page.locator(":focus")
        label = await focused.evaluate("e => e.ariaLabel || e.labels?.[0]?.textContent || e.textContent")
        if label.strip() == name:
            return
    raise AssertionError(f"Tab never came to '{name}'")


async def test_repository_is_submitted_by_keyboard_alone(site: Site, visit: Visit) -> None:
    _, url = site.make_repository("acme/keys", {"keys/SKILL.md": skill_md("keys")})
    page = (await visit(site, "/queue")).page
    await page.keyboard.press("Tab")
    skip = page.locator(":focus")
    await expect(skip).to_have_text("Skip to content")
    await expect(skip).to_be_in_viewport()
    await page.keyboard.press("Enter")
    await expect(page.locator("main")).to_be_focused()
    await page.goto(f"{site.address}/queue")
    await tab_to(page, "Submit")
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/submit")
    await expect(page.get_by_label("Repository")).to_be_focused()
    await page.keyboard.type(url)
    await expect(page.get_by_role("status")).to_contain_text("can be submitted")
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/submissions/**")
    await expect(page.locator(".notice").last).to_contain_text("All of it is published")
    await tab_to(page, "keys")
    await page.keyboard.press("Enter")
    await expect(page.locator(".stage.done")).to_have_count(5)


async def test_slash_goes_to_the_search_of_the_page(site: Site, visit: Visit) -> None:
    page = (await visit(site, "/queue")).page
    await page.keyboard.press("/")
    await expect(page.get_by_label("Search", exact=True)).to_be_focused()


async def test_colours_follow_the_system__until_the_reader_chooses(site: Site, visit: Visit) -> None:
    page = (await visit(site, "/queue", color_scheme="dark")).page
    assert await is_dark(page)
    await page.emulate_media(color_scheme="light")
    assert not await is_dark(page)
    switch = page.get_by_role("button", name="Dark colours")
    await switch.click()
    assert await is_dark(page)
    await expect(switch).to_have_attribute("aria-pressed", "true")
    await page.goto(f"{site.address}/trust")
    assert await is_dark(page)
    await page.get_by_role("button", name="Dark colours").click()
    await page.reload()
    assert not await is_dark(page)
