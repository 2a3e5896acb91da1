"""What the fault runs share."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.faults.figures import FIGURE, Tell


@pytest.fixture
def tell(record_property: Callable[[str, object], None]) -> Tell:
    """Keeps a figure of this test; pytest prints it at the end."""

    def keep(line: str) -> None:
        record_property(FIGURE, line)

    return keep
