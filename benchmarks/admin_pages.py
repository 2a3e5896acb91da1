"""The panel of a registry with 100,000 submissions, as those who run it open it, in process.

Of the submissions, 5,000 wait in the line, 500 are stuck for good (their message is lost) and 200 are dead letters; every message
has its record. Pages are asked for in a mixed order, each with other filters and pages, through the whole application: the
guard, the store, the template. A first round goes unmeasured. What the very first page of a process costs is told apart.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, cast

import httpx

from benchmarks.fixtures import HOUR_MS, env_over, folder, load, open_engine, submission
from benchmarks.report import Row, at_most, told
from vskill_platform.domain.ids import MessageId, submission_key
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE, ProcessSubmission, encode_message
from vskill_platform.domain.recovery import due_ms
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.ports.commit import Bury, Index, Operation, Put, Send
from vskill_platform.ports.engine import Engine
from vskill_platform.stores.records import encode_record
from vskill_platform.stores.series import count_events
from vskill_platform.stores.submissions import index_submission
from vskill_platform.web.app import create_control_app
from vskill_platform.worker_context import run_with_worker_env

COUNT = 100_000
WAITING = 5_000
LOST = 500
DEAD = 200
ROUNDS = 60
WARM_UP = 10
TARGET_MS = 50
_ENDED = [state for state in SubmissionState if due_ms(state, updated_ms=0) is None]
_NOW_MS = int(time.time() * 1000)

Asker = Callable[[random.Random], str]
PAGES: dict[str, Asker] = {
    "overview": lambda c: "/admin",
    "queue": lambda c: "/admin/queue",
    "stuck": lambda c: "/admin/stuck",
    "submissions": lambda c: f"/admin/submissions?page={c.randrange(1, COUNT // 50)}",
    "submissions by state": lambda c: f"/admin/submissions?state={c.choice(('active', 'rejected', 'PUBLISHED'))}",
    "submissions by words": lambda c: f"/admin/submissions?q=number+{c.randrange(COUNT)}",
    "submissions by repository": lambda c: (
        f"/admin/submissions?repo=https://github.com/owner-{c.randrange(5000)}/repository-{c.randrange(COUNT)}"
    ),
    "a submission": lambda c: f"/admin/submissions/sub_{c.randrange(COUNT):032x}",
    "settings": lambda c: "/admin/settings",
    "overview, the part that lives": lambda c: "/admin?fragment=true",
    "queue, the part that lives": lambda c: "/admin/queue?fragment=true",
    "overview by the API": lambda c: "/api/v1/admin/overview",
    "stuck by the API": lambda c: "/api/v1/admin/stuck",
}


class Taken(NamedTuple):
    """What a page took: by the clock, and on a processor, which tells the same on a machine that is busy otherwise."""

    wall_ms: float
    cpu_ms: float


async def run() -> list[Row]:
    """SQLite: loaded, opened again as a process would, and asked."""
    with folder() as path:
        await load(path, COUNT, _operations, what="submissions")
        async with open_engine(path) as engine:
            await _bury(engine)
            return await _measure(engine, path)


def _operations(number: int) -> list[Operation]:
    """A submission: in the line, lost, or ended; with its record, its row and, where it waits, its message."""
    is_waiting, is_lost = number < WAITING, WAITING <= number < WAITING + LOST
    state = SubmissionState.RECEIVED if is_waiting or is_lost else _ENDED[number % len(_ENDED)]
    identity = message_id_of(number)
    one = submission(number, state, updated_ms=_NOW_MS - number % (48 * HOUR_MS) - HOUR_MS, message_id=identity)
    operations: list[Operation] = [
        Put(submission_key(one.id), encode_record(one), due_ms=due_ms(state, updated_ms=one.updated_ms)),
        Index(index_submission(one)),
    ]
    if is_waiting:
        operations.append(
            Send(SUBMISSIONS_QUEUE, identity, encode_message(ProcessSubmission(submission_id=one.id, run=1)))
        )
    return operations


def message_id_of(number: int) -> MessageId:
    """The message of a submission."""
    return MessageId(f"msg_{number:032x}")


async def _bury(engine: Engine) -> None:
    messages = await engine.queue.receive(SUBMISSIONS_QUEUE, max_messages=DEAD, lease_s=60)
    await engine.writes.commit([Bury(message.lease, "scanner_unavailable: It did not start.") for message in messages])
    await engine.queue.receive(SUBMISSIONS_QUEUE, max_messages=30, lease_s=600)


async def _measure(engine: Engine, path: Path) -> list[Row]:
    env = env_over(engine, path)
    await run_with_worker_env(env, count_events)
    app = cast("Any", create_control_app(env))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://registry") as client:
        first_ms = (await _time(client, "/admin")).wall_ms
        await _ask_all(client, rounds=WARM_UP, seed=1)
        times = await _ask_all(client, rounds=ROUNDS, seed=2)
    every = [taken for page in times.values() for taken in page]
    wall, processor = sorted(taken.wall_ms for taken in every), sorted(taken.cpu_ms for taken in every)
    detail = f"p50 {_quantile(wall, 0.5):.1f} ms; {COUNT:,} submissions, {len(PAGES)} kinds of pages, {ROUNDS} each"
    return [
        at_most("admin_pages_p99", _quantile(wall, 0.99), target=TARGET_MS, unit="ms", detail=detail),
        told("admin_pages_cpu_p99", _quantile(processor, 0.99), unit="ms", detail="time on a processor, all threads"),
        *(_page_row(name, sorted(taken.wall_ms for taken in page)) for name, page in times.items()),
        told(
            "admin_first_page", first_ms, unit="ms", detail="the overview, of a process that has just opened the store"
        ),
    ]


def _page_row(name: str, times: list[float]) -> Row:
    detail = f"p99; p50 {_quantile(times, 0.5):.1f} ms"
    return told(f"admin_pages: {name}", _quantile(times, 0.99), unit="ms", detail=detail)


async def _ask_all(client: httpx.AsyncClient, *, rounds: int, seed: int) -> dict[str, list[Taken]]:
    chance = random.Random(seed)
    asked = [(name, ask(chance)) for name, ask in PAGES.items() for _ in range(rounds)]
    chance.shuffle(asked)
    times: dict[str, list[Taken]] = {name: [] for name in PAGES}
    for name, path in asked:
        times[name].append(await _time(client, path))
    return times


async def _time(client: httpx.AsyncClient, path: str) -> Taken:
    began, worked = time.perf_counter(), time.process_time()
    answer = await client.get(path)
    taken = Taken((time.perf_counter() - began) * 1000, (time.process_time() - worked) * 1000)
    assert answer.status_code == 200, (path, answer.status_code, answer.text[:200])
    return taken


def _quantile(times: list[float], share: float) -> float:
    return times[min(len(times) - 1, int(len(times) * share))]
