"""The engine and the blobs that the settings ask for. Drivers are imported when they are called for."""

from __future__ import annotations

import socket
from pathlib import Path

from vskill_platform.domain.errors import DriverNotInstalled, NotFound, SingleProcessEngine
from vskill_platform.engines.blobs import BlobFolder
from vskill_platform.engines.sqlite import open_sqlite
from vskill_platform.ports.blobs import Blobs
from vskill_platform.ports.clock import Clock
from vskill_platform.ports.engine import Engine
from vskill_platform.settings import Settings

DATABASE_NAME = "registry.db"
BLOBS_NAME = "blobs"
APPLICATION_NAME = "vskill-platform"


def database_path(settings: Settings) -> Path:
    """The SQLite file in the data folder, whether or not it is there."""
    return Path(settings.data) / DATABASE_NAME


def require_registry(settings: Settings) -> None:
    """Raise NotFound where the data folder would hold the registry and does not."""
    if not settings.database_url and not database_path(settings).exists():
        raise NotFound(f"There is no registry in '{settings.data}'. Start one with: vskill-platform up --data DIR")


async def open_engine(settings: Settings, *, clock: Clock, role: str) -> Engine:
    """PostgreSQL where the settings name a database, else SQLite in the data folder. The caller closes it.

    PostgreSQL shows the role and the machine beside each connection, so that an operator sees whose it is.
    """
    if not settings.database_url:
        return await open_sqlite(
            database_path(settings),
            clock=clock,
            max_attempts=settings.max_attempts,
            synchronous=settings.sqlite_synchronous,
        )
    from vskill_platform.engines.postgres import open_postgres

    return await open_postgres(
        settings.database_url,
        clock=clock,
        max_attempts=settings.max_attempts,
        application_name=f"{APPLICATION_NAME} {role} {socket.gethostname()}"[:63],
        pool_size=settings.database_pool_size,
        statement_timeout_s=settings.database_statement_limit_s,
    )


def open_blobs(settings: Settings, *, clock: Clock) -> Blobs:
    """The object store that the settings name, else a folder in the data folder."""
    if not settings.blobs_url:
        return BlobFolder(Path(settings.data) / BLOBS_NAME, clock=clock)
    try:
        from vskill_platform.engines.blobs.object_store import open_object_store
    except ModuleNotFoundError as exc:
        raise DriverNotInstalled(
            f"The settings ask for an object store, and its library is not installed ({exc.name}). "
            'Install it with: pip install "vskill-platform[s3]"',
            module=exc.name,
        ) from exc
    return open_object_store(
        settings.blobs_url,
        clock=clock,
        endpoint=settings.blobs_endpoint,
        region=settings.blobs_region,
        access_key_id=settings.blobs_access_key_id,
        secret_access_key=settings.blobs_secret_access_key,
    )


def require_many_processes(settings: Settings, *, command: str) -> None:
    """Raise SingleProcessEngine unless the settings name an engine that several processes can share."""
    if not settings.database_url:
        raise SingleProcessEngine(
            f"`{command}` is one process of several, and SQLite serves only one. Run `vskill-platform up`, which is all of "
            "them in one process, or name a PostgreSQL database in VSKILL_PLATFORM_DATABASE_URL.",
            command=command,
        )
