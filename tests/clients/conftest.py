"""A registry on loopback and an empty machine, for clients of other makes. Nothing is installed at test time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.clients.programs import Machine, make_machine
from tests.clients.registry import LiveRegistry, open_registry
from tests.pipeline.journey import LOOPBACK
from vskill_platform.engines.sqlite import open_sqlite
from vskill_platform.ports.clock import SystemClock
from vskill_platform.ports.scanner import Scanner
from vskill_platform.scanning.pool import ScannerPool
from vskill_platform.settings import convert_settings


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent) and pytest_asyncio.is_async_test(item):
            item.add_marker(pytest.mark.asyncio(loop_scope="package"), append=False)


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def scanner() -> AsyncIterator[Scanner]:
    """The scanning process takes longer to start than all else together, so all tests of the folder share one."""
    async with ScannerPool(convert_settings(LOOPBACK)) as pool:
        yield pool


@pytest_asyncio.fixture(loop_scope="package")
async def registry(scanner: Scanner, tmp_path: Path) -> AsyncIterator[LiveRegistry]:
    """A registry on SQLite with nothing in it, served on loopback, its worker running."""
    engine = await open_sqlite(tmp_path / "registry.db", clock=SystemClock(), synchronous="OFF")
    try:
        async with open_registry(engine, tmp_path, scanner=scanner) as opened:
            yield opened
    finally:
        await engine.close()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Where clients run: `await machine.run([*npm_program("skills", "1.7.4", node=22), "add", …])`."""
    return make_machine(tmp_path / "machine")
