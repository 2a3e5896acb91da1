"""Submissions keep to their table, their history and their catalog row, whatever happens to workers and messages."""

from __future__ import annotations

import pytest
from hypothesis import settings

from tests.machines.faults import (
    claim_ignores_lease,
    claim_ignores_others,
    commit_ignores_due,
    effect_is_not_fenced,
    move_skips_catalog,
    process_without_claim,
    sweep_goes_by_time_only,
)
from tests.machines.stage import LONG, ON_SERVER, ORDINARY, Disagreement, Plant, explore, explore_until_found
from tests.machines.submission_machine import (
    SubmissionMachine,
    SubmissionsOnMemory,
    SubmissionsOnPostgres,
    SubmissionsOnSqlite,
)

MACHINES = [SubmissionsOnMemory, SubmissionsOnSqlite]


@pytest.mark.timeout(900)
@pytest.mark.parametrize("machine", MACHINES)
def test_submissions_keep_their_invariants__on_random_walks(machine: type[SubmissionMachine]) -> None:
    explore(machine, ORDINARY)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("walks", ON_SERVER)
@pytest.mark.usefixtures("postgres_stage")
def test_submissions_keep_their_invariants__on_random_walks_over_postgres(walks: settings) -> None:
    explore(SubmissionsOnPostgres, walks)


@pytest.mark.faults
@pytest.mark.parametrize("machine", MACHINES)
def test_submissions_keep_their_invariants__on_many_random_walks(machine: type[SubmissionMachine]) -> None:
    explore(machine, LONG)


@pytest.mark.parametrize(
    "fault",
    [
        claim_ignores_lease,
        claim_ignores_others,
        commit_ignores_due,
        effect_is_not_fenced,
        move_skips_catalog,
        sweep_goes_by_time_only,
    ],
)
def test_submission_machine_disagrees__when_fault_is_planted(fault: Plant) -> None:
    with pytest.raises(Disagreement):
        explore_until_found(lambda: SubmissionsOnMemory(fault))


def test_submission_machine_disagrees__when_process_skips_claim() -> None:
    with pytest.raises(Disagreement):
        explore_until_found(lambda: SubmissionsOnMemory(process=process_without_claim))
