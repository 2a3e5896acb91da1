"""Webhooks on the panel: made, tried and removed by hand, with a secret that is seen once."""

from __future__ import annotations

import re

from playwright.async_api import expect

from tests.browser.conftest import Visit
from tests.browser.sites import Site
from tests.browser.test_operations import act
from vskill_platform.domain.access import Role

NOWHERE = "https://hooks.invalid/skills?channel=7"
"""A name that no name server ever knows."""


async def test_webhook_is_made_tried_and_removed__and_its_secret_shown_once(site: Site, signed_in: Visit) -> None:
    watched = await signed_in(site, "/admin/webhooks", role=Role.SUPER_ADMIN)
    page = watched.page
    await page.get_by_label("Address").fill(NOWHERE)
    await page.get_by_label("skill.published").check()
    await page.get_by_label("Why").fill("The chat wants to know.")
    await page.get_by_role("button", name="Make the webhook").click()
    secret = page.locator("#new-secret [data-fill=secret]")
    await expect(secret).to_have_text(re.compile(r"^whsec_[A-Za-z0-9+/=]{44}$"))
    told = await secret.inner_text()
    await page.get_by_role("link", name="Done").click()
    await page.get_by_role("link", name=NOWHERE).click()
    await expect(page.locator("h1")).to_have_text(NOWHERE)
    assert told not in await page.content()
    await page.get_by_role("button", name="Send a test").click()
    await expect(page.locator("[data-admin-status]")).to_have_text("It stands in line, and is sent in a moment.")
    answered = page.locator(".webhook-answer", has_text="has no address at the moment")
    while not await answered.count():
        await page.reload()
    await expect(answered).to_be_visible()
    await act(page, "Switch off", reason="Nobody is there.")
    await expect(page.get_by_role("button", name="Switch on")).to_be_visible()
    await act(page, "Remove", reason="It was a test.")
    await expect(page.locator(".empty-title")).to_have_text("Nobody is told yet")
