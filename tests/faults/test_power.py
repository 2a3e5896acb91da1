"""Power cuts at random moments of a concurrent load: with FULL nothing that was acknowledged is lost, and nothing is half."""

from __future__ import annotations

import asyncio
import random
import shutil
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.faults.checker import Journal, Verdict, judge
from tests.faults.figures import Tell
from tests.faults.killing import note
from tests.faults.load_child import Load, Mode
from tests.faults.looking import look_at_file
from tests.faults.power import DiskLog, leave_image
from vskill_platform.domain.errors import EngineRefused, StoreUnavailable
from vskill_platform.engines.sqlite import open_sqlite
from vskill_platform.ports.clock import SystemClock
from vskill_platform.testing.vfs import hooked_vfs
from vskill_platform.testing.waits import until

IMAGES_A_LOAD = 10
CALLS_A_LOAD = 4000
CHECKPOINT_PAGES = 60
MOST_IMAGES = 200
OPENING_CALLS, CLOSING_CALLS = 300, 100


@dataclass
class Lines:
    """What the load said, each line with the number of disk calls before it."""

    disk: DiskLog
    said: list[tuple[int, str]] = field(default_factory=list)

    def hear(self, line: str) -> None:
        self.said.append((len(self.disk.calls), line))

    def journal_at(self, position: int) -> Journal:
        """All that had been said when the power was cut."""
        journal = Journal()
        for at, line in self.said:
            if at <= position:
                note(line, journal)
        return journal


async def load_disk(path: Path, disk: DiskLog, *, seed: int, synchronous: str) -> Lines:
    """Load an engine from its first opening on until the disk has had enough calls."""
    lines = Lines(disk)
    with hooked_vfs(disk) as vfs:
        engine = await open_sqlite(
            path, clock=SystemClock(), vfs=vfs, synchronous=synchronous, checkpoint_pages=CHECKPOINT_PAGES
        )
        load = asyncio.create_task(Load(engine, seed, Mode.HONEST, random.Random(seed), lines.hear).run())
        await until(lambda: load.done() or len(disk.calls) >= CALLS_A_LOAD, what="the disk has had enough calls")
        load.cancel()
        with suppress(asyncio.CancelledError):
            await load
        await engine.close()
    return lines


def pick_moment(calls: int, chance: random.Random) -> int:
    """Any moment; one in four is soon after the file was made, or while it is being closed."""
    first, last = chance.choices([(0, calls), (0, OPENING_CALLS), (calls - CLOSING_CALLS, calls)], [6, 1, 1])[0]
    return chance.randint(first, last)


async def cut_power(folder: Path, lines: Lines, *, chance: random.Random) -> tuple[Verdict, int]:
    """Cut the power at a random moment, open what is left with the real engine, and judge."""
    position = pick_moment(len(lines.disk.calls), chance)
    leave_image(lines.disk.calls[:position], folder, chance=chance)
    journal = lines.journal_at(position)
    verdict = judge(journal, await look_at_file(folder / "registry.db"))
    shutil.rmtree(folder)
    return verdict, len(journal.acknowledged)


async def cut_often(folder: Path, *, images: int, seed: int, tell: Tell) -> None:
    chance = random.Random(seed)
    acknowledged = recovered = 0
    for first in range(0, images, IMAGES_A_LOAD):
        lines = await load_disk(folder / f"{first}" / "registry.db", DiskLog(), seed=first, synchronous="FULL")
        for image in range(first, min(first + IMAGES_A_LOAD, images)):
            verdict, heard = await cut_power(folder / "image", lines, chance=chance)
            assert verdict.faults == {}, f"image {image} of seed {seed}"
            acknowledged += heard
            recovered += len(verdict.recovered)
        shutil.rmtree(folder / f"{first}")
    assert acknowledged > 0
    tell(
        f"power cut, FULL: {images} images, {acknowledged} commits acknowledged; 0 lost, 0 unexpected, 0 half, "
        f"{recovered} there without having been acknowledged"
    )


async def lose_something(folder: Path, disk: DiskLog, *, synchronous: str, seed: int) -> tuple[int, int, int]:
    """Cut until something acknowledged is lost: after how many images, how much was lost, of how much."""
    lines = await load_disk(folder / "load" / "registry.db", disk, seed=seed, synchronous=synchronous)
    chance = random.Random(seed)
    for image in range(1, MOST_IMAGES + 1):
        verdict, heard = await cut_power(folder / f"image-{image}", lines, chance=chance)
        if verdict.lost:
            return image, len(verdict.lost), heard
    pytest.fail(f"{MOST_IMAGES} images and nothing lost")


async def test_engine_keeps_what_it_acknowledged__when_the_power_is_cut(quick_folder: Path, tell: Tell) -> None:
    await cut_often(quick_folder, images=20, seed=1, tell=tell)


@pytest.mark.faults
@pytest.mark.timeout(3600)
async def test_engine_keeps_what_it_acknowledged__when_the_power_is_cut_400_times(
    quick_folder: Path, tell: Tell
) -> None:
    await cut_often(quick_folder, images=400, seed=2, tell=tell)


async def test_power_cut_loses_commits__when_synchronous_is_normal(quick_folder: Path, tell: Tell) -> None:
    """For contrast: what NORMAL saves in syncs it pays for here, and the checker sees it."""
    image, lost, heard = await lose_something(quick_folder, DiskLog(), synchronous="NORMAL", seed=3)
    tell(f"power cut, NORMAL: image {image} lost {lost} of {heard} acknowledged commits")


@pytest.mark.faults
@pytest.mark.timeout(3600)
async def test_power_cut_loses_nothing_but_the_last_commits__when_synchronous_is_normal(
    quick_folder: Path, tell: Tell
) -> None:
    """What is promised of NORMAL: commits at the end may be gone, and what is left is whole."""
    chance, lost, hit, images = random.Random(5), 0, 0, 100
    lines = await load_disk(quick_folder / "load" / "registry.db", DiskLog(), seed=5, synchronous="NORMAL")
    for image in range(images):
        verdict, _ = await cut_power(quick_folder / "image", lines, chance=chance)
        assert set(verdict.faults) <= {"lost"}, f"image {image}"
        lost += len(verdict.lost)
        hit += bool(verdict.lost)
    assert hit > 0
    tell(f"power cut, NORMAL: {hit} of {images} images lost {lost} acknowledged commits, 0 half")


async def test_power_cut_test_finds_fault__when_the_disk_ignores_syncs(quick_folder: Path) -> None:
    """The planted fault: FULL on a disk that lies. Commits are gone, or the whole file is no database any more."""
    with suppress(StoreUnavailable, EngineRefused):
        await lose_something(quick_folder, DiskLog(ignores_syncs=True), synchronous="FULL", seed=4)
