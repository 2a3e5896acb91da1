"""Steps of a submission's journey, as tests take them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from vskill_platform.domain.errors import StoreUnavailable
from vskill_platform.domain.messages import EXTERNAL_SCANS_QUEUE, SUBMISSIONS_QUEUE
from vskill_platform.domain.records import HistoryEntry, Submission
from vskill_platform.ingest.git import GitSource
from vskill_platform.pipeline.intake import Intake, submit_repository
from vskill_platform.pipeline.process import process_message
from vskill_platform.ports.clock import SystemClock
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.ports.queue import MessageBatch
from vskill_platform.ports.scanner import Scanner
from vskill_platform.scanning.pool import ScannerPool
from vskill_platform.settings import convert_settings
from vskill_platform.stores.submissions import get_history, get_submission
from vskill_platform.testing.envs import make_env
from vskill_platform.testing.git_repos import BareRepository, Files
from vskill_platform.testing.git_server import serve_repositories
from vskill_platform.worker.consumer import handle_submission_queue
from vskill_platform.worker.external import handle_external_queue
from vskill_platform.worker.loop import Handler
from vskill_platform.worker_context import run_with_worker_env

T = TypeVar("T")
LOOPBACK = {"allow_private_addresses": True, "git_protocols": "http", "scan_processes": 1, "fetch_time_limit_s": 20}


def skill_md(name: str = "greeting", body: str = "Greet the user by name.", **fields: str) -> bytes:
    """A SKILL.md that nothing is wrong with."""
    more = "".join(f"{key}: {value}\n" for key, value in fields.items())
    return f"---\nname: {name}\ndescription: Greets people politely.\n{more}---\n\n# Greeting\n\n{body}\n".encode()


@dataclass
class Journey:
    """A registry and a git server; everything goes through the registry's own doors."""

    env: WorkerEnv
    repositories: Path
    address: str

    def repository(self, name: str, files: Files) -> BareRepository:
        """A repository `owner/name` that the server serves."""
        path = self.repositories / f"{name}.git"
        path.parent.mkdir(parents=True, exist_ok=True)
        repository = BareRepository(path)
        repository.commit(files)
        return repository

    def url(self, name: str) -> str:
        """Where the repository is."""
        return f"{self.address}/{name}"

    async def inside(self, work: Callable[[], Awaitable[T]]) -> T:
        """Await the work with the env in scope."""
        return await run_with_worker_env(self.env, work)

    async def submit(self, name: str, *, skill: str = "") -> Intake:
        """Submit a repository of the server."""
        return await self.inside(lambda: submit_repository(self.url(name), skill_name=skill))

    async def work(self) -> int:
        """Deliver everything that can be delivered now, and what comes of it. Says how many messages that were."""
        return await self.deliver(SUBMISSIONS_QUEUE, handle_submission_queue)

    async def work_externally(self) -> int:
        """Run every external scan that can be run now. Says how many messages that were."""
        return await self.deliver(EXTERNAL_SCANS_QUEUE, handle_external_queue)

    async def deliver(self, queue: str, handler: Handler) -> int:
        """Hand what a queue has to its handler until it has no more. Says how many messages that were."""
        delivered = 0
        while True:
            messages = await self.env.queue.receive(queue, max_messages=3, lease_s=60)
            if not messages:
                return delivered
            batch = MessageBatch(queue, messages)
            try:
                await handler(batch, self.env)
            except StoreUnavailable as error:
                batch.close(error)
            else:
                batch.close()
            left = [message for message in messages if not message.is_settled]
            commits = [[message.settlement] for message in left if message.settlement is not None]
            await self.env.queue.exchange(queue, commits, max_messages=0, lease_s=1)
            delivered += len(messages)

    async def take_through(self, name: str, *, skill: str = "") -> list[Submission]:
        """Submit a repository and work until all is decided: the submissions of its skills, or its own if it has none."""
        intake = await self.submit(name, skill=skill)
        await self.work()
        parent = await self.read(intake.submission.id)
        return [await self.read(child) for child in parent.children] or [parent]

    async def publish(self, name: str, files: Files) -> Submission:
        """A repository with one skill, published."""
        self.repository(name, files)
        (submission,) = await self.take_through(name)
        assert submission.state == "PUBLISHED", (submission.reason, await self.history(submission.id))
        return submission

    async def read(self, identity: str) -> Submission:
        """The submission as it is stored."""
        return (await self.inside(lambda: get_submission(identity))).submission

    async def history(self, identity: str) -> list[HistoryEntry]:
        """Every step it took."""
        return list(await self.inside(lambda: get_history(identity)))

    async def events(self) -> list[tuple[str, str]]:
        """Kind and subject of every event."""
        page = await self.env.events.read(0)
        return [(event.kind, event.subject) for event in page.events]

    def with_env(self, **bindings: object) -> Journey:
        """The same with other bindings."""
        return replace(self, env=replace(self.env, **bindings))


@asynccontextmanager
async def open_journey(
    engine: Engine, folder: Path, *, scanner: Scanner | None = None, **settings: object
) -> AsyncIterator[Journey]:
    """A registry over this engine with everything else in a folder: a git server, a source, and a scanner of its own."""
    chosen = {**LOOPBACK, **settings}
    repositories = folder / "repositories"
    repositories.mkdir()
    async with AsyncExitStack() as stack:
        address = await stack.enter_async_context(serve_repositories(repositories))
        source = await stack.enter_async_context(GitSource(convert_settings(chosen), folder=folder / "fetched"))
        if scanner is None:
            scanner = await stack.enter_async_context(ScannerPool(convert_settings(chosen)))
        env = make_env(
            engine,
            clock=SystemClock(),
            folder=folder,
            source=source,
            scanner=scanner,
            process=process_message,
            **chosen,
        )
        yield Journey(env=env, repositories=repositories, address=address)
