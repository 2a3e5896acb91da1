"""Owning what one publishes, with a browser: a claim from its first click to the first version that is taken back."""

from __future__ import annotations

from playwright.async_api import expect

from tests.browser.conftest import Visit
from tests.browser.sites import Site, skill_md
from tests.browser.test_every_page import RULES, violations
from vskill_platform.domain.access import Role
from vskill_platform.domain.publisher import CLAIM_FILE
from vskill_platform.testing.git_repos import BareRepository


async def test_submitter_claims_a_publisher__then_yanks_a_version_and_keeps_a_collection(
    site: Site, signed_in: Visit
) -> None:
    name, files = "claimed/tools", {"SKILL.md": skill_md("tools")}
    (skill,) = await site.publish(name, files)
    watched = await signed_in(site, "/account/publishers", role=Role.SUBMITTER)
    page = watched.page
    assert await violations(page, RULES) == []
    await page.get_by_label("Repository").fill(f"{site.source}/{name}")
    await page.get_by_role("button", name="Begin").click()
    token = await page.locator("[data-claim-token]").inner_text()
    watched.expect_problem("422")
    await page.get_by_role("button", name="Verify").click()
    await expect(page.locator("[data-admin-status]")).to_contain_text("Commit and push it")
    BareRepository(site.folder / f"{name}.git").commit({**files, CLAIM_FILE: token.encode()})
    await page.get_by_role("button", name="Verify").click()
    handle = skill["slug"].split("/", 1)[0]
    await page.wait_for_url(f"**/account/publishers/{handle}")
    assert await violations(page, RULES) == []
    await page.get_by_role("button", name="Yank").click()
    await page.get_by_label("Why").fill("It greets the wrong people.")
    await page.get_by_role("button", name="Go on").click()
    await expect(page.locator("[data-admin-status]")).to_contain_text("No version is left")
    await page.get_by_role("button", name="Restore").click()
    await page.get_by_label("Why it may be handed out again").fill("Mended.")
    await page.get_by_role("button", name="Go on").click()
    await expect(page.locator("[data-admin-status]")).to_contain_text("is handed out again")
    await page.get_by_label("Name", exact=True).fill("starter")
    await page.get_by_role("button", name="Make a collection").click()
    await page.get_by_role("link", name="starter").click()
    await page.get_by_label("Skills, one a line").fill(skill["slug"])
    await page.get_by_role("button", name="Save").click()
    await expect(page.locator("[data-admin-status]")).to_have_text("Done.")
    assert await violations(page, RULES) == []
    await page.get_by_role("button", name="Open a private path").click()
    status = page.locator("[data-admin-status]")
    await expect(status).to_contain_text(f"{site.address}/p/")
    await watched.go("/p/" + (await status.inner_text()).rsplit("/p/", 1)[1])
    await expect(page.get_by_role("link", name=skill["slug"])).to_be_visible()
