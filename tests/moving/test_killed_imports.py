"""An import that is killed at any moment goes on: nothing twice, nothing lost, and nothing served before it has ended."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.moving.houses import all_documents, export_house, fill_house, open_house
from vskill_platform.domain.errors import ImportUnfinished
from vskill_platform.moving.packing import IMPORT_KEY
from vskill_platform.moving.unpacking import refuse_unfinished

CHILD = Path(__file__).with_name("import_child.py")
MOST_STEPS = 12
LATEST_S = 0.05
LIMIT_S = 60


def import_and_kill(export: Path, data: Path, *, moments: random.Random) -> None:
    """Start an import, let it take some steps and a moment more, and kill it, unless it has ended by then."""
    command = [sys.executable, str(CHILD), str(export), str(data)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        steps = (line for line in child.stdout if line.startswith("importing"))
        for _ in zip(range(moments.randint(1, MOST_STEPS)), steps, strict=False):
            pass
        time.sleep(moments.uniform(0, LATEST_S))
        child.kill()
        _, errors = child.communicate(timeout=LIMIT_S)
    assert errors == ""


@pytest.mark.parametrize("wanted", [4, pytest.param(500, marks=pytest.mark.faults)])
async def test_import_goes_on_after_kill_9__with_nothing_lost_and_nothing_twice(tmp_path: Path, wanted: int) -> None:
    moments = random.Random(5)
    async with open_house("sqlite", tmp_path / "old") as old:
        await fill_house(old, submissions=3000)
        manifest = await export_house(old, tmp_path / "export")
        documents = await all_documents(old.engine)
    kills = rounds = 0
    while kills < wanted:
        rounds += 1
        data = tmp_path / f"new-{rounds}"
        while not data.exists() or await is_unfinished(data):
            import_and_kill(tmp_path / "export", data, moments=moments)
            kills += await is_unfinished(data)
        async with open_house("sqlite", data) as new:
            again = await export_house(new, tmp_path / f"again-{rounds}")
            assert again.parts == manifest.parts
            assert await all_documents(new.engine) == documents
    print(f"{kills} kills in the middle of {rounds} imports")


async def is_unfinished(data: Path) -> bool:
    """Whether an import has begun and not ended; then nothing is served and nothing exported from what there is."""
    async with open_house("sqlite", data) as house:
        if await house.engine.kv.get(IMPORT_KEY) is None:
            return False
        with pytest.raises(ImportUnfinished):
            await refuse_unfinished(house.engine.kv)
        with pytest.raises(ImportUnfinished):
            await export_house(house, data / f"refused-{time.monotonic_ns()}")
        return True
