"""Envs for tests: a real engine, a real blob folder, and whatever the test wants otherwise."""

from __future__ import annotations

from pathlib import Path

from vskill_platform.engines.blobs import BlobFolder
from vskill_platform.ports.clock import Clock
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.env import ProcessMessage, WorkerEnv
from vskill_platform.ports.kv import KV
from vskill_platform.ports.scanner import Scanner
from vskill_platform.ports.source import Source
from vskill_platform.settings import convert_settings
from vskill_platform.testing.processing import NoScanner, NoSource, review_everything


def make_env(
    engine: Engine,
    *,
    clock: Clock,
    folder: Path,
    kv: KV | None = None,
    source: Source | None = None,
    scanner: Scanner | None = None,
    process: ProcessMessage = review_everything,
    **settings: object,
) -> WorkerEnv:
    """An env over an engine; keyword arguments that are left over are settings.

    Without a source and a scanner the work on a message is `review_everything`, which needs neither.
    """
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
        source=source or NoSource(),
        scanner=scanner or NoScanner(),
        process=process,
    )
