"""Draining a queue of no-op messages on PostgreSQL with our consumer, against libraries on the same server.

All have the server's settings as they come, which sync every commit, one process, and an acknowledgement for each message. Rates
are compared; the peers, which are slower, get fewer jobs, so that everybody works for seconds.
"""

from __future__ import annotations

import asyncio
import statistics
from functools import partial

from benchmarks.fixtures import folder, open_on_server, postgres_server
from benchmarks.machine import load_note
from benchmarks.peers import ON_POSTGRES, run_peer
from benchmarks.queue_drain import drain_rate
from benchmarks.report import Row, at_least
from vskill_platform.testing.postgres_server import PostgresServer

JOBS = 6000
PEER_JOBS = 500
ROUNDS = 3


async def run() -> list[Row]:
    """Ours and the peers in turns, each time on a fresh database; the median of each counts."""
    ours: list[float] = []
    theirs: dict[str, list[float]] = {name: [] for name in ON_POSTGRES}
    with postgres_server() as server:
        for _ in range(ROUNDS):
            for name, setup in ON_POSTGRES.items():
                ours.append(await _drain_rate(server))
                url = server.url(server.create_database())
                result = await asyncio.to_thread(partial(run_peer, setup, PEER_JOBS, server_url=url))
                theirs[name].append(result.jobs / result.seconds)
    rate = statistics.median(ours)
    return [
        at_least(
            f"postgres_drain_against_{name}",
            rate / statistics.median(rates),
            target=5,
            detail=f"ours {rate:,.0f}/s, {JOBS} jobs; {name} {statistics.median(rates):,.0f}/s, {PEER_JOBS} jobs; "
            f"one process with 30 in flight each, in turns, median of {ROUNDS} rounds; {load_note()}",
        )
        for name, rates in theirs.items()
    ]


async def _drain_rate(server: PostgresServer) -> float:
    with folder() as path:
        async with open_on_server(server) as engine:
            return await drain_rate(engine, JOBS, path)
