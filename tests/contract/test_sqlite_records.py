"""The SQLite engine under the suites for records."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from vskill_platform.engines.sqlite import open_sqlite
from vskill_platform.ports.engine import Engine
from vskill_platform.testing.catalog_contract import CatalogContract
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.commit_contract import CommitContract
from vskill_platform.testing.inventory_contract import InventoryContract, RestoreContract
from vskill_platform.testing.kv_capabilities_contract import BulkGetContract, DueIndexContract, ScanContract
from vskill_platform.testing.kv_contract import KVContract


@pytest.fixture
async def engine(tmp_path: Path, clock: FakeClock) -> AsyncIterator[Engine]:
    engine = await open_sqlite(tmp_path / "registry.db", clock=clock, synchronous="OFF")
    yield engine
    await engine.close()


class TestSqliteKV(KVContract):
    pass


class TestSqliteBulkGet(BulkGetContract):
    pass


class TestSqliteScan(ScanContract):
    pass


class TestSqliteDueIndex(DueIndexContract):
    pass


class TestSqliteCommit(CommitContract):
    pass


class TestSqliteCatalog(CatalogContract):
    pass


class TestSqliteInventory(InventoryContract):
    pass


class TestSqliteRestore(RestoreContract):
    pass
