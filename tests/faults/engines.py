"""The engines that fault runs are made on. A row that holds for all of them takes each from here, by its name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from vskill_platform.engines.sqlite import open_sqlite
from vskill_platform.ports.clock import Clock
from vskill_platform.ports.engine import Engine


@dataclass(frozen=True)
class EngineKind:
    """How a test gets an empty store of a kind, and how any process opens it by what it is called."""

    name: str
    make_store: Callable[[Path], AbstractContextManager[str]]
    open: Callable[[str, Clock], Awaitable[Engine]]
    is_shared: bool
    """Whether several processes may have it open."""
    environment: Callable[[str], dict[str, str]] = lambda location: {}
    """What tells the real command of the store, beside its data folder."""


@contextmanager
def _make_file(folder: Path) -> Iterator[str]:
    folder.mkdir(parents=True, exist_ok=True)
    yield str(folder / "registry.db")


async def _open_file(location: str, clock: Clock) -> Engine:
    return await open_sqlite(Path(location), clock=clock)


ENGINES = {kind.name: kind for kind in (EngineKind("sqlite", _make_file, _open_file, is_shared=False),)}
"""By name, as a child process is told it."""
