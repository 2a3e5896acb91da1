"""What the engine below did: it could not be reached, or will not open what it was pointed at."""

from __future__ import annotations

from vskill_platform.domain.errors.base import VskillError


class StoreUnavailable(VskillError):
    """The store could not be read or written. It says nothing about what is in it."""

    code = "store_unavailable"
    retryable = True


class DiskFull(StoreUnavailable):
    """The disk is full: the write was refused and nothing of it was kept."""

    code = "disk_full"


class EngineClosed(StoreUnavailable):
    """The engine was closed before the call was carried out."""

    code = "engine_closed"


class EngineRefused(VskillError):
    """The engine will not open what it was pointed at."""

    code = "engine_refused"


class DataFolderOwned(EngineRefused):
    """Another process owns the data folder."""

    code = "data_folder_owned"


class DatabaseNotOurs(EngineRefused):
    """The file is not a database of this program."""

    code = "database_not_ours"


class DatabaseFromFuture(EngineRefused):
    """The database was written by a newer version of this program."""

    code = "database_from_future"


class DatabaseReadOnly(EngineRefused):
    """The database file or its folder cannot be written."""

    code = "database_read_only"


class DatabaseOutdated(EngineRefused):
    """The database has an older schema, and this command does not change it."""

    code = "database_outdated"


class SingleProcessEngine(EngineRefused):
    """The engine serves one process, and several were asked for: `up` runs everything in one, PostgreSQL serves many."""

    code = "engine_single_process"


class DriverNotInstalled(EngineRefused):
    """The settings ask for an object store, and the library for it is not installed."""

    code = "driver_not_installed"
