"""What a browser itself says and keeps: its session, and a page of another site that would like to use it."""

from __future__ import annotations

from playwright.async_api import Browser, Page

from tests.browser.sites import PASSWORD, Site
from tests.browser.test_signing_in import fill_in
from vskill_platform.domain.access import Role
from vskill_platform.web.secure_sessions import SESSION_COOKIE

_ACT = """async ([address, mode]) => {
  const options = { method: 'POST', mode, credentials: 'include', body: '{"reason": "For fun"}' };
  if (mode === 'cors') options.headers = { 'Content-Type': 'application/json' };
  try { return (await fetch(`${address}/api/v1/admin/queue/resume`, options)).status; } catch (error) { return 'blocked'; }
}"""
_SEND_FORM = """(address) => {
  const form = document.createElement('form');
  Object.assign(form, { method: 'POST', enctype: 'text/plain', action: `${address}/api/v1/admin/queue/resume` });
  document.body.append(form);
  form.submit();
}"""
_READ = """async (address) => {
  try { return (await fetch(`${address}/api/v1/account`, { credentials: 'include' })).status; }
  catch (error) { return 'blocked'; }
}"""


async def _go_elsewhere(page: Page, site: Site) -> None:
    """To a page of another site, which has no policy that would keep it from anything."""
    address = site.address.replace("127.0.0.1", "localhost") + "/elsewhere"
    await page.route(address, lambda route: route.fulfill(body="<p>Hello", content_type="text/html"))
    await page.goto(address)


async def test_page_of_another_site_neither_acts_nor_reads__with_somebodys_session(
    site: Site, browser: Browser
) -> None:
    context = await browser.new_context()
    await context.add_cookies(await site.cookies(Role.SUPER_ADMIN))
    page = await context.new_page()
    await page.goto(f"{site.address}/docs")
    assert await page.evaluate(_ACT, [site.address, "cors"]) == 200, "the session is good, on a page of our own"
    assert await page.evaluate(_READ, site.address) == 200
    await _go_elsewhere(page, site)
    assert await page.evaluate(_READ, site.address) == "blocked"
    assert await page.evaluate(_ACT, [site.address, "cors"]) == "blocked"
    async with page.expect_navigation() as leaving:
        await page.evaluate(_SEND_FORM, site.address)
    answer = await leaving.value
    assert answer is not None
    assert (answer.status, (await answer.json())["code"]) == (403, "cross_site_refused")
    await context.close()


async def test_session_is_kept_for_this_host_alone__and_out_of_reach_of_scripts(site: Site, browser: Browser) -> None:
    await site.join(await site.invite("wanda", Role.SUBMITTER), "wanda")
    context = await browser.new_context()
    page = await context.new_page()
    await page.goto(f"{site.address}/login")
    await fill_in(page, "wanda", PASSWORD)
    await page.wait_for_url("**/account")
    kept = {cookie["name"]: cookie for cookie in await context.cookies()}[SESSION_COOKIE]
    assert (kept["secure"], kept["httpOnly"], kept["sameSite"], kept["path"]) == (True, True, "Lax", "/")
    assert kept["domain"] == "127.0.0.1"
    assert SESSION_COOKIE not in await page.evaluate("document.cookie")
    await context.close()
