"""SIGTERM while every place is busy: the process drains in its grace time, and nothing has cost anybody an attempt."""

from __future__ import annotations

import asyncio
import json
import random
import signal
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.acceptance.commands import LIMIT_S, LOOPBACK_GIT, registry
from tests.acceptance.process_group import read
from tests.faults.engines import ENGINES, EngineKind
from tests.faults.figures import Tell, spread
from tests.faults.slow_git import SlowGit
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.ports.clock import SystemClock
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.queue import MessageInfo
from vskill_platform.testing.envs import make_env
from vskill_platform.testing.git_repos import make_repository
from vskill_platform.testing.git_server import serve_application_in_thread
from vskill_platform.testing.submissions import submit
from vskill_platform.testing.waits import wait_until
from vskill_platform.web.clients.git_http import GitHttp, repositories_below
from vskill_platform.worker.loop import CANCEL_WAIT_S
from vskill_platform.worker_context import run_with_worker_env

BATCHES, BATCH_SIZE = 3, 2
PLACES = BATCHES * BATCH_SIZE
STOPS_A_FOLDER = 5
MARGIN_S = 10.0
"""What the rest of the process may take to end once the worker has drained, on a busy machine."""
GRACES_S = (0.0, 0.5, 5.0)
WAITING = 3 * PLACES


@dataclass
class Registry:
    """A data folder, the skills that were submitted to it so far, and how it stopped each time."""

    kind: EngineKind
    location: str
    data: Path
    repo_url: str
    names: list[str] = field(default_factory=list)
    stops_s: list[float] = field(default_factory=list)
    released: int = 0

    async def fill(self) -> None:
        """Top the queue up, so that every place has something to do and more is waiting."""
        engine = await self._open()
        env = make_env(engine, clock=SystemClock(), folder=self.data)
        waiting = (await engine.queue.stats(SUBMISSIONS_QUEUE)).waiting
        for number in range(len(self.names), len(self.names) + WAITING - waiting):
            name = skill_name(number)
            await run_with_worker_env(env, lambda name=name: submit(name, repo_url=self.repo_url))
            self.names.append(name)
        await engine.close()

    async def stop_busy(self, *, grace_s: float, wait_s: float) -> None:
        """Start, wait until every place is busy, wait a little longer, stop, and look at every message."""
        settings = {
            **LOOPBACK_GIT,
            **self.kind.environment(self.location),
            "VSKILL_PLATFORM_BATCHES_IN_FLIGHT": str(BATCHES),
            "VSKILL_PLATFORM_BATCH_SIZE": str(BATCH_SIZE),
            "VSKILL_PLATFORM_DRAIN_GRACE_S": str(grace_s),
        }
        with registry(self.data, **settings) as (process, address):
            await asyncio.to_thread(wait_for_queue, address, leased=PLACES)
            await asyncio.sleep(wait_s)
            began = time.monotonic()
            process.send_signal(signal.SIGTERM)
            code = await asyncio.to_thread(process.wait, timeout=grace_s + CANCEL_WAIT_S + MARGIN_S)
            self.stops_s.append(time.monotonic() - began)
            assert code == 0
        await self._check_nothing_burnt()

    async def _check_nothing_burnt(self) -> None:
        engine = await self._open()
        messages = await all_messages(engine)
        await engine.close()
        self.released += len(messages)
        burnt = [
            info
            for info in messages
            if (info.status, info.attempts, info.is_suspect) != (MessageStatus.WAITING, 0, False)
        ]
        assert burnt == []

    async def finish(self) -> None:
        """Start once more and let everything end: each skill is published, once."""
        settings = {**LOOPBACK_GIT, **self.kind.environment(self.location)}
        with registry(self.data, **settings) as (process, address):
            await asyncio.to_thread(wait_for_queue, address, leased=0, waiting=0)
            process.send_signal(signal.SIGTERM)
            assert await asyncio.to_thread(process.wait, timeout=LIMIT_S) == 0
        engine = await self._open()
        events = (await engine.events.read(0)).events
        await engine.close()
        published = Counter(event.subject.rsplit("/", 1)[-1] for event in events if event.kind == "skill.published")
        assert published == Counter(self.names)

    async def _open(self) -> Engine:
        return await self.kind.open(self.location, SystemClock())


def skill_name(number: int) -> str:
    return f"skill-{number:03d}"


async def all_messages(engine: Engine) -> list[MessageInfo]:
    found: list[MessageInfo] = []
    for status in (MessageStatus.WAITING, MessageStatus.DELAYED, MessageStatus.LEASED, MessageStatus.DEAD):
        found += (await engine.queue.peek(SUBMISSIONS_QUEUE, status=status, limit=1000)).messages
    return found


def wait_for_queue(address: str, **wanted: int) -> None:
    """Wait until the health of a registry shows these counts."""

    def shown() -> dict[str, int]:
        return dict(json.loads(read(f"{address}/healthz"))["queue"])

    wait_until(lambda: wanted.items() <= shown().items(), what=lambda: f"{wanted} in {shown()}")


async def stop_often(folder: Path, engine: str, *, stops: int, seed: int, tell: Tell) -> None:
    chance = random.Random(seed)
    most = WAITING * (STOPS_A_FOLDER + 1)
    files = {f"{skill_name(n)}/SKILL.md": skill_text(skill_name(n)) for n in range(most)}
    make_repository(folder / "git" / "acme" / "many.git", files)
    stopped: list[Registry] = []
    with serve_application_in_thread(SlowGit(GitHttp(repositories_below(folder / "git")))) as source:
        for first in range(0, stops, STOPS_A_FOLDER):
            data = folder / f"{first}"
            with ENGINES[engine].make_store(data) as location:
                stopping = Registry(ENGINES[engine], location, data, f"{source}/acme/many")
                for _ in range(min(STOPS_A_FOLDER, stops - first)):
                    await stopping.fill()
                    await stopping.stop_busy(grace_s=chance.choice(GRACES_S), wait_s=chance.uniform(0, 1))
                await stopping.finish()
                stopped.append(stopping)
    tell(summary(engine, stopped))


def summary(engine: str, stopped: Sequence[Registry]) -> str:
    seconds = [second for one in stopped for second in one.stops_s]
    return (
        f"SIGTERM with {PLACES} of {PLACES} places busy, {engine}: {len(seconds)} stops, exit code 0 each; "
        f"{sum(one.released for one in stopped)} messages left over, 0 attempts burnt; "
        f"{sum(len(one.names) for one in stopped)} skills published once each; from signal to end {spread(seconds)}"
    )


def skill_text(name: str) -> bytes:
    return f"---\nname: {name}\ndescription: Greets people.\n---\n\nGreet the user.\n".encode()


async def test_nothing_is_burnt__when_stopped_with_every_place_busy(tmp_path: Path, tell: Tell) -> None:
    """On SQLite; `test_worker_sigterm.py` has the smoke on PostgreSQL."""
    await stop_often(tmp_path, "sqlite", stops=2, seed=1, tell=tell)


@pytest.mark.faults
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("engine", ENGINES)
async def test_nothing_is_burnt__when_stopped_50_times_with_every_place_busy(
    tmp_path: Path, engine: str, tell: Tell
) -> None:
    await stop_often(tmp_path, engine, stops=50, seed=2, tell=tell)
