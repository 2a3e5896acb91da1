"""A registry without its web server on the engine that people begin with, as the tests of the pipeline have it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.moving.houses import open_house
from tests.pipeline.conftest import journey, scanner
from vskill_platform.ports.engine import Engine

__all__ = ["journey", "scanner"]


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    async with open_house("sqlite", tmp_path) as house:
        yield house.engine
