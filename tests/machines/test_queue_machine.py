"""The queues do what the model does, and the machine would see it if they did not."""

from __future__ import annotations

import pytest
from hypothesis import settings

from tests.machines.faults import (
    release_burns_attempt,
    send_ignores_priority,
    settlement_ignores_token,
    suspects_come_in_company,
)
from tests.machines.queue_machine import QueueMachine, QueueOnMemory, QueueOnPostgres, QueueOnSqlite
from tests.machines.stage import LONG, ON_SERVER, ORDINARY, Disagreement, Plant, explore, explore_until_found

MACHINES = [QueueOnMemory, QueueOnSqlite]


@pytest.mark.timeout(900)
@pytest.mark.parametrize("machine", MACHINES)
def test_queue_agrees_with_model__on_random_walks(machine: type[QueueMachine]) -> None:
    explore(machine, ORDINARY)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("walks", ON_SERVER)
@pytest.mark.usefixtures("postgres_stage")
def test_queue_agrees_with_model__on_random_walks_over_postgres(walks: settings) -> None:
    explore(QueueOnPostgres, walks)


@pytest.mark.faults
@pytest.mark.parametrize("machine", MACHINES)
def test_queue_agrees_with_model__on_many_random_walks(machine: type[QueueMachine]) -> None:
    explore(machine, LONG)


@pytest.mark.parametrize(
    "fault", [settlement_ignores_token, suspects_come_in_company, release_burns_attempt, send_ignores_priority]
)
def test_queue_machine_disagrees__when_fault_is_planted(fault: Plant) -> None:
    with pytest.raises(Disagreement):
        explore_until_found(lambda: QueueOnMemory(fault))
