"""The SQLite engine: one file for records, queues, catalog and events, for one process on one machine."""

from vskill_platform.engines.sqlite.backup import copy_database
from vskill_platform.engines.sqlite.engine import SqliteEngine, open_sqlite
from vskill_platform.engines.sqlite.inventory import take_inventory

__all__ = ["SqliteEngine", "copy_database", "open_sqlite", "take_inventory"]
