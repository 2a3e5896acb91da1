"""An import that is killed at any moment goes on: nothing twice, nothing lost, and nothing served before it has ended."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.moving.houses import all_documents, export_house, fill_house, open_house
from vskill_platform.app import export_to, open_env
from vskill_platform.domain.errors import ImportUnfinished
from vskill_platform.moving.packing import IMPORT_KEY
from vskill_platform.moving.progress import untold
from vskill_platform.settings import Settings

CHILD = Path(__file__).with_name("import_child.py")
KILLS = 500 if os.environ.get("VSKILL_TEST_SCALE") == "faults" else 20
LATEST_S = 0.15
LIMIT_S = 60


def import_and_kill(export: Path, data: Path, *, delay_s: float) -> bool:
    """Start an import, wait until it has begun to write, wait a while, kill it. Says whether it had ended by itself."""
    command = [sys.executable, str(CHILD), str(export), str(data)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        for line in child.stdout:
            if not line.startswith("verifying"):
                break
        time.sleep(delay_s)
        child.kill()
        said, errors = child.communicate(timeout=LIMIT_S)
    assert errors == ""
    return said.endswith("done\n")


async def is_unfinished(data: Path) -> bool:
    """Whether the registry has the mark of an import that has not ended."""
    async with open_house("sqlite", data) as house:
        return await house.engine.kv.get(IMPORT_KEY) is not None


async def test_import_goes_on_after_kill_9__with_nothing_lost_and_nothing_twice(tmp_path: Path) -> None:
    moments = random.Random(5)
    async with open_house("sqlite", tmp_path / "old") as old:
        await fill_house(old, submissions=3000)
        manifest = await export_house(old, tmp_path / "export")
        documents = await all_documents(old.engine)
    kills = rounds = refusals = resumed = 0
    while kills < KILLS:
        rounds += 1
        data = tmp_path / f"new-{rounds}"
        settings = Settings(data=str(data))
        while not import_and_kill(tmp_path / "export", data, delay_s=moments.uniform(0, LATEST_S)):
            kills += 1
            if not await is_unfinished(data):
                break
            resumed += 1
            with pytest.raises(ImportUnfinished):
                async with open_env(settings):
                    pass
            refusals += 1
            with pytest.raises(ImportUnfinished):
                await export_to(settings, folder=tmp_path / f"never-{kills}", progress=untold)
        again = await export_to(settings, folder=tmp_path / f"again-{rounds}", progress=untold)
        assert again.parts == manifest.parts
        async with open_house("sqlite", data) as new:
            assert await all_documents(new.engine) == documents
    assert refusals >= KILLS // 2
    print(f"{kills} kills in {rounds} imports, {resumed} of them in the middle")
