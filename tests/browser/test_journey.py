"""A repository on its way, as its submitter watches it: by one form, one page, and without reloading."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.async_api import expect

from tests.browser.conftest import Visit
from tests.browser.sites import Site, skill_md
from tests.browser.stocking import BAD


@pytest.fixture(params=["sqlite", "postgres"])
def either_site(request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue("site" if request.param == "sqlite" else "postgres_site")


async def test_repository_becomes_published__while_its_page_is_open(either_site: Site, visit: Visit) -> None:
    site = either_site
    files = {"one/SKILL.md": skill_md("one"), "two/SKILL.md": skill_md("two")}
    repository, url = site.make_repository("acme/journey", files)
    watched = await visit(site, "/submit")
    page = watched.page
    with site.gate.closed():
        await page.get_by_label("Repository").fill(url)
        await expect(page.get_by_role("status")).to_contain_text("can be submitted")
        await page.keyboard.press("Enter")
        await page.wait_for_url("**/submissions/**")
        await expect(page.get_by_role("heading", level=1)).to_contain_text("acme/journey")
        await expect(page.locator(".stage.current")).to_contain_text("Fetched")
        await expect(page.locator("#submission")).to_have_attribute("data-live-state", "live")
        await page.evaluate("window.isSamePage = true")
    await expect(page.locator(".notice")).to_contain_text(["Thank you", "All of it is published"])
    await expect(page.locator(".stage.done")).to_have_count(4)
    skills = page.get_by_role("region", name="Skills of this repository")
    await expect(skills.get_by_text("Published")).to_have_count(2)
    repository.commit({**files, "one/SKILL.md": skill_md("one", body="Say good evening.")})
    await site.submit(url, skill="one")
    await expect(skills).to_contain_text("1.0.1")
    assert await page.evaluate("window.isSamePage")
    await page.get_by_role("link", name="one", exact=True).click()
    await expect(page.locator(".stage.done")).to_have_count(5)
    await expect(page.get_by_text("Version 1.0.1")).to_be_visible()


async def test_skill_that_fails_says_what_to_mend__and_passes_once_it_is_mended(site: Site, visit: Visit) -> None:
    repository, url = site.make_repository("acme/mended", {"tidy/SKILL.md": skill_md("tidy", body=f"{BAD}Then rest.")})
    view = await site.until_decided(await site.submit(url))
    watched = await visit(site, f"/submissions/{view['children'][0]['id']}")
    page = watched.page
    await expect(page.locator(".stage.failed")).to_contain_text("Decided")
    finding = page.locator(".finding", has_text="SKILL.md:9").first
    await expect(finding.locator(".code").first).to_be_visible()
    await expect(finding.locator(".excerpt")).to_contain_text("collect.shady.example/keys")
    await expect(finding).to_contain_text("Why it matters")
    await expect(finding).to_contain_text("How to mend it")
    repository.commit({"tidy/SKILL.md": skill_md("tidy")})
    await page.get_by_role("button", name="Try again").click()
    await expect(page.locator(".stage.done")).to_have_count(5)
    await expect(page.locator(".notice.pass")).to_contain_text("It is published")
    await expect(page.get_by_text("run 2").first).to_be_visible()


async def test_source_that_is_not_there_is_told__with_the_way_to_try_again(site: Site, visit: Visit) -> None:
    identity = await site.submit(f"{site.source}/acme/nowhere")
    await site.until_decided(identity)
    watched = await visit(site, f"/submissions/{identity}")
    await expect(watched.page.locator(".stage.failed")).to_contain_text("Repository not found")
    await expect(watched.page.get_by_role("button", name="Try again")).to_be_visible()


async def test_queue_shows_what_happens__while_it_is_open(site: Site, visit: Visit) -> None:
    page = (await visit(site, "/queue")).page
    await page.evaluate("window.isSamePage = true")
    await page.get_by_label("Search", exact=True).press_sequentially("evening")
    await expect(page.get_by_text("Nothing here matches")).to_be_visible()
    await expect(page).to_have_url(re.compile(r"/queue\?q=evening&"))
    await expect(page.locator("[data-live-status]")).to_have_text("Live")
    _, url = site.make_repository("acme/evening", {"evening/SKILL.md": skill_md("evening")})
    await site.submit(url)
    row = page.get_by_role("row").filter(has=page.get_by_role("link", name="evening", exact=True))
    await expect(row).to_contain_text("Published")
    await expect(page.locator("[data-count=published]")).to_have_text("2")
    assert await page.evaluate("window.isSamePage")


@pytest.mark.full
async def test_submission_is_followed_by_polling__where_streams_do_not_work(site: Site, visit: Visit) -> None:
    watched = await visit(site)
    watched.expect_problem("ERR_FAILED")
    page = watched.page
    await page.route("**/stream?*", lambda route: route.abort())
    _, url = site.make_repository("acme/polled", {"polled/SKILL.md": skill_md("polled")})
    with site.gate.closed():
        await watched.go(f"/submissions/{await site.submit(url)}")
        await expect(page.locator("#submission")).to_have_attribute("data-live-state", "polling", timeout=60_000)
    await expect(page.locator(".notice")).to_contain_text("All of it is published", timeout=60_000)


async def test_skills_are_found_before_submitting__and_one_of_them_is_submitted(site: Site, visit: Visit) -> None:
    _, url = site.make_repository("acme/choice", {f"{name}/SKILL.md": skill_md(name) for name in ("left", "right")})
    page = (await visit(site, "/submit")).page
    field, look = page.get_by_label("Repository"), page.get_by_role("button", name="Look which skills it has")
    await field.fill(f"{site.source}/acme/missing")
    await look.click()
    await expect(page.get_by_role("status")).to_contain_text("There is no repository at")
    await field.fill(url)
    await look.click()
    await expect(page.get_by_role("group", name=re.compile("^2 skills at"))).to_be_visible()
    await page.get_by_label("only right").check()
    await page.get_by_role("button", name="Submit").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("right")
    await expect(page.locator(".stage.done")).to_have_count(5)
    await page.goto(f"{site.address}/queue?q=acme%2Fchoice")
    await expect(page.locator("[data-count=total]")).to_have_text("1")


async def test_address_is_checked_while_it_is_typed(site: Site, visit: Visit) -> None:
    watched = await visit(site, "/submit")
    field, status = watched.page.get_by_label("Repository"), watched.page.get_by_role("status")
    await field.press_sequentially("acme")
    await expect(status).to_contain_text("is not an address of a repository")
    await field.press_sequentially("/skills")
    await expect(status).to_contain_text("https://github.com/acme/skills")
    assert await watched.layout_shift() < 0.02
