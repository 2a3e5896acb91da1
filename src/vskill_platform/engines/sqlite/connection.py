"""Connections to the database file, and the driver's errors in the words of the house."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import structlog

from vskill_platform.domain.errors import (
    DatabaseNotOurs,
    DatabaseReadOnly,
    DiskFull,
    EngineClosed,
    InvalidInput,
    StoreUnavailable,
    VskillError,
)

_STATEMENTS_CACHED = 256
_BUSY_MS = 5000
_PAGE_BYTES = 8192
_log = structlog.get_logger(__name__)


def open_writer(path: Path, *, vfs: str | None = None) -> apsw.Connection:
    """The one connection that writes, on a file that only its user may read. Nothing in the file is changed yet."""
    if path.is_symlink():
        raise DatabaseNotOurs(f"{path} is a symbolic link. Point the data folder at the real one.", path=str(path))
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as exc:
        raise apsw.ReadOnlyError(str(exc)) from exc
    return _open(path, apsw.SQLITE_OPEN_READWRITE, vfs)


def configure_writer(connection: apsw.Connection, *, synchronous: str) -> None:
    """Set a file that is ours up for writing. Only this connection checkpoints."""
    connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
    mode = connection.execute("PRAGMA journal_mode = WAL").get
    if mode != "wal":
        raise apsw.CantOpenError(f"the journal mode is {mode}, not wal")
    connection.execute(f"PRAGMA synchronous = {synchronous}")
    connection.execute("PRAGMA mmap_size = 0")


def open_reader(path: Path, *, vfs: str | None = None) -> apsw.Connection:
    """A connection that cannot write and never checkpoints."""
    connection = _open(path, apsw.SQLITE_OPEN_READWRITE, vfs)
    connection.execute("PRAGMA query_only = 1")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute("PRAGMA mmap_size = 0")
    return connection


def _open(path: Path, flags: int, vfs: str | None) -> apsw.Connection:
    connection = apsw.Connection(str(path), flags=flags, vfs=vfs, statementcachesize=_STATEMENTS_CACHED)
    connection.set_busy_timeout(_BUSY_MS)
    return connection


def close_quietly(connection: apsw.Connection, path: Path) -> None:
    """Close a connection. A disk that fails meanwhile takes nothing back: what the log holds is read at the next start."""
    try:
        connection.close()
    except apsw.Error as exc:
        _log.warning("close_failed", path=str(path), error=str(exc))


def fetch_all(connection: apsw.Connection, sql: str, bindings: apsw.Bindings = ()) -> list[Any]:
    """Every row of a query. What the columns hold is the schema's word, which the types cannot see."""
    return connection.execute(sql, bindings).fetchall()


def fetch_one(connection: apsw.Connection, sql: str, bindings: apsw.Bindings = ()) -> Any | None:
    """The first row of a query, or None."""
    return connection.execute(sql, bindings).fetchone()


@contextmanager
def translated_errors(path: Path) -> Iterator[None]:
    """Turn what apsw raises into errors of the house."""
    try:
        with refused_values():
            yield
    except apsw.Error as exc:
        raise translate(exc, path) from exc


@contextmanager
def refused_values() -> Iterator[None]:
    """Turn what the driver says of a value it cannot store into an error of the house."""
    try:
        yield
    except (OverflowError, UnicodeEncodeError) as exc:
        raise InvalidInput(f"A value cannot be stored: {exc}. Text must be valid Unicode, numbers of 64 bits.") from exc


def translate(error: apsw.Error, path: Path) -> VskillError:
    """The error of the house that says what an apsw error means for the caller."""
    match error:
        case apsw.FullError():
            return DiskFull(f"The disk under {path} is full: the write was refused. Make room, then try again.")
        case apsw.NotADBError():
            return DatabaseNotOurs(f"{path} is not a database. Point the data folder elsewhere, or move the file away.")
        case apsw.ReadOnlyError() | apsw.CantOpenError() | apsw.PermissionsError():
            return DatabaseReadOnly(f"{path} cannot be opened for writing. Check the rights on it and on its folder.")
        case apsw.ConnectionClosedError():
            return EngineClosed("The engine was closed.")
        case _:
            return StoreUnavailable(f"The database {path} could not be used: {error}.", detail=type(error).__name__)


def translate_refusal(error: apsw.Error, path: Path) -> VskillError:
    """The same for a write to a file that was open for writing: what has become of it may pass, so it can be tried again."""
    match error:
        case apsw.ReadOnlyError() | apsw.CantOpenError() | apsw.PermissionsError():
            return StoreUnavailable(
                f"{path} can be written no more: the write was refused. See whether the disk has become read-only.",
                detail=type(error).__name__,
            )
        case _:
            return translate(error, path)
