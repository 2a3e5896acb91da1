"""Envs for tests: a real engine, a real blob folder, and whatever the test wants otherwise."""

from __future__ import annotations

from pathlib import Path

from vskill_platform.engines.blobs import BlobFolder
from vskill_platform.pipeline.process import process_message
from vskill_platform.ports.clock import Clock
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.env import ProcessMessage, WorkerEnv
from vskill_platform.ports.kv import KV
from vskill_platform.settings import convert_settings


def make_env(
    engine: Engine,
    *,
    clock: Clock,
    folder: Path,
    kv: KV | None = None,
    process: ProcessMessage = process_message,
    **settings: object,
) -> WorkerEnv:
    """An env over an engine; keyword arguments that are left over are settings."""
    return WorkerEnv(
        kv=engine.kv if kv is None else kv,
        writes=engine.writes,
        queue=engine.queue,
        catalog=engine.catalog,
        events=engine.events,
        blobs=BlobFolder(folder / "blobs", clock=clock),
        limiter=engine.limiter,
        clock=clock,
        settings=convert_settings(settings),
        process=process,
    )
