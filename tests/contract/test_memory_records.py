"""The memory engine under the suites for records."""

from collections.abc import AsyncIterator

import pytest

from vskill_platform.engines.memory import open_memory
from vskill_platform.ports.engine import Engine
from vskill_platform.testing.catalog_contract import CatalogContract
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.commit_contract import CommitContract
from vskill_platform.testing.inventory_contract import InventoryContract, RestoreContract
from vskill_platform.testing.kv_capabilities_contract import BulkGetContract, DueIndexContract, ScanContract
from vskill_platform.testing.kv_contract import KVContract


@pytest.fixture
async def engine(clock: FakeClock) -> AsyncIterator[Engine]:
    engine = await open_memory(clock=clock)
    yield engine
    await engine.close()


class TestMemoryKV(KVContract):
    pass


class TestMemoryBulkGet(BulkGetContract):
    pass


class TestMemoryScan(ScanContract):
    pass


class TestMemoryDueIndex(DueIndexContract):
    pass


class TestMemoryCommit(CommitContract):
    pass


class TestMemoryCatalog(CatalogContract):
    pass


class TestMemoryInventory(InventoryContract):
    pass


class TestMemoryRestore(RestoreContract):
    pass
