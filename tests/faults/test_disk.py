"""A disk that is full, read-only or broken at the n-th call: refused or complete, never half, for every n of a run."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.faults.disk import DiskRun, FailingDisk, Fault, Lasting
from tests.faults.figures import Tell
from vskill_platform.testing.vfs import DiskAction

SMOKE_RUNS = 4
"""So many calls of each kind are picked in the smoke, spread over the whole run."""


async def run_at(folder: Path, fault: Fault, *, fails_at: int, lasting: Lasting = Lasting.ONCE) -> DiskRun:
    run = await DiskRun(
        folder / "data" / "registry.db", FailingDisk(fault=fault, fails_at=fails_at, lasting=lasting)
    ).run()
    shutil.rmtree(folder)
    return run


def pick_calls(actions: Sequence[DiskAction], *, each: int) -> list[int]:
    """The numbers of some calls of each kind."""
    picked: set[int] = set()
    for action in set(actions):
        numbers = [number for number, found in enumerate(actions, start=1) if found is action]
        picked.update(numbers[len(numbers) * turn // each] for turn in range(each))
    return sorted(picked)


async def fail_at_each(folder: Path, fault: Fault, lasting: Lasting, *, runs: int | None, tell: Tell) -> None:
    """Learn how many calls a run makes; repeat it, failing at each of them, or at so many of them."""
    actions = (await run_at(folder / "learn", fault, fails_at=0)).disk.actions
    total = len(actions)
    numbers = range(1, total + 1) if runs is None else pick_calls(actions, each=runs)
    counts: Counter[str] = Counter()
    for number in numbers:
        run = await run_at(folder / f"{number}", fault, fails_at=number, lasting=lasting)
        assert run.faults == [], f"call {number} of {total}"
        counts["acknowledged"] += len(run.told.journal.acknowledged)
        counts["refused"] += len(run.told.journal.attempted) - len(run.told.journal.acknowledged)
        counts["unknown"] += len(run.told.unknown)
    tell(
        f"disk {fault}, {lasting}: {len(numbers)} of {total} calls failed, {counts['acknowledged']} commits acknowledged, "
        f"{counts['refused']} refused, of which {counts['unknown']} unknown; 0 lost, 0 half, 0 refused and there"
    )


@pytest.mark.parametrize("lasting", Lasting)
@pytest.mark.parametrize("fault", Fault)
async def test_commit_is_refused_or_complete__when_the_disk_fails(
    tmp_path: Path, fault: Fault, lasting: Lasting, tell: Tell
) -> None:
    await fail_at_each(tmp_path, fault, lasting, runs=SMOKE_RUNS, tell=tell)


@pytest.mark.faults
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("lasting", Lasting)
@pytest.mark.parametrize("fault", Fault)
async def test_commit_is_refused_or_complete__whichever_call_of_the_disk_fails(
    tmp_path: Path, fault: Fault, lasting: Lasting, tell: Tell
) -> None:
    await fail_at_each(tmp_path, fault, lasting, runs=None, tell=tell)
