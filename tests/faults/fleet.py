"""Processes of one registry over one store, with a stream of repositories to verify, and what has to be there in the end."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPException
from itertools import count
from pathlib import Path

import msgspec

from tests.acceptance.commands import LOOPBACK_GIT
from tests.acceptance.test_processes import submit as submit_over_http
from tests.faults.children import LIMIT_S, ROOT
from tests.faults.doom import Doom
from tests.faults.engines import EngineKind
from tests.faults.looking import read_events
from tests.faults.nursery import Order
from tests.faults.slow_git import SlowGit
from vskill_platform.domain.errors import StoreUnavailable
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE
from vskill_platform.domain.slug import skill_slug
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.pipeline.intake import submit_repository
from vskill_platform.ports.clock import SystemClock
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.ports.queue import QueueStats
from vskill_platform.stores.submissions import get_submission
from vskill_platform.testing.envs import make_env
from vskill_platform.testing.git_repos import make_repository
from vskill_platform.testing.git_server import serve_application_in_thread
from vskill_platform.web.clients.git_http import GitHttp, repositories_below
from vskill_platform.worker_context import run_with_worker_env

SKILLS = ("greet", "thank")
LEASE_S = 1.0
LOOK_EVERY_S = 0.02
QUICK = {
    **LOOPBACK_GIT,
    "VSKILL_PLATFORM_LEASE_S": f"{LEASE_S}",
    "VSKILL_PLATFORM_CRON_LEASE_S": "2",
    "VSKILL_PLATFORM_BATCHES_IN_FLIGHT": "2",
    "VSKILL_PLATFORM_BATCH_SIZE": "1",
    "VSKILL_PLATFORM_MAX_ATTEMPTS": "10",
    "VSKILL_PLATFORM_SUBMISSIONS_PER_HOUR": "1000000",
    "VSKILL_PLATFORM_PORT": "0",
}


class Offspring:
    """A process of the nursery. Nobody but us may end it, and nobody has to wait for it."""

    def __init__(self, role: str, pid: int, log: Path) -> None:
        self.role, self.pid, self._log = role, pid, log
        self._handle = os.pidfd_open(pid)
        self.killed_at: float | None = None
        self.is_doomed = False

    @property
    def is_alive(self) -> bool:
        return not select.select([self._handle], [], [], 0)[0]

    @property
    def lines(self) -> list[str]:
        return self._log.read_text().splitlines() if self._log.exists() else []

    def said(self, word: str) -> list[str] | None:
        """The rest of the first line that begins with a word."""
        return next((words[1:] for line in self.lines if (words := line.split())[:1] == [word]), None)

    @property
    def address(self) -> str:
        return (self.said("up") or [""])[0]

    @property
    def died_at(self) -> float | None:
        """When it was killed, by us or by its doom; None while it lives, or if it ended otherwise."""
        dying = self.said("dying")
        return float(dying[1]) if dying else self.killed_at

    def signal(self, number: signal.Signals) -> None:
        signal.pidfd_send_signal(self._handle, number)

    def kill(self) -> None:
        """SIGKILL, if it still lives."""
        if self.is_alive:
            self.killed_at = time.time()
            self.signal(signal.SIGKILL)
            self.wait()

    def wait(self) -> None:
        """Return when it is gone."""
        if not select.select([self._handle], [], [], LIMIT_S)[0]:
            raise RuntimeError(f"{self.role} {self.pid} does not end: {self.explain()}")

    @property
    def has_ended_well(self) -> bool:
        return not self.is_alive and self.said("ended") is not None

    def explain(self) -> str:
        return "\n".join(self.lines[-40:])

    def close(self) -> None:
        self.kill()
        os.close(self._handle)


@dataclass
class Nursery:
    """Starts processes."""

    process: subprocess.Popen[bytes]
    folder: Path
    started: list[Offspring] = field(default_factory=list)

    def begin(self, role: str, environment: dict[str, str], *, doom: Doom | None = None) -> Offspring:
        """Start a process, and do not wait until it is up."""
        log = self.folder / f"{role}-{len(self.started)}.log"
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(msgspec.json.encode(Order(role, environment, str(log), doom)) + b"\n")
        self.process.stdin.flush()
        grown = Offspring(role, int(self.process.stdout.readline()), log)
        grown.is_doomed = doom is not None
        self.started.append(grown)
        return grown


@contextmanager
def nursery(folder: Path) -> Iterator[Nursery]:
    """A nursery; all that it has started is gone afterwards."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "tests.faults.nursery"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT) as process:
        grown = Nursery(process, folder)
        try:
            yield grown
        finally:
            for one in grown.started:
                one.close()
            assert process.stdin is not None
            process.stdin.close()


async def until(holds: Callable[[], bool], *, what: Callable[[], str]) -> None:
    """Wait for other processes without taking the processor from them. Raises when it takes too long."""
    deadline = time.monotonic() + LIMIT_S
    while not holds():
        if time.monotonic() > deadline:
            raise RuntimeError(f"did not come about: {what()}")
        await asyncio.sleep(LOOK_EVERY_S)


@dataclass
class Fleet:
    """A store that any number of processes work on."""

    nursery: Nursery
    engine: Engine
    env: WorkerEnv
    source: str
    settings: dict[str, str]
    submitted: dict[str, str] = field(default_factory=dict)
    """Addresses by the submission's id."""
    numbers: Iterator[int] = field(default_factory=count)

    async def start(self, role: str = "worker", *, doom: Doom | None = None, **settings: str) -> Offspring:
        """Start a process and wait until it is up, or dead."""
        started = self.nursery.begin(role, {**self.settings, **settings}, doom=doom)
        await until(lambda: started.address != "" or not started.is_alive, what=started.explain)
        if not started.is_alive and started.said("dying") is None:
            raise RuntimeError(f"{role} did not come up: {started.explain()}")
        return started

    async def look_again(self, kind: EngineKind, location: str) -> None:
        """Open the store once more, where the test had to close it because somebody else owns it."""
        self.engine = await kind.open(location, SystemClock())
        self.env = make_env(self.engine, clock=SystemClock(), folder=Path(self.settings["VSKILL_PLATFORM_DATA"]))

    def next_address(self) -> str:
        """A repository that nobody has submitted."""
        return f"{self.source}/acme/many-{next(self.numbers)}"

    async def submit(self, repositories: int) -> None:
        """Submit so many new repositories, each with a few skills."""
        for _ in range(repositories):
            url = self.next_address()
            taken = await run_with_worker_env(self.env, lambda url=url: submit_repository(url))
            self.submitted[taken.submission.id] = url

    async def submit_by_web(self, web: Offspring) -> None:
        """Submit a new repository over HTTP, again and again until it is answered, as a client does."""
        url = self.next_address()
        deadline = time.monotonic() + LIMIT_S
        while True:
            try:
                identity = await asyncio.to_thread(submit_over_http, web.address, url)
                break
            except (OSError, HTTPException):
                assert time.monotonic() < deadline, web.explain()
                await asyncio.sleep(LOOK_EVERY_S)
        self.submitted[identity] = url

    async def drain(self) -> float:
        """Wait until nothing is left to do; gives the time at which that was seen."""
        await self.until_queue(lambda stats: not stats.waiting + stats.delayed + stats.leased)
        return time.time()

    async def until_queue(self, holds: Callable[[QueueStats], bool]) -> None:
        """Wait until the queue stands like this. A store that is away is asked again."""
        deadline = time.monotonic() + LIMIT_S
        while True:
            try:
                stats = await self.engine.queue.stats(SUBMISSIONS_QUEUE)
                if holds(stats):
                    return
            except StoreUnavailable as error:
                stats = error
            if time.monotonic() > deadline:
                alive = [f"{one.role} {one.pid}: {one.explain()}" for one in self.nursery.started if one.is_alive]
                raise RuntimeError(f"the queue does not come to that: {stats}; {alive}")
            await asyncio.sleep(LOOK_EVERY_S)

    async def faults(self) -> dict[str, object]:
        """What is wrong once all is done: submissions that got stuck, skills published not at all, twice, or by nobody's wish."""
        events = await read_events(self.engine)
        published = Counter(event.subject for event in events if event.kind == "skill.published")
        expected = {skill_slug(url, name) for url in self.submitted.values() for name in SKILLS}
        stats = await self.engine.queue.stats(SUBMISSIONS_QUEUE)
        found = {
            "lost": expected - set(published),
            "unexpected": set(published) - expected,
            "double_publishes": {slug: times for slug, times in published.items() if times > 1},
            "published_again": [event.subject for event in events if event.kind == "skill.rescanned"],
            "unfinished": await self._unfinished(),
            "dead": stats.dead,
        }
        return {name: value for name, value in found.items() if value}

    async def _unfinished(self) -> dict[str, str]:
        """Submissions that did not come to the end they should have."""
        found: dict[str, str] = {}
        for identity in self.submitted:
            parent = await self._state(identity, SubmissionState.EXPANDED, found)
            for child in parent.children:
                await self._state(child, SubmissionState.PUBLISHED, found)
            if len(parent.children) != len(SKILLS):
                found[identity] = f"{len(parent.children)} children"
        return found

    async def _state(self, identity: str, expected: SubmissionState, found: dict[str, str]):  # type: ignore[no-untyped-def]
        submission = (await run_with_worker_env(self.env, lambda: get_submission(identity))).submission
        if submission.state is not expected:
            found[identity] = submission.state
        return submission


@asynccontextmanager
async def fleet(
    folder: Path, kind: EngineKind, location: str, *, slow_s: float = 0.0, **settings: str
) -> AsyncIterator[Fleet]:
    """A fleet without processes over a store; a git server has as many repositories as anybody asks for.

    Each of its answers takes up to `slow_s`. Settings that are given hold for the processes, not for the test's own look.
    """
    data = folder / "data"
    data.mkdir(parents=True, exist_ok=True)
    make_repositories(folder / "git")
    places = {**QUICK, **kind.environment(location), "VSKILL_PLATFORM_DATA": str(data), **settings}
    engine = await kind.open(location, SystemClock())
    env = make_env(engine, clock=SystemClock(), folder=data)
    try:
        git = SlowGit(GitHttp(repositories_below(folder / "git")), slow_s)
        with nursery(folder / "logs") as grown, serve_application_in_thread(git) as source:
            ships = Fleet(grown, engine, env, source, places)
            yield ships
            await ships.engine.close()
    finally:
        await engine.close()


def make_repositories(folder: Path, *, most: int = 4000) -> None:
    """One repository under many names."""
    make_repository(folder / "acme" / "one.git", {f"{name}/SKILL.md": skill_text(name) for name in SKILLS})
    for number in range(most):
        (folder / "acme" / f"many-{number}.git").symlink_to("one.git")


def skill_text(name: str) -> bytes:
    return f"---\nname: {name}\ndescription: Greets people.\n---\n\nGreet the user.\n".encode()
