"""An import in a process of its own, for tests that kill it. Says a line for every step, and `done` at the end."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from vskill_platform.app import import_from
from vskill_platform.settings import Settings


def _tell(doing: str, done: int, total: int | None) -> None:
    print(doing, done, flush=True)


if __name__ == "__main__":
    export, data = sys.argv[1:]
    asyncio.run(import_from(Settings(data=data), folder=Path(export), progress=_tell))
    print("done", flush=True)
