"""The SQLite engine under the contracts of queues, events and limiter."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from vskill_platform.engines.sqlite import SqliteEngine, open_sqlite
from vskill_platform.testing.by_hand_contract import ByHandContract
from vskill_platform.testing.check_contract import CheckContract
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.events_contract import EventsContract
from vskill_platform.testing.limiter_contract import LimiterContract
from vskill_platform.testing.queue_contract import QueueContract


@pytest.fixture
async def engine(tmp_path: Path, clock: FakeClock) -> AsyncIterator[SqliteEngine]:
    opened = await open_sqlite(tmp_path / "registry.db", clock=clock, synchronous="OFF")
    yield opened
    await opened.close()


class TestSqliteQueue(QueueContract):
    pass


class TestSqliteEvents(EventsContract):
    pass


class TestSqliteLimiter(LimiterContract):
    pass


class TestSqliteChecks(CheckContract):
    pass


class TestSqliteByHand(ByHandContract):
    pass
