"""What every contract run shares. Each test module opens the engine that it is about."""

import pytest

from vskill_platform.testing.clock import FakeClock

pytest.register_assert_rewrite(
    "vskill_platform.testing.blobs_contract",
    "vskill_platform.testing.builders",
    "vskill_platform.testing.catalog_contract",
    "vskill_platform.testing.check_contract",
    "vskill_platform.testing.commit_contract",
    "vskill_platform.testing.events_contract",
    "vskill_platform.testing.inventory_contract",
    "vskill_platform.testing.kv_capabilities_contract",
    "vskill_platform.testing.kv_contract",
    "vskill_platform.testing.limiter_contract",
    "vskill_platform.testing.queue_contract",
)


@pytest.fixture
def clock() -> FakeClock:
    """The clock that the engine is opened with."""
    return FakeClock()
