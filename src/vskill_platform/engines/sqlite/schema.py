"""Brings a database file to the present schema, or refuses it."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import apsw

from vskill_platform.domain.errors import DatabaseFromFuture, DatabaseNotOurs

APPLICATION_ID = 0x76736B6C


def migrations() -> list[str]:
    """The SQL of every step, in order. Step n brings a file from version n - 1 to n."""
    folder = files("vskill_platform.engines.sqlite.migrations")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return [(folder / name).read_text() for name in names]


def migrate(connection: apsw.Connection, path: Path) -> None:
    """Take the file forward, each step in a transaction of its own. Raises for a file that is not ours or newer than us."""
    steps = migrations()
    version = check_ours(connection, path)
    for number, step in enumerate(steps[version:], start=version + 1):
        with connection:
            connection.execute(step)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {number}")


def check_ours(connection: apsw.Connection, path: Path) -> int:
    """The version of the schema in the file. Raises for a file that is not ours or newer than us, and changes nothing."""
    latest = len(migrations())
    application_id = connection.pragma("application_id")
    version = connection.pragma("user_version")
    is_empty = connection.execute("SELECT count(*) FROM sqlite_schema").get == 0
    if application_id != APPLICATION_ID and not (is_empty and application_id == 0 and version == 0):
        raise DatabaseNotOurs(
            f"{path} is a database of another program. Point the data folder elsewhere, or move the file away.",
            path=str(path),
        )
    if version > latest:
        raise DatabaseFromFuture(
            f"{path} has schema {version}; this version knows up to {latest}. Run the version that wrote it, or a newer one.",
            path=str(path),
            version=version,
        )
    return int(version)
