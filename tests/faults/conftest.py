"""What the fault runs share."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.faults.figures import FIGURE, Tell

_IN_MEMORY = Path("/dev/shm")


@pytest.fixture
def quick_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one: for disks that are played, whose real syncs tell nothing and take their time."""
    with tempfile.TemporaryDirectory(dir=_IN_MEMORY if _IN_MEMORY.is_dir() else tmp_path) as folder:
        yield Path(folder)


@pytest.fixture
def tell(record_property: Callable[[str, object], None]) -> Tell:
    """Keeps a figure of this test; pytest prints it at the end."""

    def keep(line: str) -> None:
        record_property(FIGURE, line)

    return keep
