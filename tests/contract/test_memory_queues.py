"""The memory engine under the contracts of queues, events and limiter."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from vskill_platform.engines.memory import MemoryEngine, open_memory
from vskill_platform.testing.by_hand_contract import ByHandContract
from vskill_platform.testing.check_contract import CheckContract
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.events_contract import EventsContract
from vskill_platform.testing.limiter_contract import LimiterContract
from vskill_platform.testing.queue_contract import QueueContract


@pytest.fixture
async def engine(clock: FakeClock) -> AsyncIterator[MemoryEngine]:
    opened = await open_memory(clock=clock)
    yield opened
    await opened.close()


class TestMemoryQueue(QueueContract):
    pass


class TestMemoryEvents(EventsContract):
    pass


class TestMemoryLimiter(LimiterContract):
    pass


class TestMemoryChecks(CheckContract):
    pass


class TestMemoryByHand(ByHandContract):
    pass
