"""A worker in a process of its own: the real loop over a real engine, and work that can kill it, until nothing is left.

Run as `python -m tests.faults.worker_child ENGINE LOCATION FOLDER LEASE_S BATCHES MODE SEED`. It says, one line each:

    begin ITEM ATTEMPT      when a message is handed to it
    done ITEM ATTEMPT       when the effect and the Ack have been committed
    refused ITEM ATTEMPT    when the lease was over: another delivery has the message

It ends by itself, with 0, once the queue holds nothing but dead letters. `poison` waits until everything else that it can
have beside it has begun, and then kills the process. The mode `unfenced` plants a fault: the effect without the Ack.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from tests.faults.engines import ENGINES
from tests.faults.load_child import affecting, say
from vskill_platform.domain.errors import LeaseLost
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE
from vskill_platform.ports.clock import SystemClock
from vskill_platform.ports.commit import Ack, Operation
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.ports.queue import Message
from vskill_platform.testing.envs import make_env
from vskill_platform.worker.loop import ConsumerLoop
from vskill_platform.worker_context import current_env

POISON = "poison"
BATCH_SIZE = 3
LONGEST_S, LONGEST_ALONE_S = 0.4, 0.05
"""How long work takes at most; what runs alone is kept short, because everything else waits for it."""
LOOK_EVERY_S = 0.05


class WorkMode(StrEnum):
    """How the effect of a message is committed."""

    FENCED = "fenced"
    UNFENCED = "unfenced"


@dataclass
class Work:
    """What is done with a message."""

    mode: WorkMode
    random: random.Random
    places: int
    begun: int = 0

    async def __call__(self, message: Message) -> None:
        item = message.body.decode()
        self.begun += 1
        say(f"begin {item} {message.attempts}")
        if item == POISON:
            await self._kill(message)
        await asyncio.sleep(self.random.uniform(0, LONGEST_ALONE_S if message.is_suspect else LONGEST_S))
        operations: list[Operation] = [affecting(item)]
        if self.mode is WorkMode.FENCED:
            operations.append(Ack(message.lease))
        try:
            await current_env("writes").writes.commit(operations)
        except LeaseLost:
            say(f"refused {item} {message.attempts}")
            raise
        say(f"done {item} {message.attempts}")
        if self.mode is WorkMode.FENCED:
            message.mark_settled()

    async def _kill(self, message: Message) -> None:
        """Take everybody along who can be there: all places the first time, nobody when it is suspected and alone."""
        while self.begun < (1 if message.is_suspect else self.places):  # noqa: ASYNC110
            await asyncio.sleep(0)
        os.kill(os.getpid(), signal.SIGKILL)


async def run(
    name: str, location: str, folder: Path, *, lease_s: float, batches: int, mode: WorkMode, seed: int
) -> None:
    """Work until nothing but dead letters is left."""
    engine = await ENGINES[name].open(location, SystemClock())
    env = make_env(
        engine,
        clock=SystemClock(),
        folder=folder,
        process=Work(mode, random.Random(seed), batches * BATCH_SIZE),
        lease_s=lease_s,
        batches_in_flight=batches,
        batch_size=BATCH_SIZE,
    )
    loop = ConsumerLoop(env)
    async with asyncio.TaskGroup() as group:
        group.create_task(loop.run())
        await _wait_until_empty(env)
        loop.stop()
    await engine.close()


async def _wait_until_empty(env: WorkerEnv) -> None:
    while True:
        stats = await env.queue.stats(SUBMISSIONS_QUEUE)
        if not stats.waiting + stats.delayed + stats.leased:
            return
        await asyncio.sleep(LOOK_EVERY_S)


if __name__ == "__main__":
    name, location, folder, lease_s, batches, mode, seed = sys.argv[1:]
    asyncio.run(
        run(
            name,
            location,
            Path(folder),
            lease_s=float(lease_s),
            batches=int(batches),
            mode=WorkMode(mode),
            seed=int(seed),
        )
    )
