"""The stuck: the list that the sweep sees, and sending back without waiting for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx

from tests.acceptance.running import inside
from tests.admin.conftest import ON_BOTH, As
from tests.admin.test_acting import client_of, read_entries
from tests.admin.test_steering import ADMIN, counts, post, read, status_of
from vskill_platform.domain.access import Role
from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE
from vskill_platform.domain.records import Submission
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.engines.postgres import open_postgres
from vskill_platform.ports.clock import SystemClock
from vskill_platform.ports.commit import Bury, DropMessage
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.envs import make_env
from vskill_platform.testing.submissions import putting_submission, submission_at, submit
from vskill_platform.web.app import create_control_app
from vskill_platform.worker.recovery import sweep_stuck_submissions

THEN_MS = 10 * 60_000


async def three_stuck(env: WorkerEnv) -> tuple[Submission, Submission, Submission]:
    """One whose message is dead, one whose message is lost, and one that waits."""
    dead, lost, waiting = [await inside(env, lambda n=n: submit(n)) for n in ("dead", "lost", "waiting")]
    (message,) = await env.queue.receive(SUBMISSIONS_QUEUE, max_messages=1, lease_s=60)
    await env.writes.commit([Bury(message.lease, "hopeless")])
    await env.writes.commit([DropMessage(MessageId(lost.message_id or ""), "a test")])
    return dead, lost, waiting


async def list_stuck(client: httpx.AsyncClient) -> list[dict[str, Any]]:
    return list((await client.get(f"{ADMIN}/stuck")).json()["items"])


async def test_stuck_are_listed__as_the_sweep_will_treat_them(
    registry: WorkerEnv, acting_as: As, clock: FakeClock
) -> None:
    stuck = await three_stuck(registry)
    reviewer = await acting_as(Role.REVIEWER)
    assert await list_stuck(reviewer) == []
    await clock.advance(600)
    listed = {
        item["skillName"]: (item["message"], item["next"], item["attempts"]) for item in await list_stuck(reviewer)
    }
    assert listed == {
        "dead": ("dead", "delivery_exhausted", 1),
        "lost": ("gone", "send_again", 0),
        "waiting": ("waiting", "leave", 0),
    }
    report = await inside(registry, sweep_stuck_submissions)
    assert (report.examined, report.rejected, report.requeued, report.left) == (len(stuck), 1, 1, 1)


@ON_BOTH
async def test_stuck_are_sent_back_at_once__but_for_what_waits(
    registry: WorkerEnv, acting_as: As, clock: FakeClock
) -> None:
    dead, lost, waiting = await three_stuck(registry)
    await clock.advance(600)
    reviewer = await acting_as(Role.REVIEWER)
    result = await post(reviewer, "/stuck/requeue", allAt="2999-01-01T00:00:00.000Z")
    assert counts(result) == (2, 1, 0, 3)
    assert {item["id"]: item["outcome"] for item in result["outcomes"]} == {
        dead.id: "deliverable",
        lost.id: "sent_again",
        waiting.id: "under_way",
    }
    again = await read(registry, lost.id)
    assert (again.recoveries, again.state, await status_of(registry, lost.id)) == (
        1,
        SubmissionState.RECEIVED,
        "waiting",
    )
    told = [(entry.act, entry.subject) for entry in await read_entries(registry)]
    assert sorted(told) == sorted([("queue.requeue", dead.id), ("queue.requeue", lost.id)])


async def test_stuck_are_sent_back__on_postgres(postgres_url: str, tmp_path: Path) -> None:
    engine = await open_postgres(postgres_url)
    env = make_env(engine, clock=SystemClock(), folder=tmp_path)
    lost = submission_at(SubmissionState.TIER1_SCANNING, updated_ms=env.clock.now_ms() - THEN_MS, message_id="msg_lost")
    await env.writes.commit(putting_submission(lost))
    async with client_of(create_control_app(env)) as operator:
        assert [(item["id"], item["next"]) for item in await list_stuck(operator)] == [(lost.id, "send_again")]
        assert counts(await post(operator, "/stuck/requeue", ids=[lost.id])) == (1, 0, 0, 1)
        assert await list_stuck(operator) == []
        dropped = (await read(env, lost.id)).message_id
        assert counts(await post(operator, "/submissions/reprioritise", ids=[lost.id], place="front")) == (1, 0, 0, 1)
        assert counts(await post(operator, "/dead-letters/drop", ids=[dropped])) == (1, 0, 0, 1)
    assert ((await read(env, lost.id)).state, await status_of(env, lost.id)) == (SubmissionState.DEQUEUED, None)
    entries = await read_entries(env)
    assert [entry.act for entry in entries] == ["queue.requeue", "queue.reprioritise", "queue.drop"]
    await engine.close()
