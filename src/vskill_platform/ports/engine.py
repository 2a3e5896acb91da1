"""An engine: one implementation of every port but the blobs."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from vskill_platform.ports.catalog import Catalog
from vskill_platform.ports.commit import Commit
from vskill_platform.ports.events import Events
from vskill_platform.ports.inventory import Inventory
from vskill_platform.ports.kv import KV
from vskill_platform.ports.limiter import Limiter
from vskill_platform.ports.queue import Queue


class Engine(Protocol):
    """The ports of one open engine. They share one state: a commit shows in all of them at once."""

    @property
    def kv(self) -> KV:
        """Reads. An engine also shows what else it can do by type: `BulkGet`, `Scan`, `DueIndex`."""
        ...

    @property
    def writes(self) -> Commit:
        """Commits."""
        ...

    @property
    def queue(self) -> Queue:
        """Queues."""
        ...

    @property
    def catalog(self) -> Catalog:
        """Lists, search and counts."""
        ...

    @property
    def events(self) -> Events:
        """The event log."""
        ...

    @property
    def limiter(self) -> Limiter:
        """Rate limits."""
        ...

    def inventory(self) -> AbstractAsyncContextManager[Inventory]:
        """Everything in the engine as of the moment the block begins, for as long as it lasts."""
        ...

    async def close(self) -> None:
        """Finish what was handed over, then refuse with EngineClosed. Closing twice is no error."""
        ...
