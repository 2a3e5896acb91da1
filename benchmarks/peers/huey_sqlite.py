"""huey on SQLite, as a child process of the harness.

huey deletes a job's row before it runs the job, so it is at most once: a crash loses the jobs in flight. A job counts as
acknowledged at the complete signal, which follows the last thing huey writes for it.

Tried: all threads of a process share one connection behind a lock, so ten threads are slower than one by about a fifth,
and further processes do not help (they wait for the file). Results are off. The poll interval is lowered; it matters
only when the queue is empty.
"""

from __future__ import annotations

from huey import SqliteHuey
from huey.api import TaskWrapper
from huey.signals import SIGNAL_COMPLETE

from benchmarks.peers.tally import Tally, obey


def open_queue(store: str, tally: Tally) -> tuple[SqliteHuey, TaskWrapper]:
    huey = SqliteHuey("peer", filename=store, journal_mode="wal", fsync=True, results=False)

    @huey.task()
    def job() -> None:
        tally.count_start()

    return huey, job


def enqueue(store: str, jobs: int) -> None:
    huey, job = open_queue(store, Tally())
    for _ in range(jobs):
        job()
    huey.storage.close()


def work(store: str, concurrency: int, tally: Tally) -> None:
    huey, _ = open_queue(store, tally)

    @huey.signal(SIGNAL_COMPLETE)
    def count(*_: object) -> None:
        tally.count_acknowledgement()

    consumer = huey.create_consumer(workers=concurrency, periodic=False, initial_delay=0.001, max_delay=0.01)
    consumer.start()
    tally.stop.wait()
    consumer.stop(graceful=True)


def count_left(store: str) -> int:
    huey, _ = open_queue(store, Tally())
    return int(huey.pending_count())


if __name__ == "__main__":
    obey(enqueue=enqueue, work=work, count_left=count_left)
