"""The memory engine's ports, put together over one state."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from vskill_platform.domain.delivery import MAX_ATTEMPTS
from vskill_platform.engines.limiter import ProcessLimiter
from vskill_platform.engines.memory.catalog import MemoryCatalog
from vskill_platform.engines.memory.commit import MemoryCommit
from vskill_platform.engines.memory.events import MemoryEvents
from vskill_platform.engines.memory.inventory import MemoryInventory
from vskill_platform.engines.memory.kv import MemoryKV
from vskill_platform.engines.memory.queue import MemoryQueue
from vskill_platform.engines.memory.state import MemoryState
from vskill_platform.ports.clock import Clock


class MemoryEngine:
    """Every port over one MemoryState."""

    def __init__(self, clock: Clock, *, max_attempts: int = MAX_ATTEMPTS) -> None:
        self._state = MemoryState(clock, max_attempts=max_attempts)
        self.kv = MemoryKV(self._state)
        self.writes = MemoryCommit(self._state)
        self.queue = MemoryQueue(self._state)
        self.catalog = MemoryCatalog(self._state)
        self.events = MemoryEvents(self._state)
        self.limiter = ProcessLimiter(clock)

    @asynccontextmanager
    async def inventory(self) -> AsyncIterator[MemoryInventory]:
        """Everything as of now."""
        yield MemoryInventory(self._state)

    async def close(self) -> None:
        """Refuse every later call."""
        self._state.is_closed = True
        self.limiter.close()
        self._state.arrivals.notify()
        self._state.emissions.notify()


async def open_memory(*, clock: Clock, max_attempts: int = MAX_ATTEMPTS) -> MemoryEngine:
    """A fresh, empty engine."""
    return MemoryEngine(clock, max_attempts=max_attempts)
