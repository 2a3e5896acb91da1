"""A registry whose clock stands still, and whose published skills come from real git servers on loopback."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest

from vskill_platform.domain.repo_health import RepositoryHealth
from vskill_platform.engines.memory import open_memory
from vskill_platform.ingest.git import GitSource
from vskill_platform.pipeline.repo_looks import look_at_repositories
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.ports.events import Event
from vskill_platform.settings import convert_settings
from vskill_platform.stores.repo_health import health_of_repository
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.envs import make_env
from vskill_platform.testing.submissions import putting_skill
from vskill_platform.worker_context import run_with_worker_env

T = TypeVar("T")
LOOPBACK = {"allow_private_addresses": True, "git_protocols": "http", "repo_health_look_limit_s": 5}


@dataclass
class Registry:
    """A registry with skills that nobody scanned: what looks at their sources do not ask for."""

    env: WorkerEnv
    clock: FakeClock

    async def inside(self, work: Callable[[], Awaitable[T]]) -> T:
        """Await the work with the env in scope."""
        return await run_with_worker_env(self.env, work)

    async def publish(self, slug: str, repo_url: str, **fields: object) -> None:
        """A published skill from a repository."""
        await self.env.writes.commit(putting_skill(slug, repo_url=repo_url, **fields))

    async def round(self) -> dict[str, int]:
        """One round of looks, as the cron job makes it."""
        return await self.inside(look_at_repositories)

    async def health(self, repo_url: str) -> RepositoryHealth:
        """What is known of a repository that has been looked at."""
        found = await self.inside(lambda: health_of_repository(repo_url))
        assert found is not None
        return found

    async def events(self, kind: str = "repo.health_changed") -> list[Event]:
        """Every event of a kind."""
        return [event for event in (await self.env.events.read(0)).events if event.kind == kind]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def more_settings() -> dict[str, object]:
    """Settings that a test wants otherwise."""
    return {}


@pytest.fixture
async def registry(clock: FakeClock, tmp_path: Path, more_settings: dict[str, object]) -> AsyncIterator[Registry]:
    settings = {**LOOPBACK, **more_settings}
    engine = await open_memory(clock=clock)
    async with GitSource(convert_settings(settings), folder=tmp_path / "fetched") as source:
        yield Registry(make_env(engine, clock=clock, folder=tmp_path, source=source, **settings), clock)
    await engine.close()
