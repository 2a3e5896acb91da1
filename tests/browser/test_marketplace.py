"""Finding a skill: words, filters, pages, and the way back."""

from __future__ import annotations

import re

from playwright.async_api import expect

from tests.browser.conftest import Visit
from tests.browser.sites import Site
from tests.browser.stocking import Stock


async def test_search_shows_what_fits_while_it_is_typed__and_back_undoes_it(
    site: Site, stock: Stock, visit: Visit
) -> None:
    page = (await visit(site, "/skills")).page
    await expect(page.get_by_role("status")).to_contain_text("skills")
    await page.evaluate("window.isSamePage = true")
    field = page.get_by_role("searchbox", name="Search skills")
    await field.press_sequentially("table-prof")
    await expect(page.locator(".skill-rows > *")).to_have_count(1)
    await expect(page.locator(".skill-rows")).to_contain_text("table-profile")
    assert await page.evaluate("window.isSamePage")
    await expect(page).to_have_url(re.compile(r"/skills\?q=table-prof(&sort=)?$"))
    await page.get_by_role("link", name="table-profile").first.click()
    await expect(page).to_have_url(f"{site.address}/skills/{stock.slug}")
    await expect(page.get_by_role("heading", level=1)).to_contain_text("table-profile")
    await page.go_back()
    await expect(page.locator(".skill-rows > *")).to_have_count(1)
    await expect(page.get_by_role("searchbox", name="Search skills")).to_have_value("table-prof")


async def test_search_forgives_a_slip__and_says_so_when_there_is_nothing(
    site: Site, stock: Stock, visit: Visit
) -> None:
    page = (await visit(site, "/skills?q=tranzlate")).page
    await expect(page.locator(".skill-rows")).to_contain_text("translate-one")
    await page.goto(f"{site.address}/skills?q=qqqqqqqqqq")
    await expect(page.get_by_text("No published skill matches")).to_be_visible()


async def test_pages_and_filters_lead_on_and_back(site: Site, stock: Stock, visit: Visit) -> None:
    page = (await visit(site, "/skills?sort=name")).page
    first = await page.locator(".skill-rows > *").first.inner_text()
    await page.get_by_role("link", name="Next").click()
    await expect(page).to_have_url(f"{site.address}/skills?sort=name&page=2")
    assert await page.locator(".skill-rows > *").first.inner_text() != first
    await page.go_back()
    await expect(page.locator(".skill-rows > *").first).to_have_text(first, use_inner_text=True)
    await page.get_by_role("checkbox", name="Reaches the network").click()
    await expect(page.get_by_role("list", name="Filters in force")).to_be_visible()
    await expect(page.locator(".skill-rows")).to_contain_text("table-profile")
    await page.get_by_role("link", name="Clear all").click()
    await expect(page.get_by_role("list", name="Filters in force")).to_have_count(0)
