"""SIGTERM to one worker of several while every place is busy: a rolling restart under load, in which nothing is burnt."""

from __future__ import annotations

import random
import signal
import time
from pathlib import Path

import pytest

from tests.acceptance.test_processes import KEEP_ATTEMPTS
from tests.faults.engines import ENGINES, safe_server
from tests.faults.figures import Tell, spread
from tests.faults.fleet import SKILLS, Fleet, fleet
from tests.faults.test_sigterm import MARGIN_S
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE
from vskill_platform.testing.waits import until
from vskill_platform.worker.loop import CANCEL_WAIT_S

WORKERS, PLACES = 3, 2
GRACES_S = ("0", "0.3", "5")
WAITING = 4 * WORKERS
ENDLESS = {"VSKILL_PLATFORM_LEASE_S": "600"}
"""A message that a worker keeps although it is gone comes back after this long: the test would wait in vain."""


async def restart_often(folder: Path, *, stops: int, seed: int, tell: Tell) -> None:
    chance = random.Random(seed)
    kind = ENGINES["postgres"]
    stops_s: list[float] = []
    with kind.make_store(folder) as location:
        database = location.rsplit("/", 1)[1]
        safe_server().execute(KEEP_ATTEMPTS, database=database)
        async with fleet(folder, kind, location, slow_s=0.3, **ENDLESS) as ships:
            graces = [chance.choice(GRACES_S) for _ in range(stops + WORKERS)]
            workers = [await ships.start(VSKILL_PLATFORM_DRAIN_GRACE_S=graces.pop()) for _ in range(WORKERS)]
            for _ in range(stops):
                await _fill(ships)
                oldest = workers.pop(0)
                began = time.monotonic()
                oldest.signal(signal.SIGTERM)
                workers.append(await ships.start(VSKILL_PLATFORM_DRAIN_GRACE_S=graces.pop()))
                await until(lambda oldest=oldest: not oldest.is_alive, what=oldest.explain)
                stops_s.append(time.monotonic() - began)
                assert oldest.has_ended_well, oldest.explain()
            await ships.drain()
            assert await ships.faults() == {}, f"seed {seed}"
        attempts = safe_server().execute("SELECT attempts, count(*) FROM done GROUP BY 1", database=database)
    done = len(ships.submitted) * (1 + len(SKILLS))
    assert attempts == f"1|{done}"
    assert max(stops_s) < float(GRACES_S[-1]) + CANCEL_WAIT_S + MARGIN_S
    tell(
        f"SIGTERM of one of {WORKERS} workers with all {WORKERS * PLACES} places busy, postgres: {stops} stops, each in order; "
        f"{done} messages done in 1 attempt each, {len(ships.submitted) * len(SKILLS)} skills published once each; from "
        f"signal to end {spread(stops_s)}"
    )


async def _fill(ships: Fleet) -> None:
    """Submit until every place is busy: on a slow machine the others are done before a new worker is up."""

    async def is_full() -> bool:
        stats = await ships.engine.queue.stats(SUBMISSIONS_QUEUE)
        await ships.submit(max(0, WAITING - stats.waiting))
        return stats.leased == WORKERS * PLACES

    await until(is_full, what="a queue whose places are all busy")


async def test_nothing_is_burnt__when_workers_are_restarted_one_by_one(tmp_path: Path, tell: Tell) -> None:
    await restart_often(tmp_path, stops=3, seed=1, tell=tell)


@pytest.mark.faults
@pytest.mark.timeout(3600)
async def test_nothing_is_burnt__when_workers_are_restarted_50_times(tmp_path: Path, tell: Tell) -> None:
    await restart_often(tmp_path, stops=50, seed=2, tell=tell)
