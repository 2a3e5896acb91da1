"""Draining a queue of no-op messages with our consumer, against Python queue libraries in the same run."""

from __future__ import annotations

import asyncio
import statistics
import time

from benchmarks.fixtures import env_over, folder, open_engine
from benchmarks.peers import PEERS, PeerResult
from benchmarks.report import Row, at_least, told
from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE
from vskill_platform.ports.commit import Send
from vskill_platform.ports.queue import Message
from vskill_platform.worker.loop import ConsumerLoop

JOBS = 6000
ROUNDS = 3


async def run() -> list[Row]:
    """Ours before, between and after the peers; the median counts."""
    ours = [await _drain_rate()]
    rates: dict[str, float] = {}
    for name, peer in PEERS.items():
        result: PeerResult = await asyncio.to_thread(peer.run, JOBS)
        rates[name] = result.jobs / result.seconds
        ours.append(await _drain_rate())
    rate = statistics.median(ours)
    safe = {name: peer_rate for name, peer_rate in rates.items() if PEERS[name].at_least_once}
    best = max(safe, key=lambda name: safe[name])
    listed = ", ".join(f"{name} {peer_rate:,.0f}/s" for name, peer_rate in rates.items())
    return [
        at_least(
            "queue_drain_against_best_at_least_once",
            rate / safe[best],
            target=3,
            detail=f"ours {rate:,.0f}/s (SQLite, synced before the ack); best is {best}; {listed}",
        ),
        *(
            told(f"queue_drain_against_{name}", rate / peer_rate, unit="x", detail=PEERS[name].durability)
            for name, peer_rate in rates.items()
        ),
    ]


async def _drain_rate() -> float:
    with folder() as path:
        async with open_engine(path) as engine:
            ids = [MessageId(f"msg_{number:032x}") for number in range(JOBS)]
            await engine.writes.commit([Send(SUBMISSIONS_QUEUE, id, b'{"kind":"noop"}') for id in ids])
            handled = 0
            started = 0.0

            async def process(message: Message) -> None:
                nonlocal handled, started
                started = started or time.perf_counter()
                handled += 1
                if handled == JOBS:
                    loop.stop()

            loop = ConsumerLoop(env_over(engine, path, process=process))
            await loop.run()
            elapsed = time.perf_counter() - started
            assert (await engine.queue.stats(SUBMISSIONS_QUEUE))[:4] == (0, 0, 0, 0)
            return JOBS / elapsed
