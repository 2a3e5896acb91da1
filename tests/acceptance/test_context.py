"""The worker context under stress on every CPython here, and each trap of contextvars on its own."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import vskill_platform
from vskill_platform.worker_context import AsyncLocalStorage

STRESS = Path(__file__).parent / "context_stress.py"
SOURCE = Path(vskill_platform.__file__).parents[1]


class Outcome(NamedTuple):
    reads: int
    crossings: int


def interpreters() -> Iterator[str]:
    """Every CPython from 3.11 on that the machine has: this one, those on PATH, those of pyenv; one of each version."""
    folders = [*map(Path, os.environ.get("PATH", "").split(os.pathsep)), *Path.home().glob(".pyenv/versions/*/bin")]
    candidates = [
        sys.executable,
        *(str(path) for folder in folders for path in sorted(folder.glob("python3.[0-9][0-9]"))),
    ]
    seen: set[str] = set()
    ask = "import sys; print(sys.implementation.name, *sys.version_info[:3])"
    for candidate in candidates:
        answer = subprocess.run([candidate, "-c", ask], capture_output=True, text=True, check=False)
        words = answer.stdout.split()
        if answer.returncode or words[0] != "cpython" or tuple(map(int, words[1:3])) < (3, 11):
            continue
        if answer.stdout not in seen:
            seen.add(answer.stdout)
            yield candidate


def stress(python: str, *options: str) -> Outcome:
    environment = {"PYTHONPATH": str(SOURCE), "PATH": os.environ.get("PATH", "")}
    done = subprocess.run(
        [python, str(STRESS), *options], capture_output=True, text=True, check=False, timeout=120, env=environment
    )
    found = re.search(r"reads=(\d+) crossings=(\d+)", done.stdout)
    assert found, done.stderr
    return Outcome(int(found[1]), int(found[2]))


@pytest.mark.parametrize("python", list(interpreters()))
def test_every_read_sees_its_own_env__in_ten_batches_at_once(python: str) -> None:
    outcome = stress(python)
    assert outcome.reads >= 30_000
    assert outcome.crossings == 0


def test_stress_reports_crossings__when_the_env_is_a_planted_global() -> None:
    assert stress(sys.executable, "--planted").crossings > 0


@pytest.fixture
def storage() -> AsyncLocalStorage[str]:
    return AsyncLocalStorage("test")


async def test_scope_does_not_leak_out__through_a_plain_await(storage: AsyncLocalStorage[str]) -> None:
    async def work() -> str | None:
        return storage.get_store()

    assert await storage.run("mine", work) == "mine"
    assert storage.get_store() is None


async def test_scope_does_not_leak_out__through_wait_for(storage: AsyncLocalStorage[str]) -> None:
    async def work() -> None:
        await asyncio.sleep(0)

    await asyncio.wait_for(storage.run("mine", work), timeout=10)
    assert storage.get_store() is None


async def test_scope_is_carried_by_to_thread__and_not_by_run_in_executor(storage: AsyncLocalStorage[str]) -> None:
    async def work() -> tuple[str | None, str | None]:
        loop = asyncio.get_running_loop()
        return await asyncio.to_thread(storage.get_store), await loop.run_in_executor(None, storage.get_store)

    assert await storage.run("mine", work) == ("mine", None)


async def test_scope_inside_an_async_generator_does_not_leak__to_its_consumer(storage: AsyncLocalStorage[str]) -> None:
    async def look() -> str | None:
        return storage.get_store()

    async def generate() -> AsyncIterator[str | None]:
        yield await storage.run("inner", look)

    async def consume() -> list[str | None]:
        return [seen async for inner in generate() for seen in (inner, storage.get_store())]

    assert await storage.run("outer", consume) == ["inner", "outer"]


async def test_background_task_keeps_its_env__after_the_scope_has_ended(storage: AsyncLocalStorage[str]) -> None:
    gate = asyncio.Event()
    started: list[asyncio.Task[str | None]] = []

    async def later() -> str | None:
        await gate.wait()
        return storage.get_store()

    async def work() -> None:
        started.append(asyncio.create_task(later()))

    await storage.run("mine", work)
    gate.set()
    assert await started[0] == "mine"


async def test_scope_passes_exceptions_and_cancellation_through(storage: AsyncLocalStorage[str]) -> None:
    ended: list[str | None] = []

    async def fail() -> None:
        raise ValueError("as it was raised")

    async def hang() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(storage.get_store())

    with pytest.raises(ValueError, match="as it was raised"):
        await storage.run("mine", fail)
    task = asyncio.create_task(storage.run("mine", hang))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    assert task.cancelled()
    assert ended == ["mine"]


async def test_mutable_value_is_shared_by_all_copies__so_an_env_is_immutable(
    storage: AsyncLocalStorage[list[int]],
) -> None:
    """The trap itself, shown: this is why WorkerEnv is frozen."""
    shared: list[int] = []
    mutable: AsyncLocalStorage[list[int]] = AsyncLocalStorage("mutable")

    async def work() -> None:
        store = mutable.get_store()
        assert store is not None
        store.append(1)

    await asyncio.gather(mutable.run(shared, work), mutable.run(shared, work))
    assert shared == [1, 1]


def test_storage_has_run_and_get_store_and_nothing_else(storage: AsyncLocalStorage[str]) -> None:
    assert [name for name in dir(storage) if not name.startswith("_")] == ["get_store", "run"]
