"""Every step of the journey fails once, before or after it was done; the skill is published once all the same."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.journey import LOOPBACK, Journey, skill_md
from tests.pipeline.shared_scanner import SharedScanner
from vskill_platform.domain.errors import StoreUnavailable
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.engines.memory import open_memory
from vskill_platform.ingest.git import GitSource
from vskill_platform.pipeline.process import process_message
from vskill_platform.settings import convert_settings
from vskill_platform.stores.versions import get_versions
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.envs import make_env
from vskill_platform.testing.git_server import serve_repositories

SLUG = "127-0-0-1-acme/greeting/greeting"
MOST_ROUNDS = 12


class Faults:
    """Counts the calls that pass, and makes one of them fail: before it is done, or after, when nobody hears of it."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.fails_at: int | None = None
        self.is_done_first = False

    async def call(self, name: str, work: Callable[[], Awaitable[Any]]) -> Any:
        self.calls.append(name)
        is_hit = self.fails_at == len(self.calls)
        if is_hit and not self.is_done_first:
            raise StoreUnavailable(f"planted before {name}")
        result = await work()
        if is_hit:
            raise StoreUnavailable(f"planted after {name}")
        return result


class Watched:
    """A binding whose calls go by the faults."""

    def __init__(self, binding: object, faults: Faults, *names: str) -> None:
        self._binding, self._faults, self._names = binding, faults, names

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._binding, name)
        if name not in self._names:
            return method

        async def watched(*args: object, **kwargs: object) -> Any:
            return await self._faults.call(f"{type(self._binding).__name__}.{name}", lambda: method(*args, **kwargs))

        return watched


@asynccontextmanager
async def faulty_journey(
    folder: Path, faults: Faults, *, scanner: SharedScanner
) -> AsyncIterator[tuple[Journey, FakeClock]]:
    clock = FakeClock()
    engine = await open_memory(clock=clock)
    settings = convert_settings(LOOPBACK)
    (folder / "repositories").mkdir(exist_ok=True)
    async with serve_repositories(folder / "repositories") as address, GitSource(settings) as source:
        env = make_env(
            engine, clock=clock, folder=folder, source=source, scanner=scanner, process=process_message, **LOOPBACK
        )
        journey = Journey(env=env, repositories=folder / "repositories", address=address)
        yield (
            journey.with_env(
                writes=Watched(env.writes, faults, "commit"),
                blobs=Watched(env.blobs, faults, "put", "get"),
                scanner=Watched(scanner, faults, "scan"),
                kv=Watched(env.kv, faults, "get", "get_many"),
            ),
            clock,
        )
    await engine.close()


async def work_until_done(journey: Journey, clock: FakeClock, identity: str) -> None:
    for _ in range(MOST_ROUNDS):
        await journey.work()
        parent = await journey.read(identity)
        children = [await journey.read(child) for child in parent.children]
        if children and all(child.state is SubmissionState.PUBLISHED for child in children):
            return
        await clock.advance(120)
    raise AssertionError(f"not done: {parent}")


async def run_once(
    folder: Path, *, scanner: SharedScanner, fails_at: int | None = None, is_done_first: bool = False
) -> list[str]:
    faults = Faults()
    async with faulty_journey(folder, faults, scanner=scanner) as (journey, clock):
        if not (folder / "repositories" / "acme").exists():
            journey.repository("acme/greeting", {"SKILL.md": skill_md()})
        intake = await journey.submit("acme/greeting")
        before = len(faults.calls)
        faults.fails_at = None if fails_at is None else before + fails_at
        faults.is_done_first = is_done_first
        await journey.work()
        faults.fails_at = None
        calls = faults.calls[before:]
        await work_until_done(journey, clock, intake.submission.id)
        events = await journey.events()
        assert events.count(("skill.published", SLUG)) == 1
        versions = await journey.inside(lambda: get_versions(SLUG))
        assert [version.version for version in versions] == ["1.0.0"]
        stats = await journey.env.queue.stats("submissions")
        assert (stats.waiting, stats.delayed, stats.leased, stats.dead) == (0, 0, 0, 0)
    return calls


@pytest.mark.parametrize("is_done_first", [False, True], ids=["before", "after"])
async def test_skill_is_published_once__whichever_step_fails(
    tmp_path: Path, scanner: SharedScanner, is_done_first: bool
) -> None:
    calls = await run_once(tmp_path, scanner=scanner)
    assert {"MemoryCommit.commit", "BlobFolder.put", "BlobFolder.get", "SharedScanner.scan"} <= set(calls)
    for number in range(1, len(calls) + 1):
        await run_once(tmp_path, scanner=scanner, fails_at=number, is_done_first=is_done_first)
