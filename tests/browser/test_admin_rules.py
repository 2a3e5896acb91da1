"""Tuning a rule in the panel: tried first, then switched off for real, and back."""

from __future__ import annotations

from playwright.async_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.sites import Site, skill_md
from tests.browser.test_every_page import RULES, violations
from vskill_platform.domain.access import Role

RULE = "BM-002"
BODY = "The recommendations are not labelled as advertisements."
"""What this rule alone takes exception to."""


async def give_reason(page: Page, reason: str) -> None:
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("textbox").fill(reason)
    await dialog.get_by_role("button", name="Go on").click()


async def test_rule_is_switched_off__after_a_dry_run_has_shown_which_skills_change(
    site: Site, signed_in: Visit
) -> None:
    (skill,) = await site.publish("acme/adverts", {"adverts/SKILL.md": skill_md("adverts", body=BODY)})
    watched = await signed_in(site, f"/admin/rules?q={RULE}", role=Role.SUPER_ADMIN)
    page = watched.page
    assert await violations(page, RULES) == []
    await page.get_by_role("link", name=RULE).click()
    await page.get_by_label("Severity to try").select_option("off")
    await page.get_by_role("button", name="Dry run").click()
    await expect(page.locator("#dry-run")).to_have_attribute("data-dry-run", "done")
    row = page.get_by_role("region", name="Skills that would change").get_by_role("row", name=skill["slug"])
    await expect(row).to_contain_text("Concerns")
    await expect(row).to_contain_text("Pass")
    await expect(row).to_contain_text("A person approved it")
    assert await violations(page, RULES) == []
    await page.get_by_role("button", name="Put it in force").click()
    await give_reason(page, "Wrong for us.")
    await expect(page.locator("[data-admin-status]")).to_contain_text(f"{RULE} is off now")
    await expect(page.get_by_role("region", name="History")).to_contain_text("Wrong for us.")
    _, url = site.make_repository("acme/more-adverts", {"more/SKILL.md": skill_md("more", body=BODY)})
    view = await site.until_decided(await site.submit(url))
    assert [child["state"] for child in view["children"]] == ["PUBLISHED"]
    await page.get_by_label("Severity", exact=True).select_option("default")
    await page.get_by_role("button", name="Change", exact=True).click()
    await give_reason(page, "It was right.")
    await expect(page.locator("[data-admin-status]")).to_contain_text(f"{RULE} is high now")
