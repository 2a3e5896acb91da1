"""Steering submissions: what was shown is what is done, each in one commit with its entry of the audit log."""

from __future__ import annotations

from typing import Any

import httpx

from tests.acceptance.running import inside
from tests.admin.conftest import ON_BOTH, As
from tests.admin.test_acting import read_entries
from tests.admin.test_operator import bury_all
from vskill_platform.domain.access import Role
from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE
from vskill_platform.domain.records import Submission
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.stores.submissions import get_history, get_submission
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.submissions import putting_submission, submission_at, submit
from vskill_platform.worker.recovery import sweep_stuck_submissions

ADMIN = "/api/v1/admin"
ACTS = [
    (f"{ADMIN}/queue/pause", {}),
    (f"{ADMIN}/queue/resume", {}),
    (f"{ADMIN}/submissions/requeue", {"ids": ["sub_1"]}),
    (f"{ADMIN}/submissions/dequeue", {"ids": ["sub_1"]}),
    (f"{ADMIN}/submissions/rescan", {"ids": ["sub_1"]}),
    (f"{ADMIN}/submissions/reprioritise", {"ids": ["sub_1"], "place": "front"}),
    (f"{ADMIN}/stuck/requeue", {"ids": ["sub_1"]}),
    (f"{ADMIN}/dead-letters/requeue", {"ids": ["msg_1"]}),
    (f"{ADMIN}/dead-letters/drop", {"ids": ["msg_1"]}),
]


async def post(client: httpx.AsyncClient, path: str, **body: Any) -> dict[str, Any]:
    answer = await client.post(f"{ADMIN}{path}", json={"reason": "A test", **body})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def read(env: WorkerEnv, identity: str) -> Submission:
    return (await inside(env, lambda: get_submission(identity))).submission


async def status_of(env: WorkerEnv, identity: str) -> str | None:
    found = await env.queue.find([MessageId((await read(env, identity)).message_id or "")])
    return next((info.status.value for info in found.values()), None)


def counts(result: dict[str, Any]) -> tuple[int, int, int, int]:
    return result["done"], result["skipped"], result["failed"], result["total"]


@ON_BOTH
async def test_act_does_what_the_preview_showed__and_nothing_else(
    registry: WorkerEnv, acting_as: As, clock: FakeClock
) -> None:
    ended = [submission_at(SubmissionState.REJECTED, updated_ms=clock.now_ms(), skill_name=f"s{n}") for n in range(3)]
    for one in ended:
        await registry.writes.commit(putting_submission(one))
    reviewer = await acting_as(Role.REVIEWER)
    preview = await reviewer.post(
        f"{ADMIN}/submissions/preview", json={"act": "requeue", "filter": {"state": "rejected"}}
    )
    shown = preview.json()
    assert (shown["total"], shown["selected"], shown["touched"], len(shown["rows"])) == (3, 3, 3, 3)
    assert await read_entries(registry) == []
    late = submission_at(SubmissionState.REJECTED, updated_ms=clock.now_ms(), skill_name="late")
    moved = submission_at(SubmissionState.REJECTED, updated_ms=clock.now_ms() + 1, identity=ended[0].id)
    await registry.writes.commit([*putting_submission(late), *putting_submission(moved)])
    result = await post(reviewer, "/submissions/requeue", selection=shown["selection"])
    assert counts(result) == (2, 1, 0, 3)
    assert {item["id"]: item["outcome"] for item in result["outcomes"]} == {
        ended[0].id: "skipped",
        ended[1].id: "new_run",
        ended[2].id: "new_run",
    }
    assert (await read(registry, late.id)).state is SubmissionState.REJECTED
    assert {entry.subject for entry in await read_entries(registry)} == {ended[1].id, ended[2].id}


async def test_large_selection_is_acted_on_in_slices(registry: WorkerEnv, acting_as: As, clock: FakeClock) -> None:
    ended = [submission_at(SubmissionState.NEEDS_REVIEW, updated_ms=clock.now_ms()) for _ in range(201)]
    for one in ended:
        await registry.writes.commit(putting_submission(one))
    reviewer = await acting_as(Role.REVIEWER)
    body = {"act": "dequeue", "filter": {"state": "review"}}
    selection = (await reviewer.post(f"{ADMIN}/submissions/preview", json=body)).json()["selection"]
    first = await post(reviewer, "/submissions/dequeue", selection=selection)
    assert (counts(first), first["next"]) == ((200, 0, 0, 200), "200")
    second = await post(reviewer, "/submissions/dequeue", **{"selection": selection, "from": first["next"]})
    assert (counts(second), second["next"]) == ((1, 0, 0, 1), None)


async def test_preview_of_ids_says_whom_an_act_can_touch(registry: WorkerEnv, acting_as: As, clock: FakeClock) -> None:
    waiting = await inside(registry, lambda: submit("waiting"))
    ended = submission_at(SubmissionState.REJECTED, updated_ms=clock.now_ms())
    await registry.writes.commit(putting_submission(ended))
    reviewer = await acting_as(Role.REVIEWER)
    body = {"act": "reprioritise", "ids": [waiting.id, ended.id, "sub_none"]}
    shown = (await reviewer.post(f"{ADMIN}/submissions/preview", json=body)).json()
    assert {item["row"]["id"]: item["isTouched"] for item in shown["rows"]} == {waiting.id: True, ended.id: False}
    assert (shown["total"], shown["touched"]) == (2, 1)


@ON_BOTH
async def test_submission_that_is_taken_out_stays_out__also_for_the_sweep(
    registry: WorkerEnv, acting_as: As, clock: FakeClock
) -> None:
    waiting = await inside(registry, lambda: submit("waiting"))
    reviewer = await acting_as(Role.REVIEWER)
    result = await post(reviewer, "/submissions/dequeue", ids=[waiting.id, waiting.id], reason="Not wanted")
    assert counts(result) == (1, 0, 0, 1)
    taken = await read(registry, waiting.id)
    assert (taken.state, taken.reason, await status_of(registry, waiting.id)) == (
        SubmissionState.DEQUEUED,
        "dequeued",
        None,
    )
    last = (await inside(registry, lambda: get_history(waiting.id)))[-1]
    assert last.message == "Taken out: Not wanted"
    (entry,) = await read_entries(registry)
    assert (entry.act, entry.actor, entry.role, entry.reason) == (
        "queue.dequeue",
        "reviewer",
        "REVIEWER",
        "Not wanted",
    )
    assert {f"sub:{waiting.id}", waiting.message_id} <= set(entry.touched)
    await clock.advance(600)
    assert (await inside(registry, sweep_stuck_submissions)).requeued == 0
    assert counts(await post(reviewer, "/submissions/dequeue", ids=[waiting.id])) == (0, 1, 0, 1)


@ON_BOTH
async def test_front_and_back_change_who_is_next__in_record_and_queue(registry: WorkerEnv, acting_as: As) -> None:
    first, second, third = [await inside(registry, lambda n=n: submit(n)) for n in ("first", "second", "third")]
    reviewer = await acting_as(Role.REVIEWER)
    assert counts(await post(reviewer, "/submissions/reprioritise", ids=[third.id], place="front")) == (1, 0, 0, 1)
    assert counts(await post(reviewer, "/submissions/reprioritise", ids=[first.id], place="back")) == (1, 0, 0, 1)
    line = [message.id for message in await registry.queue.line(SUBMISSIONS_QUEUE)]
    assert line == [third.message_id, second.message_id, first.message_id]
    priorities = [(await read(registry, one.id)).priority for one in (third, second, first)]
    assert priorities == [1, 0, -1]
    await post(reviewer, "/submissions/reprioritise", ids=[second.id], place="front")
    assert (await registry.queue.line(SUBMISSIONS_QUEUE))[0].id == second.message_id
    (message,) = await registry.queue.receive(SUBMISSIONS_QUEUE, max_messages=1, lease_s=60)
    assert message.id == second.message_id
    in_work = await post(reviewer, "/submissions/reprioritise", ids=[second.id], priority=7)
    assert counts(in_work) == (0, 1, 0, 1)
    assert (await read(registry, second.id)).priority == 2


async def test_place_and_priority_cannot_both_be_asked_for(acting_as: As) -> None:
    reviewer = await acting_as(Role.REVIEWER)
    for body in ({}, {"place": "front", "priority": 1}, {"priority": 10**9}):
        answer = await reviewer.post(
            f"{ADMIN}/submissions/reprioritise", json={"reason": "A test", "ids": ["sub_1"], **body}
        )
        assert answer.status_code == 400, body


@ON_BOTH
async def test_dead_letters_are_sent_back_or_dropped__all_that_were_there(
    registry: WorkerEnv, acting_as: As, clock: FakeClock
) -> None:
    back = await inside(registry, lambda: submit("back"))
    await bury_all(registry)
    reviewer = await acting_as(Role.REVIEWER)
    listed = (await reviewer.get(f"{ADMIN}/queue/messages", params={"status": "dead"})).json()["messages"]
    assert [(item["submissionId"], item["error"], item["skillName"]) for item in listed] == [
        (back.id, "hopeless", "back")
    ]
    assert back.id in listed[0]["body"]
    at = "2999-01-01T00:00:00.000Z"
    assert counts(await post(reviewer, "/dead-letters/requeue", allAt=at)) == (1, 0, 0, 1)
    assert await status_of(registry, back.id) == "waiting"
    await bury_all(registry)
    assert counts(await post(reviewer, "/dead-letters/drop", allAt="1970-01-01T00:00:00.000Z")) == (0, 0, 0, 0)
    assert counts(await post(reviewer, "/dead-letters/drop", allAt=at)) == (1, 0, 0, 1)
    assert (await read(registry, back.id)).state is SubmissionState.DEQUEUED
    await clock.advance(600)
    assert (await inside(registry, sweep_stuck_submissions)).requeued == 0


async def test_acts_are_refused_and_leave_nothing(registry: WorkerEnv, acting_as: As) -> None:
    refused = [
        (await acting_as(role), status) for role, status in ((None, 401), (Role.SUBMITTER, 403), (Role.AUDITOR, 403))
    ]
    reviewer = await acting_as(Role.REVIEWER)
    for path, body in ACTS:
        for client, status in refused:
            assert (await client.post(path, json={"reason": "For fun", **body})).status_code == status, path
        assert (await reviewer.post(path, json={"reason": " ", **body})).status_code == 400, path
    assert await read_entries(registry) == []
