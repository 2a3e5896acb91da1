"""Worker processes on one PostgreSQL database, and submissions for them whose bytes are pinned already."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from vskill_platform.domain.content import SkillContent, SkillFile
from vskill_platform.domain.records import Pin
from vskill_platform.domain.submission import Actor
from vskill_platform.pipeline.pinning import pin_content
from vskill_platform.pipeline.runs import starting_first_run
from vskill_platform.ports.commit import Operation
from vskill_platform.settings import PREFIX, Settings
from vskill_platform.testing.postgres_server import PostgresServer

COMMIT = "0" * 40
_STOP_S = 60.0


@dataclass(frozen=True, slots=True)
class Place:
    """A database and a data folder that processes share."""

    server: PostgresServer
    database: str
    data: Path

    def settings(self, **others: object) -> Settings:
        """The settings of a process there."""
        return Settings(database_url=self.server.url(self.database), data=str(self.data), **others)  # type: ignore[arg-type]

    def count(self, sql: str) -> int:
        """The number that a statement gives."""
        return int(self.server.execute(sql, database=self.database))


@asynccontextmanager
async def running_workers(place: Place, count: int, *, work: str, **settings: object) -> AsyncIterator[list[int]]:
    """So many worker processes that are up, each with this work of `benchmarks.worker`; gives their process ids.

    They are told to drain at the end, and must end well.
    """
    given = {"data": place.data, "database_url": place.server.url(place.database), "log_level": "error", **settings}
    environment = {**os.environ, **{f"{PREFIX}{name.upper()}": str(value) for name, value in given.items()}}
    async with AsyncExitStack() as stack:
        starting = [_worker(work, environment) for _ in range(count)]
        processes = await asyncio.gather(*(stack.enter_async_context(one) for one in starting))
        yield [process.pid for process in processes]


@asynccontextmanager
async def _worker(work: str, environment: dict[str, str]) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "benchmarks.worker", work, "worker",
        env=environment, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stderr is not None
    said = b""
    try:
        while b" is up" not in said:
            line = await process.stderr.readline()
            said += line
            if not line:
                raise RuntimeError(f"A worker did not start: {said.decode()}")
        reading = asyncio.create_task(process.stderr.read())
        yield process
        process.terminate()
        async with asyncio.timeout(_STOP_S):
            code, rest = await process.wait(), await reading
        if code != 0:
            raise RuntimeError(f"A worker ended with {code}: {rest.decode()}")
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def pin_skill(name: str) -> Pin:
    """The pin of a small skill, whose archive is in the blobs of the env in scope."""
    text = f"---\nname: {name}\ndescription: Greets people in the manner of {name}.\n---\n\n" + "Be kind.\n" * 50
    content = SkillContent(files=(SkillFile(path="SKILL.md", content=text.encode()),))
    return (await pin_content(content, commit=COMMIT)).pin


def submitting(name: str, pin: Pin) -> list[Operation]:
    """What brings a submission of pinned bytes into being, message included: nothing has to be fetched for it."""
    _, operations = starting_first_run(
        f"https://github.com/acme/{name}", skill_name=name, skill_path=name, actor=Actor.SYSTEM, pin=pin, commit=COMMIT
    )
    return operations
