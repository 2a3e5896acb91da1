"""Signing in with a browser: wrong, right, with a code, and out again."""

from __future__ import annotations

import time

import pyotp
from playwright.async_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.sites import PASSWORD, Site
from tests.browser.test_every_page import PHONE, RULES, violations
from vskill_platform.domain.access import Role


async def fill_in(page: Page, name: str, password: str) -> None:
    await page.get_by_label("Login name").fill(name)
    await page.get_by_label("Password").fill(password)
    await page.get_by_role("button", name="Sign in").click()


async def test_visitor_signs_in_and_out__after_a_wrong_password_was_told(site: Site, visit: Visit) -> None:
    await site.join(await site.invite("walter", Role.SUBMITTER), "walter")
    watched = await visit(site, "/login?next=/skills")
    watched.expect_problem("401")
    page = watched.page
    assert await violations(page, RULES) == []
    await fill_in(page, "walter", "not his password")
    await expect(page.get_by_role("alert")).to_contain_text("The name or the password is wrong.")
    await fill_in(page, "walter", PASSWORD)
    await page.wait_for_url("**/skills")
    menu = page.locator(".account-menu")
    await menu.locator("summary").click()
    await expect(menu).to_contain_text("walter")
    await menu.get_by_role("button", name="Sign out").click()
    await expect(page.locator("[data-account]")).to_have_text("Sign in")
    await watched.go("/account")
    await expect(page.get_by_role("heading", name="Sign in first")).to_be_visible()


async def test_owner_sets_up_a_second_factor__and_signs_in_with_it(site: Site, visit: Visit) -> None:
    await site.join(await site.invite("tilda", Role.SUBMITTER), "tilda")
    watched = await visit(site, "/login", viewport=PHONE)
    page = watched.page
    await fill_in(page, "tilda", PASSWORD)
    await page.wait_for_url("**/account")
    assert await violations(page, RULES) == []
    section = page.locator("section", has=page.get_by_role("heading", name="Second factor"))
    await section.get_by_label("Present password").fill(PASSWORD)
    await section.get_by_role("button", name="Set up").click()
    await expect(section.get_by_role("img")).to_be_visible()
    app = pyotp.TOTP(await section.locator("[data-fill=secret]").inner_text())
    step = int(time.time()) // 30
    await section.get_by_label("Code that the app shows").fill(app.at(step * 30))
    await section.get_by_role("button", name="Confirm").click()
    recovery = section.locator("[data-fill=recoveryCodes]")
    await expect(recovery).not_to_be_empty()
    assert len((await recovery.inner_text()).split()) == 10
    await page.get_by_role("button", name="Sign out", exact=True).first.click()
    await watched.go("/login")
    await fill_in(page, "tilda", PASSWORD)
    await page.get_by_label("Code of your app").fill(app.at((step + 1) * 30))
    await page.get_by_role("button", name="Go on").click()
    await page.wait_for_url("**/account")
    await expect(page.get_by_text("10 recovery codes are left")).to_be_visible()


async def test_super_admin_makes_an_account__and_hands_its_link_over(site: Site, signed_in: Visit) -> None:
    watched = await signed_in(site, "/admin/accounts", role=Role.SUPER_ADMIN)
    page = watched.page
    assert await violations(page, RULES) == []
    await page.get_by_label("Login name").fill("newcomer")
    await page.get_by_label("Why", exact=True).fill("They have joined.")
    await page.get_by_role("button", name="Make the account").click()
    await expect(page.locator("#link pre")).to_contain_text(f"{site.address}/setup?token=")
    await page.get_by_role("link", name="Done").click()
    row = page.get_by_role("row").filter(has_text="newcomer")
    await expect(row).to_contain_text("no password yet")
    await row.get_by_role("button", name="Disable").click()
    await page.get_by_label("Why", exact=True).last.fill("They have left again.")
    await page.get_by_role("button", name="Go on").click()
    await expect(page.get_by_role("row").filter(has_text="newcomer")).to_contain_text("disabled")
