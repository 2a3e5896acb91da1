"""Operating a registry in the browser: pausing, sending back what is stuck, and dead letters, each watched to its end."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import NamedTuple

import msgspec
import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.sites import Site, running_site, skill_md
from vskill_platform.domain.access import Role
from vskill_platform.domain.ids import MessageId, submission_key
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE
from vskill_platform.domain.records import Submission
from vskill_platform.domain.recovery import due_ms
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.engines.postgres import open_postgres
from vskill_platform.ports.commit import Bury, DropMessage, Put
from vskill_platform.ports.engine import Engine
from vskill_platform.testing.postgres_server import PostgresServer

LONG_AGO_MS = 10 * 60_000


class Operated(NamedTuple):
    """A registry whose sweep leaves things to people, and its store, opened beside it."""

    site: Site
    engine: Engine


@pytest.fixture(scope="module")
def quiet_site(postgres_server: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, str]]:
    """A registry on PostgreSQL that sweeps once an hour."""
    url = postgres_server.url(postgres_server.create_database())
    with running_site(url, tmp_path_factory.mktemp("quiet"), VSKILL_PLATFORM_SWEEP_INTERVAL_S="3600") as site:
        yield site, url


@pytest_asyncio.fixture(loop_scope="session")
async def operated(quiet_site: tuple[Site, str]) -> AsyncIterator[Operated]:
    site, url = quiet_site
    engine = await open_postgres(url)
    yield Operated(site, engine)
    await engine.close()


async def act(page: Page, button: str, *, reason: str, within: str = "body") -> None:
    """Press a button of the panel and say why."""
    await page.locator(within).get_by_role("button", name=button, exact=True).click()
    await page.locator("[data-admin-dialog] textarea").fill(reason)
    await page.get_by_role("button", name="Go on").click()


async def pause(page: Page) -> None:
    await act(page, "Pause", reason="The git host is down")
    await expect(page.locator("[data-pause-banner]")).to_contain_text("The git host is down")


async def resume(page: Page) -> None:
    await act(page, "Resume", reason="It is back", within="[data-pause-banner]")
    await expect(page.locator("[data-admin-status]")).to_have_text("Done.")
    await expect(page.locator("[data-pause-banner]")).to_have_count(0)


async def test_queue_is_paused_and_resumed__and_everybody_sees_the_banner(
    site: Site, signed_in: Visit, visit: Visit
) -> None:
    watched = await signed_in(site, "/admin/queue", role=Role.REVIEWER)
    page = watched.page
    await pause(page)
    _, url = site.make_repository("acme/paused", {"SKILL.md": skill_md("paused")})
    identity = await site.submit(url)
    await watched.go("/admin")
    await expect(page.locator("[data-pause-banner]")).to_contain_text("The queue is paused until")
    await expect(page.locator("[data-reason=queue_paused]")).to_be_visible()
    stranger = (await visit(site, "/queue")).page
    await expect(stranger.locator(".notice")).to_contain_text("The git host is down")
    await watched.go("/admin/queue")
    await expect(page.get_by_role("region", name="Messages that wait")).to_contain_text("acme/paused")
    await resume(page)
    await expect(stranger.get_by_text("The queue is paused")).to_have_count(0)
    assert (await site.until_decided(identity))["state"] == "EXPANDED"


async def submit_paused(operated: Operated, page: Page, name: str) -> Submission:
    """A submission that waits, because the queue is paused."""
    _, url = operated.site.make_repository(f"acme/{name}", {"SKILL.md": skill_md(name)})
    await pause(page)
    return await read(operated, await operated.site.submit(url))


async def read(operated: Operated, identity: str) -> Submission:
    entry = await operated.engine.kv.get(submission_key(identity))
    assert entry is not None
    return msgspec.json.decode(entry.value, type=Submission)


async def test_stuck_submission_is_requeued__and_watched_to_its_end(operated: Operated, signed_in: Visit) -> None:
    watched = await signed_in(operated.site, "/admin/queue", role=Role.REVIEWER)
    page = watched.page
    waiting = await submit_paused(operated, page, "stuck")
    then_ms = waiting.updated_ms - LONG_AGO_MS
    old = msgspec.structs.replace(waiting, updated_at=iso_from_ms(then_ms))
    aged = Put(submission_key(old.id), msgspec.json.encode(old), due_ms=due_ms(old.state, updated_ms=then_ms))
    await operated.engine.writes.commit([DropMessage(MessageId(waiting.message_id or ""), "A test loses it."), aged])
    await resume(page)
    follower = (await signed_in(operated.site, f"/admin/submissions/{old.id}", role=Role.AUDITOR)).page
    await expect(follower.get_by_text("Lost", exact=True)).to_be_visible()
    await watched.go("/admin/stuck")
    row = page.locator(f"[data-stuck={old.id}]")
    await expect(row).to_contain_text("Sends it again")
    await act(page, "Requeue", reason="Nobody works on it", within=f"[data-stuck={old.id}]")
    await expect(page.locator("[data-admin-status]")).to_contain_text("1 of 1 done")
    await expect(row).to_have_count(0)
    await expect(follower.locator(".admin-parts .badge").first).to_have_text("Expanded")
    await expect(follower.get_by_role("region", name="Steps")).to_contain_text(
        "Its message was lost: sent again, 1 of 3."
    )


async def test_dead_letter_is_sent_back__and_finishes(operated: Operated, signed_in: Visit) -> None:
    watched = await signed_in(operated.site, "/admin/queue", role=Role.REVIEWER)
    page = watched.page
    waiting = await submit_paused(operated, page, "dead")
    (message,) = await operated.engine.queue.receive(SUBMISSIONS_QUEUE, max_messages=1, lease_s=60)
    await operated.engine.writes.commit([Bury(message.lease, "scanner_unavailable: No process could be started.")])
    await resume(page)
    letter = page.locator(f"[data-message={message.id}]")
    await expect(letter).to_contain_text("scanner_unavailable: No process could be started.")
    await letter.get_by_text("The message", exact=True).click()
    await expect(letter.locator("pre")).to_contain_text(waiting.id)
    await letter.get_by_role("checkbox").check()
    await act(page, "Send back ticked", reason="The scanner is mended")
    await expect(page.locator("[data-admin-status]")).to_contain_text("1 of 1 done")
    await expect(page.locator("#dead-letters").locator("xpath=../..")).to_contain_text("None: nothing was given up.")
    assert (await operated.site.until_decided(waiting.id))["state"] == "EXPANDED"


async def test_act_on_many_shows_what_it_will_touch__before_it_does(site: Site, signed_in: Visit) -> None:
    identity = await site.submit(f"{site.source}/acme/never-there")
    await site.until_decided(identity)
    watched = await signed_in(site, "/admin/submissions?state=rejected&q=never-there", role=Role.REVIEWER)
    page = watched.page
    await expect(page.get_by_role("button", name="Preview 0 ticked")).to_be_disabled()
    await page.get_by_role("button", name="Preview all that match").click()
    dialog = page.locator("[data-preview-dialog]")
    await expect(dialog).to_contain_text("Requeue: 1 of 1")
    await expect(dialog.get_by_role("row")).to_contain_text(["Submission", "acme/never-there"])
    await dialog.get_by_label("Why").fill("It may be there by now")
    await dialog.get_by_role("button", name="Do it").click()
    await expect(page.locator("[data-admin-status]")).to_have_text("1 of 1 done, 0 skipped, 0 failed.")
    assert (await site.until_decided(identity))["history"][-1]["run"] == 2
