"""The composition root: reads Settings, opens an engine, builds the WorkerEnv. The only module that names engines."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path

import structlog
import uvicorn
from litestar.types import ASGIApp

from vskill_platform.domain.errors import AddressUnavailable, NotFound
from vskill_platform.domain.scan import Severity
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.engines.blobs import BlobFolder
from vskill_platform.engines.sqlite import SqliteEngine, copy_database, find_owner, open_sqlite, take_inventory
from vskill_platform.ingest.git import GitSource
from vskill_platform.moving.backup import Backup, copy_blobs, describe_backup, write_description
from vskill_platform.moving.manifest import Manifest, make_folder
from vskill_platform.moving.packing import export_registry
from vskill_platform.moving.progress import Progress
from vskill_platform.moving.unpacking import House, import_registry, refuse_unfinished
from vskill_platform.pipeline.process import process_message
from vskill_platform.ports.clock import Clock, SystemClock
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.scanning.pool import ScannerPool
from vskill_platform.scanning.tier1.packs import load_rules
from vskill_platform.scanning.tier1.rules import Ruleset
from vskill_platform.settings import Settings
from vskill_platform.web.app import create_control_app, create_web_app
from vskill_platform.worker.cron import Cron
from vskill_platform.worker.loop import ConsumerLoop

DATABASE_NAME = "registry.db"
BLOBS_NAME = "blobs"
FETCH_NAME = "fetch"
SOCKET_NAME = "control.sock"
_log = structlog.get_logger(__name__)


@asynccontextmanager
async def open_env(settings: Settings, *, is_working: bool = False) -> AsyncIterator[WorkerEnv]:
    """The env that the settings ask for, closed at the end. Raises EngineRefused where the data folder cannot be had.

    An env that is to work on submissions has its fetching and scanning started; one that is only to be looked at has not.
    """
    folder = Path(settings.data)
    clock = SystemClock()
    engine = await _open_engine(settings, clock=clock)
    source, scanner = GitSource(settings, folder=folder / FETCH_NAME), ScannerPool(settings)
    try:
        await refuse_unfinished(engine.kv)
        async with AsyncExitStack() as stack:
            if is_working:
                await stack.enter_async_context(source)
                await stack.enter_async_context(scanner)
            yield WorkerEnv(
                kv=engine.kv,
                writes=engine.writes,
                queue=engine.queue,
                catalog=engine.catalog,
                events=engine.events,
                blobs=_open_blobs(settings, clock=clock),
                limiter=engine.limiter,
                clock=clock,
                settings=settings,
                source=source,
                scanner=scanner,
                process=process_message,
            )
    finally:
        await engine.close()


async def _open_engine(settings: Settings, *, clock: Clock) -> SqliteEngine:
    return await open_sqlite(
        database_path(settings),
        clock=clock,
        max_attempts=settings.max_attempts,
        synchronous=settings.sqlite_synchronous,
    )


def _open_blobs(settings: Settings, *, clock: Clock) -> BlobFolder:
    return BlobFolder(Path(settings.data) / BLOBS_NAME, clock=clock)


def database_path(settings: Settings) -> Path:
    """The database file in the data folder, whether or not it is there."""
    return Path(settings.data) / DATABASE_NAME


def control_socket(settings: Settings) -> Path | None:
    """The control socket of the process that owns the data folder; None when nobody does."""
    folder = Path(settings.data)
    return None if find_owner(folder) is None else folder / SOCKET_NAME


async def run_registry(
    settings: Settings, *, on_ready: Callable[[str], None], stopping: asyncio.Event | None = None
) -> None:
    """Serve, consume and sweep in one process until SIGTERM or SIGINT, then drain. `on_ready` gets the address.

    With an event of the caller's, that ends it and signals are left alone.

    A second signal ends the process at once; what it was doing is done again at the next start.
    """
    async with open_env(settings, is_working=True) as env:
        _tell_rules(load_rules(settings.rules_folder))
        worker, cron = ConsumerLoop(env), Cron(env)
        apps = [create_web_app(env), create_control_app(env)]
        public, control = _listen(settings), _listen_control(Path(settings.data))
        servers = [_Server(_web_config(app, settings)) for app in apps]
        stopping = stopping or _stop_on_signals()
        async with asyncio.TaskGroup() as group:
            for server, listener in zip(servers, (public, control), strict=True):
                group.create_task(server.serve(sockets=[listener]))
            group.create_task(worker.run())
            group.create_task(cron.run())
            on_ready(_address(public))
            await stopping.wait()
            _log.info("draining", grace_s=settings.drain_grace_s)
            worker.stop()
            cron.stop()
            for server in servers:
                server.should_exit = True
        (Path(settings.data) / SOCKET_NAME).unlink(missing_ok=True)


def _tell_rules(ruleset: Ruleset) -> None:
    """Log which rules are in force where they are not the bundled ones, and warn of those that are off."""
    if ruleset.pack:
        _log.info("rules_loaded", version=ruleset.version, files=[file.name for file in ruleset.pack])
    if ruleset.off:
        critical = [rule.id for rule in ruleset.off.values() if rule.severity is Severity.CRITICAL]
        _log.warning("rules_switched_off", rules=list(ruleset.off), critical=critical)


async def export_to(settings: Settings, *, folder: Path, progress: Progress) -> Manifest:
    """Export the registry of the settings as of this moment, whether or not it runs. It is read, and never owned."""
    clock = SystemClock()
    require_registry(settings)
    now_ms = clock.now_ms()
    async with take_inventory(database_path(settings), now_ms=now_ms, max_attempts=settings.max_attempts) as inventory:
        blobs = _open_blobs(settings, clock=clock)
        return await export_registry(inventory, blobs, folder=folder, now_ms=now_ms, progress=progress)


async def import_from(settings: Settings, *, folder: Path, progress: Progress) -> Manifest:
    """Import an export into the registry of the settings. Raises DataFolderOwned where that runs."""
    clock = SystemClock()
    engine = await _open_engine(settings, clock=clock)
    try:
        house = House(engine, _open_blobs(settings, clock=clock), clock)
        return await import_registry(house, folder=folder, progress=progress)
    finally:
        await engine.close()


async def back_up_to(settings: Settings, *, folder: Path, progress: Progress) -> Backup:
    """Copy the registry of the settings into a new data folder, whether or not it runs."""
    clock = SystemClock()
    require_registry(settings)
    make_folder(folder)
    copy, blobs, now_ms = folder / DATABASE_NAME, BlobFolder(folder / BLOBS_NAME, clock=clock), clock.now_ms()
    await asyncio.to_thread(
        copy_database, database_path(settings), copy, on_pages=partial(progress, "copying pages of the database")
    )
    copied = await copy_blobs(_open_blobs(settings, clock=clock), blobs, progress=progress)
    made_at = iso_from_ms(now_ms)
    async with take_inventory(copy, now_ms=now_ms, max_attempts=settings.max_attempts) as inventory:
        backup = await describe_backup(
            inventory, blobs, database=copy, made_at=made_at, copied=copied, progress=progress
        )
    write_description(folder, backup)
    return backup


def require_registry(settings: Settings) -> None:
    """Raise NotFound where the data folder holds no registry."""
    if not database_path(settings).exists():
        raise NotFound(f"There is no registry in '{settings.data}'. Start one with: vskill-platform up --data DIR")


@asynccontextmanager
async def serving(app: ASGIApp) -> AsyncIterator[str]:
    """An application on a free loopback port, for as long as the block lasts. Gives its address."""
    settings = Settings(port=0)
    listener = _listen(settings)
    server = _Server(_web_config(app, settings))
    async with asyncio.TaskGroup() as group:
        group.create_task(server.serve(sockets=[listener]))
        try:
            yield _address(listener)
        finally:
            server.should_exit = True


class _Server(uvicorn.Server):
    """A server that leaves the signals to us: they stop the worker too, and in order."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


def _web_config(web: ASGIApp, settings: Settings) -> uvicorn.Config:
    return uvicorn.Config(
        web,
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="off",
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=settings.trusted_proxies,
        timeout_graceful_shutdown=max(1, int(settings.drain_grace_s)),
    )


def _listen(settings: Settings) -> socket.socket:
    try:
        family = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][
            0
        ]
        listener = socket.create_server((settings.host, settings.port), family=family, backlog=1024)
    except OSError as exc:
        raise AddressUnavailable(
            f"Cannot listen on {settings.host}:{settings.port} ({exc.strerror}). "
            "Choose another with --host or --port, or stop what is using it.",
            host=settings.host,
            port=settings.port,
        ) from exc
    listener.setblocking(False)
    return listener


def _listen_control(folder: Path) -> socket.socket:
    """The control socket. Whoever may open it may steer the registry, so nobody but its user may."""
    path = folder / SOCKET_NAME
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o177)
    try:
        listener.bind(str(path))
    except OSError as exc:
        listener.close()
        raise AddressUnavailable(f"Cannot make the control socket {path} ({exc}). Use a shorter --data path.") from exc
    finally:
        os.umask(mask)
    listener.listen()
    listener.setblocking(False)
    return listener


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _stop_on_signals() -> asyncio.Event:
    """An event that the first SIGTERM or SIGINT sets; the next one has its ordinary effect."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()

    def stop() -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)
        stopping.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    return stopping
