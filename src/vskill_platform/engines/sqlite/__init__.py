"""The SQLite engine: one file for records, queues, catalog and events, for one process on one machine."""

from vskill_platform.engines.sqlite.backup import copy_database
from vskill_platform.engines.sqlite.engine import SqliteEngine, open_sqlite
from vskill_platform.engines.sqlite.inventory import take_inventory
from vskill_platform.engines.sqlite.ownership import find_owner

__all__ = ["SqliteEngine", "copy_database", "find_owner", "open_sqlite", "take_inventory"]
