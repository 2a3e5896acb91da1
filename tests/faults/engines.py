"""The engines that fault runs are made on. A row that holds for all of them takes each from here, by its name."""

from __future__ import annotations

import asyncio
import atexit
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from vskill_platform.engines.postgres import open_postgres
from vskill_platform.engines.sqlite import open_sqlite
from vskill_platform.ports.clock import Clock, SystemClock
from vskill_platform.ports.engine import Engine
from vskill_platform.testing.postgres_server import PostgresServer


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


@cache
def safe_server() -> PostgresServer:
    """The server of this test process for whatever may crash: it syncs what it acknowledges."""
    server = PostgresServer(is_safe=True)
    atexit.register(server.stop)
    server.start()
    return server


@cache
def _template() -> str:
    """A database with the schema, of which copies are made."""
    name = safe_server().create_database()
    asyncio.run(_open_and_close(safe_server().url(name)))
    return name


async def _open_and_close(url: str) -> None:
    await (await open_postgres(url)).close()


@contextmanager
def _make_database(folder: Path) -> Iterator[str]:
    folder.mkdir(parents=True, exist_ok=True)
    server = safe_server()
    name = server.create_database(template=_template_from_any_thread())
    yield server.url(name)
    server.drop_database(name)


def _template_from_any_thread() -> str:
    """Tests of coroutines have a loop already; the schema is made in another thread."""
    if _template.cache_info().currsize:
        return _template()
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(_template).result()


async def _open_database(location: str, clock: Clock) -> Engine:
    """By the database's time, as it is; a test with a clock of its own has the database go by that."""
    return await open_postgres(location, clock=clock, uses_database_time=isinstance(clock, SystemClock))


ENGINES = {
    kind.name: kind
    for kind in (
        EngineKind("sqlite", _make_file, _open_file, is_shared=False),
        EngineKind(
            "postgres",
            _make_database,
            _open_database,
            is_shared=True,
            environment=lambda location: {"VSKILL_PLATFORM_DATABASE_URL": location},
        ),
    )
}
"""By name, as a child process is told it."""
