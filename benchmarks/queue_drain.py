"""Draining a queue of no-op messages with our consumer, against Python queue libraries in the same run."""

from __future__ import annotations

import asyncio
import statistics
import time
from pathlib import Path

from benchmarks.fixtures import env_over, folder, open_engine
from benchmarks.peers import PEERS
from benchmarks.report import Row, at_least, told
from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE
from vskill_platform.ports.commit import Send
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.queue import Message
from vskill_platform.worker.loop import ConsumerLoop

JOBS = 6000
ROUNDS = 3


async def run() -> list[Row]:
    """Ours and the peers in turns; the median of each counts. The target is set against what has one process, as ours has."""
    ours: list[float] = []
    theirs: dict[str, list[float]] = {name: [] for name in PEERS}
    for _ in range(ROUNDS):
        for name, peer in PEERS.items():
            ours.append(await _drain_rate())
            result = await asyncio.to_thread(peer.run, JOBS)
            theirs[name].append(result.jobs / result.seconds)
    rate = statistics.median(ours)
    rates = {name: statistics.median(found) for name, found in theirs.items()}
    safe = [name for name, peer in PEERS.items() if peer.at_least_once and peer.processes == 1]
    best = max(safe, key=lambda name: rates[name])
    return [
        at_least(
            "queue_drain_against_best_at_least_once",
            rate / rates[best],
            target=3,
            detail=f"ours {rate:,.0f}/s in one process, synced before the ack; best in one process is {best}, "
            f"{rates[best]:,.0f}/s; {JOBS} jobs, median of {ROUNDS} rounds",
        ),
        *(
            told(
                f"queue_drain_against_{name}",
                rate / peer_rate,
                unit="x",
                detail=f"{peer_rate:,.0f}/s; {'' if PEERS[name].at_least_once else 'at most once; '}{PEERS[name].durability}",
            )
            for name, peer_rate in rates.items()
        ),
    ]


async def _drain_rate() -> float:
    with folder() as path:
        async with open_engine(path) as engine:
            return await drain_rate(engine, JOBS, path)


async def drain_rate(engine: Engine, jobs: int, path: Path) -> float:
    """No-op messages a second that our consumer handles and acks, of those that were sent beforehand."""
    ids = [MessageId(f"msg_{number:032x}") for number in range(jobs)]
    await engine.writes.commit([Send(SUBMISSIONS_QUEUE, id, b'{"kind":"noop"}') for id in ids])
    handled = 0
    started = 0.0

    async def process(message: Message) -> None:
        nonlocal handled, started
        started = started or time.perf_counter()
        handled += 1
        if handled == jobs:
            loop.stop()

    loop = ConsumerLoop(env_over(engine, path, process=process))
    await loop.run()
    elapsed = time.perf_counter() - started
    assert (await engine.queue.stats(SUBMISSIONS_QUEUE))[:4] == (0, 0, 0, 0)
    return jobs / elapsed
