"""Queue libraries to set beside our own queue: each drains no-op jobs that were enqueued beforehand.

`PEERS[name].run(jobs)` enqueues (not timed), starts the library's own worker in processes of its own, and times from the
start of the first job until the last one is acknowledged. A run that leaves or repeats a job raises `PeerFailed`; it
never returns a figure. Nothing here imports a queue library: they live in the child processes only.

Each peer gets its best case for a no-op job with ten in flight, and no peer is safer than ours. The settings were tried
on two cores; what was tried is said in the module of each peer. Stores are made in the temporary folder (`TMPDIR`): put
our own queue on the same disk, and keep both off a RAM disk, where a sync costs nothing.

Beyond the libraries, hiredis and uvloop make the Valkey peers faster; the note of a result says what was installed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from benchmarks.peers.harness import PeerFailed, PeerResult, Setup, run_peer

__all__ = ["ON_POSTGRES", "PEERS", "Peer", "PeerFailed", "PeerResult", "run_peer"]

SQLITE_FULL = "SQLite WAL, synchronous=FULL: one sync per commit, the same as ours"
VALKEY_EVERYSEC = "Valkey AOF, appendfsync everysec: a power cut loses up to a second, weaker than ours"


@dataclass(frozen=True, slots=True)
class Peer:
    """One library with its settings, and what it promises about a job."""

    name: str
    durability: str
    at_least_once: bool
    processes: int
    run: Callable[[int], PeerResult]


def _on_sqlite(name: str, setup: Setup) -> Peer:
    return Peer(name, durability=SQLITE_FULL, at_least_once=False, processes=1, run=partial(run_peer, setup))


def _on_valkey(name: str, setup: Setup) -> list[Peer]:
    """The library with one worker process, as ours has, and with two of half the concurrency, which is often faster."""
    pair = replace(setup, processes=2, concurrency=setup.concurrency // 2)
    return [
        Peer(label, VALKEY_EVERYSEC, at_least_once=True, processes=each.processes, run=partial(run_peer, each))
        for label, each in ((name, setup), (f"{name}-two-processes", pair))
    ]


_AT_MOST_ONCE = "at most once: the row is deleted before the job runs"

PEERS: dict[str, Peer] = {
    peer.name: peer
    for peer in (
        _on_sqlite(
            "huey",
            Setup(
                module="benchmarks.peers.huey_sqlite",
                distributions=("huey",),
                processes=1,
                concurrency=10,
                remark=_AT_MOST_ONCE,
            ),
        ),
        _on_sqlite(
            "huey-serial",
            Setup(
                module="benchmarks.peers.huey_sqlite",
                distributions=("huey",),
                processes=1,
                concurrency=1,
                remark=f"{_AT_MOST_ONCE}; one job in flight, not ten",
            ),
        ),
        *_on_valkey(
            "dramatiq",
            Setup(
                module="benchmarks.peers.dramatiq_valkey",
                distributions=("dramatiq", "redis"),
                accelerators=("hiredis",),
                processes=1,
                concurrency=10,
                needs_valkey=True,
                remark="100 prefetched per process; retries the only middleware",
            ),
        ),
        *_on_valkey(
            "taskiq-redis",
            Setup(
                module="benchmarks.peers.taskiq_valkey",
                distributions=("taskiq", "taskiq-redis", "redis"),
                accelerators=("hiredis", "uvloop"),
                processes=1,
                concurrency=10,
                needs_valkey=True,
                remark="streams, 100 read at once; entries stay in the stream",
            ),
        ),
        *_on_valkey(
            "saq",
            Setup(
                module="benchmarks.peers.saq_valkey",
                distributions=("saq", "redis"),
                accelerators=("hiredis", "uvloop"),
                processes=1,
                concurrency=10,
                needs_valkey=True,
                remark="no result kept",
            ),
        ),
    )
}

ON_POSTGRES = {
    "procrastinate": Setup(
        module="benchmarks.peers.procrastinate_postgres",
        distributions=("procrastinate", "psycopg"),
        accelerators=("psycopg-binary", "uvloop"),
        processes=1,
        concurrency=30,
        remark="finished jobs deleted",
    ),
    "saq": Setup(
        module="benchmarks.peers.saq_postgres",
        distributions=("saq", "psycopg"),
        accelerators=("psycopg-binary", "uvloop"),
        processes=1,
        concurrency=30,
        remark="no result kept",
    ),
}
"""Libraries that keep their queue in PostgreSQL, to be run on the same server as ours, with as many in flight as ours has.

Tried: saq does a quarter more with 30 in flight than with 10, procrastinate the same. Both have the compiled driver."""
