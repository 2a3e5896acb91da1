"""Taking back: versions and skills by their publisher, submissions by whoever made them, and what stays away then."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.pipeline.journey import LOOPBACK, open_journey, skill_md
from tests.publishers.site import Site
from vskill_platform.domain.blocklist import block_key
from vskill_platform.domain.publisher import PublisherKind, place_of
from vskill_platform.domain.slug import owner_handle
from vskill_platform.domain.submission import WITHDRAWN_BY_PUBLISHER, SubmissionState
from vskill_platform.engines.memory import open_memory
from vskill_platform.pipeline.blocking import block_and_stop, make_block, unblock
from vskill_platform.pipeline.intake import Answer, Submitter, submit_again, submit_repository
from vskill_platform.pipeline.withdrawal import withdraw_skill
from vskill_platform.pipeline.yanking import yank_version
from vskill_platform.ports.clock import SystemClock
from vskill_platform.stores.fresh import commit_fresh
from vskill_platform.stores.publishers import granting
from vskill_platform.stores.skills import find_skill
from vskill_platform.stores.submissions import get_history, get_submission

URL = "https://github.com/acme/greeting"
ACME = "/api/v1/publishers/acme/skills/greeting/greeting"
REASON = {"reason": "It deletes too much."}


async def test_publisher_yanks_and_restores__but_not_what_the_operator_yanked(site: Site) -> None:
    ada, nobody = await site.person("ada"), await site.nobody()
    slug = await site.publish(URL, versions=("1.0.0", "1.1.0"))
    await site.own(ada, URL)
    told = await ada.post(f"{ACME}/versions/1.1.0/yank", REASON)
    assert told["detail"] == "acme/greeting/greeting 1.1.0 is yanked. People get 1.0.0."
    assert (await nobody.get(f"/api/v1/skills/{slug}"))["version"] == "1.0.0"
    await ada.post(f"{ACME}/versions/1.1.0/restore", REASON)
    assert (await nobody.get(f"/api/v1/skills/{slug}"))["version"] == "1.1.0"
    await site.inside(lambda: yank_version(slug, "1.1.0", reason="Harmful.", by="usr_moderator"))
    refused = await ada.ask("POST", f"{ACME}/versions/1.1.0/restore", REASON)
    assert (refused.status_code, refused.json()["code"]) == (403, "not_allowed")
    assert (await nobody.get(f"/api/v1/skills/{slug}"))["version"] == "1.0.0"


@pytest.mark.parametrize("engine_name", ["memory", "sqlite"], indirect=True)
async def test_skill_that_its_publisher_withdraws_stays_away__whoever_else_submits_it(site: Site) -> None:
    ada, mel, nobody = await site.person("ada"), await site.person("mel"), await site.nobody()
    slug = await site.publish(URL)
    await site.own(ada, URL)
    await ada.post(f"{ACME}/withdraw", REASON)
    gone = await nobody.ask("GET", f"/api/v1/skills/{slug}")
    assert gone.status_code == 410
    assert "Withdrawn by its publisher: It deletes too much." in gone.json()["detail"]
    for person in (nobody, mel):
        again = await person.post("/api/v1/submissions", {"repoUrl": URL, "skillName": "greeting"})
        assert (again["status"], again["reason"]) == ("rejected", WITHDRAWN_BY_PUBLISHER)
    back = await ada.post(f"{ACME}/publish-again")
    assert (back["status"], back["state"]) == ("created", "RECEIVED")
    assert (await ada.ask("POST", f"{ACME}/withdraw", {"reason": ""})).status_code == 400


async def test_submitter_withdraws_what_is_in_work__and_anybody_may_submit_it_again(site: Site) -> None:
    ada, nobody = await site.person("ada"), await site.nobody()
    made = await ada.post("/api/v1/submissions", {"repoUrl": URL})
    (row,) = (await ada.get("/api/v1/account/submissions"))["submissions"]
    assert (row["id"], row["mayWithdraw"], row["mayRetry"]) == (made["id"], True, False)
    withdrawn = await ada.post(f"/api/v1/account/submissions/{made['id']}/withdraw")
    assert (withdrawn["state"], withdrawn["reason"], withdrawn["mayRetry"]) == ("DEQUEUED", "withdrawn", True)
    ended = await ada.ask("POST", f"/api/v1/account/submissions/{made['id']}/withdraw")
    assert (ended.status_code, ended.json()["code"]) == (409, "illegal_transition")
    steps = await site.inside(lambda: get_history(made["id"]))
    assert [(step.trigger, step.actor) for step in steps] == [("submitted", "submitter"), ("withdrawn", "submitter")]
    again = await nobody.post("/api/v1/submissions", {"repoUrl": URL})
    assert (again["status"], again["id"]) == ("created", made["id"])
    # The run is another's now: who made the one before may not take it back.
    assert (await ada.ask("POST", f"/api/v1/account/submissions/{made['id']}/withdraw")).status_code == 403


async def test_publisher_withdraws_what_somebody_else_submitted__and_it_stays_so(site: Site) -> None:
    ada, mel = await site.person("ada"), await site.person("mel")
    await site.own(ada, URL)
    made = await mel.post("/api/v1/submissions", {"repoUrl": URL})
    await ada.post(f"/api/v1/account/submissions/{made['id']}/withdraw")
    again = await mel.post(f"/api/v1/account/submissions/{made['id']}/retry")
    assert (again["status"], again["reason"]) == ("rejected", WITHDRAWN_BY_PUBLISHER)
    assert (await ada.post(f"/api/v1/account/submissions/{made['id']}/retry"))["status"] == "created"


async def test_who_submitted_is_told_to_nobody__and_appeals_are_kept_with_the_account(site: Site) -> None:
    ada, nobody = await site.person("ada"), await site.nobody()
    made = await ada.post("/api/v1/submissions", {"repoUrl": URL})
    await ada.post(f"/api/v1/account/submissions/{made['id']}/withdraw")
    receipt = await ada.post(f"/api/v1/account/submissions/{made['id']}/appeals", {"text": "I take it back."})
    (own,) = (await ada.get("/api/v1/account/appeals"))["appeals"]
    assert (own["id"], own["subject"], own["text"]) == (receipt["id"], made["id"], "I take it back.")
    shown = [
        await nobody.client.get(path)
        for path in (
            f"/api/v1/submissions/{made['id']}",
            f"/submissions/{made['id']}",
            "/api/v1/submissions",
            "/queue",
        )
    ]
    events = b"".join(event.data for event in (await site.env.events.read(0)).events)
    for text in (*(answer.text for answer in shown), events.decode()):
        assert ada.id not in text
        assert "submittedBy" not in text


async def test_expansion_leaves_out_what_the_publisher_took_back(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        engine = await open_memory(clock=SystemClock())
        stack.push_async_callback(engine.close)
        journey = await stack.enter_async_context(open_journey(engine, tmp_path, **LOOPBACK))
        repository = journey.repository("acme/two", {"a/SKILL.md": skill_md("a"), "b/SKILL.md": skill_md("b")})
        url = journey.url("acme/two")
        both = await journey.take_through("acme/two")
        assert {one.state for one in both} == {SubmissionState.PUBLISHED}
        await journey.inside(
            lambda: commit_fresh(
                lambda: granting(owner_handle(url), place=place_of(url), kind=PublisherKind.PERSON, account="usr_ada")
            )
        )
        slug = f"{owner_handle(url)}/two/a"
        await journey.inside(lambda: withdraw_skill(slug, reason="No more."))
        repository.commit({"a/SKILL.md": skill_md("a", "Anew."), "b/SKILL.md": skill_md("b", "Anew.")})
        await journey.take_through("acme/two")
        held = (await journey.inside(lambda: get_submission(both[0].id))).submission
        assert (held.state, held.reason, held.run) == (SubmissionState.DEQUEUED, WITHDRAWN_BY_PUBLISHER, 1)
        assert (await journey.read(both[1].id)).version == "1.0.1"

        # A block and its lifting do not bring it back either.
        async def block() -> tuple[str, list[str]]:
            made = make_block(repo_url=url, reason="For a moment.")
            return block_key(made), await block_and_stop(made)

        key, stopped = await journey.inside(block)
        assert {one.id for one in both} <= set(stopped)
        assert held.id not in await journey.inside(lambda: unblock(key))
        await journey.work()
        stranger = await journey.inside(lambda: submit_repository(url, skill_name="a"))
        assert stranger.answer is Answer.REJECTED
        await journey.inside(lambda: submit_again(held.id, submitter=Submitter(account="usr_ada")))
        await journey.work()
        found = await journey.inside(lambda: find_skill(slug))
        assert found is not None
        assert (found.is_withdrawn, found.skill.version) == (False, "1.0.1")
