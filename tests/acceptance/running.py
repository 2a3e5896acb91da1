"""A consumer loop that runs for as long as a test block lasts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from vskill_platform.domain.ids import MessageId
from vskill_platform.ports.commit import Send
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.worker.loop import ConsumerLoop
from vskill_platform.worker_context import run_with_worker_env

T = TypeVar("T")
QUEUE = "submissions"


@asynccontextmanager
async def running_loop(env: WorkerEnv) -> AsyncIterator[ConsumerLoop]:
    """The loop, started; stopped and awaited at the end."""
    loop = ConsumerLoop(env)
    task = asyncio.create_task(loop.run())
    try:
        yield loop
    finally:
        loop.stop()
        await task


async def send(env: WorkerEnv, *ids: str, body: bytes = b"{}", delay_s: float = 0.0) -> None:
    """Send a message for each id, in one commit."""
    await env.writes.commit([Send(QUEUE, MessageId(id), body, delay_s=delay_s) for id in ids])


async def inside(env: WorkerEnv, work: Callable[[], Awaitable[T]]) -> T:
    """Await the work with the env in scope."""
    return await run_with_worker_env(env, work)
