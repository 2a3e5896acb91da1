"""Scanners of other makes as the make stamps install them, below `.venv/scanners`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from vskill_platform.ports.second_opinions import ExternalScanner
from vskill_platform.scanning.external import open_scanners
from vskill_platform.settings import Settings

FOLDER = Path(__file__).parents[2] / ".venv" / "scanners"


def settings_for(names: str, *, data: Path, **given: Any) -> Settings:
    """Settings that switch these scanners on."""
    return Settings(data=str(data / "data"), scanners_folder=str(FOLDER), external_scanners=names, **given)


@asynccontextmanager
async def scanner_of(name: str, *, data: Path, **given: Any) -> AsyncIterator[ExternalScanner]:
    """One scanner, which has to be installed."""
    async with open_scanners(settings_for(name, data=data, **given)) as scanners:
        assert await scanners[name].unavailable_because() == ""
        yield scanners[name]
