"""A look at a database file that changes nothing there, also while another process works on it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import apsw

from vskill_platform.engines.sqlite.connection import translated_errors
from vskill_platform.engines.sqlite.schema import check_ours, migrations


class SqliteFacts(NamedTuple):
    """What a file says about itself."""

    library: str
    schema_step: int
    known_step: int


def inspect_sqlite(path: Path) -> SqliteFacts:
    """Look at the file, read-only. Raises EngineRefused for one that is not ours, and StoreUnavailable."""
    with translated_errors(path):
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            connection.set_busy_timeout(1000)
            return SqliteFacts(apsw.sqlite_lib_version(), check_ours(connection, path), len(migrations()))
        finally:
            connection.close()
