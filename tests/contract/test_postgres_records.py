"""The PostgreSQL engine under the suites for records."""

from collections.abc import AsyncIterator

import pytest

from vskill_platform.engines.postgres import open_postgres
from vskill_platform.ports.engine import Engine
from vskill_platform.testing.catalog_contract import CatalogContract
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.commit_contract import CommitContract
from vskill_platform.testing.inventory_contract import InventoryContract, RestoreContract
from vskill_platform.testing.kv_capabilities_contract import BulkGetContract, DueIndexContract, ScanContract
from vskill_platform.testing.kv_contract import KVContract


@pytest.fixture
async def engine(postgres_url: str, clock: FakeClock) -> AsyncIterator[Engine]:
    engine = await open_postgres(postgres_url, clock=clock, uses_database_time=False)
    yield engine
    await engine.close()


class TestPostgresKV(KVContract):
    pass


class TestPostgresBulkGet(BulkGetContract):
    pass


class TestPostgresScan(ScanContract):
    pass


class TestPostgresDueIndex(DueIndexContract):
    pass


class TestPostgresCommit(CommitContract):
    pass


class TestPostgresCatalog(CatalogContract):
    pass


class TestPostgresInventory(InventoryContract):
    pass


class TestPostgresRestore(RestoreContract):
    pass
