"""What every contract run shares. Each test module opens the engine that it is about."""

import pytest

from vskill_platform.testing.clock import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    """The clock that the engine is opened with."""
    return FakeClock()
