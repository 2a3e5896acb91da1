"""A copy of a database file, taken while the registry runs, of one moment, and checked."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import apsw

from vskill_platform.domain.errors import BackupDamaged
from vskill_platform.engines.sqlite.connection import fetch_all, open_reader, translated_errors
from vskill_platform.engines.sqlite.schema import check_ours

_PAGES_AT_A_TIME = 1000


def copy_database(source: Path, target: Path, *, on_pages: Callable[[int, int], None]) -> None:
    """Copy a file into a new one. `on_pages` hears how many pages are copied, and of how many.

    The source is read in one read transaction, which keeps the copy to one moment and is not restarted by what is written
    meanwhile. Raises BackupDamaged where the copy does not pass SQLite's integrity check.
    """
    os.close(os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    with translated_errors(source):
        reader = open_reader(source)
        try:
            reader.execute("BEGIN")
            check_ours(reader, source)
            _copy(reader, target, on_pages)
        finally:
            reader.close()


def _copy(reader: apsw.Connection, target: Path, on_pages: Callable[[int, int], None]) -> None:
    writer = apsw.Connection(str(target), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        with writer.backup("main", reader, "main") as backup:
            while not backup.done:
                backup.step(_PAGES_AT_A_TIME)
                on_pages(backup.page_count - backup.remaining, backup.page_count)
        found = [line for (line,) in fetch_all(writer, "PRAGMA integrity_check")]
        if found != ["ok"]:
            raise BackupDamaged(f"The copy {target} is damaged: {found[0]}. Look at the disk, and do not use the copy.")
    finally:
        writer.close()
