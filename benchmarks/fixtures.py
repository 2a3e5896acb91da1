"""Databases of the sizes that the figures speak of."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import msgspec
from rich.progress import track

from vskill_platform.domain.catalog import CATALOG_FORM
from vskill_platform.domain.ids import MessageId, skill_key, submission_key
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE, ProcessSubmission, encode_message
from vskill_platform.domain.records import Submission
from vskill_platform.domain.recovery import due_ms
from vskill_platform.domain.skill import Skill
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.engines.postgres import PostgresEngine, open_postgres
from vskill_platform.engines.sqlite import SqliteEngine, open_sqlite
from vskill_platform.ports.clock import SystemClock
from vskill_platform.ports.commit import Operation, Put, Send
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.testing.envs import make_env
from vskill_platform.testing.postgres_server import PostgresServer

HOUR_MS = 3_600_000
_CHUNK = 2000


@contextmanager
def folder() -> Iterator[Path]:
    """A folder on the disk of the temporary folder, removed afterwards."""
    path = Path(tempfile.mkdtemp(prefix="vskill-bench-"))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


@asynccontextmanager
async def open_engine(path: Path, **options: object) -> AsyncIterator[SqliteEngine]:
    """A SQLite engine at a path, closed afterwards."""
    engine = await open_sqlite(path / "registry.db", clock=SystemClock(), **options)  # type: ignore[arg-type]
    try:
        yield engine
    finally:
        await engine.close()


@asynccontextmanager
async def open_on_server(server: PostgresServer, **options: object) -> AsyncIterator[PostgresEngine]:
    """A PostgreSQL engine on a fresh database of a server, closed afterwards."""
    async with open_at(server.url(server.create_database()), **options) as engine:
        yield engine


@asynccontextmanager
async def open_at(url: str, **options: object) -> AsyncIterator[PostgresEngine]:
    """A PostgreSQL engine on a database, closed afterwards."""
    engine = await open_postgres(url, **options)  # type: ignore[arg-type]
    try:
        yield engine
    finally:
        await engine.close()


@contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """A PostgreSQL server as it comes, which syncs, on the disk of the temporary folder."""
    server = PostgresServer()
    server.start()
    try:
        yield server
    finally:
        server.stop()


def env_over(engine: Engine, path: Path, **settings: object) -> WorkerEnv:
    """An env over the engine."""
    return make_env(engine, clock=SystemClock(), folder=path, **settings)


async def load(path: Path, count: int, operations: Callable[[int], list[Operation]], *, what: str) -> None:
    """Fill a fresh database: `operations(n)` for each n, many to a commit."""
    async with open_engine(path, synchronous="OFF") as engine:
        await load_into(engine, count, operations, what=what)
        await engine.catalog.set_form(CATALOG_FORM)  # or whoever opens it next would make every document anew


async def load_into(
    engine: Engine, count: int, operations: Callable[[int], list[Operation]], *, what: str, start: int = 0
) -> None:
    """Fill an engine: `operations(n)` for each n from `start` on, many to a commit."""
    starts = range(start, count, _CHUNK)
    for first in track(starts, description=f"loading {count:,} {what}", transient=True):
        numbers = range(first, min(first + _CHUNK, count))
        await engine.writes.commit([operation for number in numbers for operation in operations(number)])
        await asyncio.sleep(0)


def submission(number: int, state: SubmissionState, *, updated_ms: int, message_id: str | None = None) -> Submission:
    """A submission as large as real ones are."""
    moment = iso_from_ms(updated_ms)
    return Submission(
        id=f"sub_{number:032x}",
        repo_url=f"https://github.com/owner-{number % 5000}/repository-{number}",
        skill_name=f"skill-number-{number}",
        skill_path=f"plugins/some-plugin/skills/skill-number-{number}/SKILL.md",
        state=state,
        created_at=moment,
        updated_at=moment,
        message_id=message_id,
        history_length=4,
    )


def storing(record: Submission) -> Put:
    """The write of a submission, with its place in the due index."""
    value = msgspec.json.encode(record)
    return Put(submission_key(record.id), value, due_ms=due_ms(record.state, updated_ms=record.updated_ms))


async def load_submissions(path: Path, count: int, *, stuck: int) -> None:
    """Published submissions, and among them some that have been RECEIVED for an hour."""
    every = count // stuck
    await load(path, count, lambda n: settled(n, is_stuck=n % every == 0), what=f"submissions, {stuck} stuck")


def settled(number: int, *, is_stuck: bool) -> list[Operation]:
    """A submission that was published, or is still RECEIVED, since an hour."""
    state = SubmissionState.RECEIVED if is_stuck else SubmissionState.PUBLISHED
    return [storing(submission(number, state, updated_ms=SystemClock().now_ms() - HOUR_MS))]


async def load_waiting(path: Path, count: int) -> None:
    """Submissions that have stood in the queue for an hour: all due, none lost."""
    now_ms = SystemClock().now_ms()

    def operations(number: int) -> list[Operation]:
        message = f"msg_{number:032x}"
        record = submission(number, SubmissionState.RECEIVED, updated_ms=now_ms - HOUR_MS, message_id=message)
        body = encode_message(ProcessSubmission(submission_id=record.id, run=1))
        return [storing(record), Send(SUBMISSIONS_QUEUE, MessageId(message), body)]

    await load(path, count, operations, what="submissions in a long queue")


async def load_skills(path: Path, count: int) -> None:
    """Published skills, with an alias for every tenth."""

    def operations(number: int) -> list[Operation]:
        slug = f"owner-{number % 5000}/repository-{number}/skill"
        record = Skill(
            slug=slug,
            name=f"skill-number-{number}",
            repo_url=f"https://github.com/owner-{number % 5000}/repository-{number}",
            description="Reads the files of a project and writes a summary of what each of them is for. " * 3,
            version="1.0.4",
            score=97,
            published_at="2026-02-21T10:00:00.000Z",
            updated_at="2026-02-21T10:00:00.000Z",
        )
        alias = [Put(f"skill:alias:skill-number-{number}", slug.encode())] if number % 10 == 0 else []
        return [Put(skill_key(slug), msgspec.json.encode(record)), *alias]

    await load(path, count, operations, what="skills")
