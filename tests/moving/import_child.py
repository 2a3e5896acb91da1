"""An import in a process of its own, for tests that kill it. Says a line for every step, and `done` at the end."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from vskill_platform.engines.blobs import BlobFolder
from vskill_platform.engines.sqlite import open_sqlite
from vskill_platform.moving.unpacking import House, import_registry
from vskill_platform.ports.clock import SystemClock


def _tell(doing: str, done: int, total: int | None) -> None:
    print(doing, done, flush=True)


async def _import(export: Path, data: Path) -> None:
    clock = SystemClock()
    engine = await open_sqlite(data / "registry.db", clock=clock)
    house = House(engine, BlobFolder(data / "blobs", clock=clock), clock)
    await import_registry(house, folder=export, progress=_tell)
    await engine.close()


if __name__ == "__main__":
    asyncio.run(_import(*map(Path, sys.argv[1:])))
    print("done", flush=True)
