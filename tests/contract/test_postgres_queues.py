"""The PostgreSQL engine under the contracts of queues, events and limiter."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from vskill_platform.engines.postgres import PostgresEngine, open_postgres
from vskill_platform.testing.by_hand_contract import ByHandContract
from vskill_platform.testing.check_contract import CheckContract
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.events_contract import EventsContract
from vskill_platform.testing.limiter_contract import LimiterContract
from vskill_platform.testing.queue_contract import QueueContract


@pytest.fixture
async def engine(postgres_url: str, clock: FakeClock) -> AsyncIterator[PostgresEngine]:
    opened = await open_postgres(postgres_url, clock=clock, uses_database_time=False)
    yield opened
    await opened.close()


class TestPostgresQueue(QueueContract):
    pass


class TestPostgresEvents(EventsContract):
    pass


class TestPostgresLimiter(LimiterContract):
    pass


class TestPostgresChecks(CheckContract):
    pass


class TestPostgresByHand(ByHandContract):
    pass
