"""Processes of one registry over one store, with a stream of repositories to verify, and what has to be there in the end."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPException
from itertools import count
from pathlib import Path

from tests.acceptance.commands import LOOPBACK_GIT
from tests.acceptance.test_processes import submit as submit_over_http
from tests.faults.doom import Doom
from tests.faults.engines import EngineKind
from tests.faults.looking import read_events
from tests.faults.offspring import Nursery, Offspring, nursery
from tests.faults.slow_git import SlowGit
from vskill_platform.domain.delivery import MAX_ATTEMPTS, retry_delay_s
from vskill_platform.domain.errors import StoreUnavailable
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE
from vskill_platform.domain.records import Submission
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
from vskill_platform.testing.waits import LOOK_S, PROCESS_LIMIT_S, eventually, until
from vskill_platform.web.clients.git_http import GitHttp, repositories_below
from vskill_platform.worker_context import run_with_worker_env

SKILLS = ("greet", "thank")
LEASE_S = 1.0
DRAIN_LIMIT_S = PROCESS_LIMIT_S + retry_delay_s(MAX_ATTEMPTS)
"""A message that has failed a few times waits for longer than a process takes for anything."""
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
        asked = partial(asyncio.to_thread, submit_if_answered, web.address, url)
        self.submitted[await until(asked, what=web.explain)] = url

    async def drain(self) -> float:
        """Wait until nothing is left to do; gives the time at which that was seen."""
        await self.until_queue(lambda stats: not stats.waiting + stats.delayed + stats.leased)
        return time.time()

    async def until_queue(self, holds: Callable[[QueueStats], bool]) -> None:
        """Wait until the queue stands like this. A store that is away is asked again."""
        seen: QueueStats | StoreUnavailable | None = None

        async def stands() -> bool:
            nonlocal seen
            try:
                seen = await self.engine.queue.stats(SUBMISSIONS_QUEUE)
            except StoreUnavailable as error:
                seen = error
            return isinstance(seen, QueueStats) and holds(seen)

        def explain() -> str:
            alive = [f"{one.role} {one.pid}: {one.explain()}" for one in self.nursery.started if one.is_alive]
            return f"a queue like that, but {seen}; {alive}"

        await eventually(stands, what=explain, limit_s=DRAIN_LIMIT_S, look_s=LOOK_S)

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

    async def _state(self, identity: str, expected: SubmissionState, found: dict[str, str]) -> Submission:
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


def submit_if_answered(address: str, url: str) -> str | None:
    """The submission's id, or None when there is no answer, or nobody to ask: it died before it said where it is."""
    if not address:
        return None
    try:
        return submit_over_http(address, url)
    except (OSError, HTTPException):
        return None


def make_repositories(folder: Path, *, most: int = 4000) -> None:
    """One repository under many names."""
    make_repository(folder / "acme" / "one.git", {f"{name}/SKILL.md": skill_text(name) for name in SKILLS})
    for number in range(most):
        (folder / "acme" / f"many-{number}.git").symlink_to("one.git")


def skill_text(name: str) -> bytes:
    return f"---\nname: {name}\ndescription: Greets people.\n---\n\nGreet the user.\n".encode()
