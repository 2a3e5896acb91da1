"""The WorkerEnv of a process, made of what the settings ask for."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from vskill_platform.app.metering import MeteredCommit
from vskill_platform.app.stores import database_path, open_blobs, open_engine
from vskill_platform.ingest.git import GitSource
from vskill_platform.moving.catalog import renew_catalog
from vskill_platform.moving.unpacking import refuse_unfinished
from vskill_platform.pipeline.process import process_message
from vskill_platform.ports.clock import SystemClock
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.ports.second_opinions import ExternalScanner
from vskill_platform.scanning.external import open_scanners
from vskill_platform.scanning.pool import ScannerPool
from vskill_platform.scanning.tier2 import open_judge
from vskill_platform.settings import Settings
from vskill_platform.worker_context import run_with_worker_env

FETCH_NAME = "fetch"

__all__ = ["database_path", "open_env"]


@asynccontextmanager
async def open_env(settings: Settings, *, is_working: bool = False, role: str = "command") -> AsyncIterator[WorkerEnv]:
    """The env that the settings ask for, closed at the end. Raises EngineRefused where the engine cannot be had.

    An env that is to work on submissions has its fetching and scanning started. Another starts fetching when it has to ask a
    repository for its newest commit, as it does for a submission that comes again.
    """
    folder = Path(settings.data)
    clock = SystemClock()
    blobs = open_blobs(settings, clock=clock)
    engine = await open_engine(settings, clock=clock, role=role)
    source, scanner = GitSource(settings, folder=folder / FETCH_NAME), ScannerPool(settings)
    try:
        await refuse_unfinished(engine.kv)
        async with AsyncExitStack() as stack:
            stack.push_async_callback(source.close)
            external: Mapping[str, ExternalScanner] = {}
            if is_working:
                await source.open()
                await stack.enter_async_context(scanner)
                external = await stack.enter_async_context(open_scanners(settings))
            judge = await stack.enter_async_context(open_judge(settings, clock=clock)) if is_working else None
            env = WorkerEnv(
                kv=engine.kv,
                writes=MeteredCommit(engine.writes),
                queue=engine.queue,
                catalog=engine.catalog,
                events=engine.events,
                blobs=blobs,
                limiter=engine.limiter,
                clock=clock,
                settings=settings,
                source=source,
                scanner=scanner,
                process=process_message,
                judge=judge,
                external=external,
            )
            await run_with_worker_env(env, renew_catalog)
            yield env
    finally:
        await engine.close()
