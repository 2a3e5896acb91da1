"""The stress of the worker context: standard library only, so that every CPython on the machine can run it.

Ten batches of three messages run at once, each batch in an env of its own, one of them failing. Every message reads its env
again and again across random yields, thread hops, timeouts, cancellations, background tasks, async generators and nested
scopes. A read that sees anything but the batch's own env is a crossing. `--planted` keeps the env in a module global, as
the fault in the seeds did, and must find crossings.

Usage: python context_stress.py [--planted]; prints `reads=N crossings=N`.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import sys
from collections.abc import AsyncIterator, Awaitable, Callable

from vskill_platform.worker_context import get_worker_env, run_with_worker_env

BATCHES, MESSAGES, ROUNDS = 10, 3, 150


class Env:
    """Stands for a batch's bindings; only its identity matters here."""


class Planted:
    """The fault: one variable for the whole process, set at the start of a batch and cleared at its end."""

    env: Env | None = None

    @classmethod
    async def run(cls, env: Env, callback: Callable[[], Awaitable[object]]) -> object:
        cls.env = env
        try:
            return await callback()
        finally:
            cls.env = None

    @classmethod
    def get(cls) -> Env | None:
        return cls.env


class Stress:
    """Counts reads and crossings under one way of keeping the env."""

    def __init__(self, run: Callable, get: Callable[[], object]) -> None:
        self.run = run
        self.get = get
        self.reads = 0
        self.crossings = 0
        self.background: set[asyncio.Task[None]] = set()

    def look(self, env: Env) -> None:
        self.reads += 1
        self.crossings += self.get() is not env

    async def all_batches(self) -> None:
        outcomes = await asyncio.gather(
            *(self.run(env, self.batch(env, number)) for number, env in enumerate(Env() for _ in range(BATCHES))),
            return_exceptions=True,
        )
        assert [type(outcome) for outcome in outcomes].count(RuntimeError) == 1
        assert all(outcome is None or isinstance(outcome, RuntimeError) for outcome in outcomes)
        await asyncio.gather(*self.background)
        self.reads += 1
        self.crossings += self.get() is not None

    def batch(self, env: Env, number: int) -> Callable[[], Awaitable[None]]:
        async def work() -> None:
            await asyncio.gather(*(self.message(env, random.Random(number * 100 + m)) for m in range(MESSAGES)))
            if number == 0:
                raise RuntimeError("one batch fails")

        return work

    async def message(self, env: Env, dice: random.Random) -> None:
        ways = [
            self.yields,
            self.hops_to_a_thread,
            self.times_out,
            self.waits_for,
            self.is_cancelled,
            self.starts_background_work,
            self.reads_a_generator,
            self.nests,
        ]
        for _ in range(ROUNDS):
            self.look(env)
            await dice.choice(ways)(env, dice)
            self.look(env)

    async def yields(self, env: Env, dice: random.Random) -> None:
        for _ in range(dice.randrange(8)):
            await asyncio.sleep(0)
            self.look(env)

    async def hops_to_a_thread(self, env: Env, dice: random.Random) -> None:
        await asyncio.to_thread(self.look, env)

    async def times_out(self, env: Env, dice: random.Random) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0):
                self.look(env)
                await asyncio.sleep(1)
        self.look(env)

    async def waits_for(self, env: Env, dice: random.Random) -> None:
        await asyncio.wait_for(self.yields(env, dice), timeout=30)
        other = Env()
        await asyncio.wait_for(self.run(other, lambda: self.yields(other, dice)), timeout=30)

    async def is_cancelled(self, env: Env, dice: random.Random) -> None:
        other = Env()
        task = asyncio.create_task(self.run(other, lambda: self.looks_until_cancelled(other)))
        for _ in range(dice.randrange(4)):
            await asyncio.sleep(0)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    async def looks_until_cancelled(self, env: Env) -> None:
        try:
            while True:
                self.look(env)
                await asyncio.sleep(0)
        finally:
            self.look(env)

    async def starts_background_work(self, env: Env, dice: random.Random) -> None:
        task = asyncio.create_task(self.yields(env, dice))
        self.background.add(task)
        task.add_done_callback(self.background.discard)

    async def reads_a_generator(self, env: Env, dice: random.Random) -> None:
        async for _ in self.generated(env, dice):
            self.look(env)

    async def generated(self, env: Env, dice: random.Random) -> AsyncIterator[int]:
        for number in range(3):
            other = Env()
            await self.run(other, lambda other=other: self.yields(other, dice))
            self.look(env)
            yield number

    async def nests(self, env: Env, dice: random.Random) -> None:
        inner = Env()

        async def inside() -> None:
            await self.yields(inner, dice)
            self.look(inner)

        await self.run(inner, inside)
        self.look(env)


def main() -> None:
    is_planted = "--planted" in sys.argv
    stress = Stress(Planted.run, Planted.get) if is_planted else Stress(run_with_worker_env, get_worker_env)
    asyncio.run(stress.all_batches())
    print(f"reads={stress.reads} crossings={stress.crossings}")


if __name__ == "__main__":
    main()
