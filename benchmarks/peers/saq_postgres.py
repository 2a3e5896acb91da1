"""saq on PostgreSQL, as a child process of the harness. No job record is kept after the job (`ttl=-1`)."""

from __future__ import annotations

from asyncio import create_task, to_thread

from saq import Worker
from saq.queue.postgres import PostgresQueue
from saq.types import Context

from benchmarks.peers.event_loop import obey_async
from benchmarks.peers.tally import Tally


async def _enqueue(store: str, jobs: int) -> None:
    queue = PostgresQueue.from_url(store, name="peer")
    await queue.connect()
    for _ in range(jobs):
        await queue.enqueue("job", retries=3, ttl=-1)
    await queue.disconnect()


async def _work(store: str, concurrency: int, tally: Tally) -> None:
    async def job(_: Context) -> None:
        tally.count_start()

    async def count(_: Context) -> None:
        tally.count_acknowledgement()

    queue = PostgresQueue.from_url(store, name="peer")
    await queue.connect()
    worker = Worker(queue, [("job", job)], concurrency=concurrency, after_process=count)
    running = create_task(worker.start())
    await to_thread(tally.stop.wait)
    await worker.stop()
    await running
    await queue.disconnect()


async def _count_left(store: str) -> int:
    queue = PostgresQueue.from_url(store, name="peer")
    await queue.connect()
    try:
        return await queue.count("incomplete")
    finally:
        await queue.disconnect()


if __name__ == "__main__":
    obey_async(enqueue=_enqueue, work=_work, count_left=_count_left)
