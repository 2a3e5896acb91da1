"""The key-value store and its commits do what the model does, and the machine would see it if they did not."""

from __future__ import annotations

import pytest
from hypothesis import settings

from tests.machines.faults import (
    commit_forgets_ids,
    commit_ignores_due,
    commit_ignores_ttl,
    commit_ignores_versions,
    commit_is_not_atomic,
)
from tests.machines.kv_machine import KvMachine, KvOnMemory, KvOnPostgres, KvOnSqlite
from tests.machines.stage import LONG, ON_SERVER, ORDINARY, Disagreement, Plant, explore, explore_until_found

MACHINES = [KvOnMemory, KvOnSqlite]


@pytest.mark.timeout(900)
@pytest.mark.parametrize("machine", MACHINES)
def test_kv_agrees_with_model__on_random_walks(machine: type[KvMachine]) -> None:
    explore(machine, ORDINARY)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("walks", ON_SERVER)
@pytest.mark.usefixtures("postgres_stage")
def test_kv_agrees_with_model__on_random_walks_over_postgres(walks: settings) -> None:
    explore(KvOnPostgres, walks)


@pytest.mark.faults
@pytest.mark.parametrize("machine", MACHINES)
def test_kv_agrees_with_model__on_many_random_walks(machine: type[KvMachine]) -> None:
    explore(machine, LONG)


@pytest.mark.parametrize(
    "fault",
    [commit_ignores_versions, commit_is_not_atomic, commit_ignores_ttl, commit_ignores_due, commit_forgets_ids],
)
def test_kv_machine_disagrees__when_fault_is_planted(fault: Plant) -> None:
    with pytest.raises(Disagreement):
        explore_until_found(lambda: KvOnMemory(fault))
