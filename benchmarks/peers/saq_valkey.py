"""saq on Valkey, as a child process of the harness.

By default a saq job gets one attempt, and one whose worker died is aborted: more attempts make it at least once. No job
record is kept after the job (`ttl=-1`); keeping it costs a fifteenth.

A worker sweeps as soon as it starts, and takes for stuck a job that another task has just claimed and not yet marked: it
aborts it or waits seconds for it. Taking the sweep's lock beforehand keeps that out of a short run.

Tried: two processes give 1.4 times one, uvloop 1.1 times asyncio's loop; twenty in flight change nothing that is sure.
"""

from __future__ import annotations

from asyncio import create_task, to_thread

from saq import Worker
from saq.queue.redis import RedisQueue
from saq.types import Context

from benchmarks.peers.event_loop import obey_async
from benchmarks.peers.tally import Tally

SWEEP_LOCK_SECONDS = 600


async def _enqueue(store: str, jobs: int) -> None:
    queue = RedisQueue.from_url(store, name="peer")
    for _ in range(jobs):
        await queue.enqueue("job", retries=3, ttl=-1)
    await queue.sweep(SWEEP_LOCK_SECONDS)
    await queue.disconnect()


async def _work(store: str, concurrency: int, tally: Tally) -> None:
    async def job(_: Context) -> None:
        tally.count_start()

    async def count(_: Context) -> None:
        tally.count_acknowledgement()

    queue = RedisQueue.from_url(store, name="peer")
    worker = Worker(queue, [("job", job)], concurrency=concurrency, after_process=count)
    running = create_task(worker.start())
    await to_thread(tally.stop.wait)
    await worker.stop()
    await running
    await queue.disconnect()


async def _count_left(store: str) -> int:
    queue = RedisQueue.from_url(store, name="peer")
    try:
        return await queue.count("incomplete")
    finally:
        await queue.disconnect()


if __name__ == "__main__":
    obey_async(enqueue=_enqueue, work=_work, count_left=_count_left)
