"""taskiq on Valkey streams, as a child process of the harness.

The group reads from 0: with the broker's default, `$`, jobs that were sent before the first worker started are never
delivered. Acknowledging when executed is the safest it offers where no result is kept, and the hook after it then runs
after the acknowledgement. Acknowledged entries stay in the stream, so it does less work than a queue that deletes them.

Tried: two processes, its default, give 1.6 times one; more reads at once, more prefetch, a hundred in flight and skipping
the parameter checks change nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from redis import Redis
from taskiq import AsyncTaskiqDecoratedTask, TaskiqMessage, TaskiqMiddleware, TaskiqResult
from taskiq.acks import AcknowledgeType
from taskiq.api import run_receiver_task
from taskiq_redis import RedisStreamBroker

from benchmarks.peers.event_loop import run
from benchmarks.peers.tally import Tally, obey

STREAM = "peer"


class CountAcknowledgements(TaskiqMiddleware):
    """Tells the tally of each job whose acknowledgement the server has taken."""

    def __init__(self, tally: Tally) -> None:
        super().__init__()
        self._tally = tally

    def post_execute(self, message: TaskiqMessage, result: TaskiqResult[Any]) -> None:
        self._tally.count_acknowledgement()


def open_queue(
    store: str, tally: Tally
) -> tuple[RedisStreamBroker, AsyncTaskiqDecoratedTask[[], Coroutine[Any, Any, None]]]:
    broker = RedisStreamBroker(store, queue_name=STREAM, consumer_id="0", xread_count=100)
    broker.add_middlewares(CountAcknowledgements(tally))

    @broker.task(task_name="job")
    async def job() -> None:
        tally.count_start()

    return broker, job


async def _enqueue(store: str, jobs: int) -> None:
    broker, job = open_queue(store, Tally())
    await broker.startup()
    for _ in range(jobs):
        await job.kiq()
    await broker.shutdown()


async def _work(store: str, concurrency: int, tally: Tally) -> None:
    broker, _ = open_queue(store, tally)
    receiver = asyncio.create_task(
        run_receiver_task(broker, max_async_tasks=concurrency, ack_time=AcknowledgeType.WHEN_EXECUTED, run_startup=True)
    )
    await asyncio.to_thread(tally.stop.wait)
    receiver.cancel()
    with suppress(asyncio.CancelledError):
        await receiver
    await broker.shutdown()


def enqueue(store: str, jobs: int) -> None:
    run(_enqueue(store, jobs))


def work(store: str, concurrency: int, tally: Tally) -> None:
    run(_work(store, concurrency, tally))


def count_left(store: str) -> int:
    with Redis.from_url(store) as client:
        return sum(group["pending"] + group["lag"] for group in client.xinfo_groups(STREAM))


if __name__ == "__main__":
    obey(enqueue=enqueue, work=work, count_left=count_left)
