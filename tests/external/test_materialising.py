"""A skill's files on disk: regular, read-only, private, and nowhere else."""

from __future__ import annotations

import asyncio
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.scanning.building import make_skill
from vskill_platform.domain.content import SkillContent, SkillFile
from vskill_platform.domain.errors import UnsafePath
from vskill_platform.scanning.external import open_scanners, scanner_workspace
from vskill_platform.scanning.external.materialising import materialise
from vskill_platform.settings import Settings


def test_files_are_the_same_bytes_under_the_same_names(tmp_path: Path) -> None:
    skill = make_skill({"a/b/ü -n.txt": b"\x00\xff", "--help": "x", "run": "#!/bin/sh\n"})
    materialise(skill, tmp_path / "skill")
    on_disk = {path.relative_to(tmp_path / "skill").as_posix(): path for path in (tmp_path / "skill").rglob("*")}
    assert {name: path.read_bytes() for name, path in on_disk.items() if path.is_file()} == {
        file.path: file.content for file in skill.files
    }


def test_files_are_regular_and_nobody_may_write_them__in_folders_that_only_we_may_enter(tmp_path: Path) -> None:
    materialise(make_skill({"a/b.sh": "#!/bin/sh\n", "a/c.txt": "x"}), tmp_path / "skill")
    modes = {path.name: path.lstat().st_mode for path in (tmp_path / "skill").rglob("*")}
    assert {name: stat.S_IMODE(mode) for name, mode in modes.items()} == {
        "SKILL.md": 0o400,
        "a": 0o700,
        "b.sh": 0o500,
        "c.txt": 0o400,
    }
    assert all(stat.S_ISREG(modes[name]) for name in ("SKILL.md", "b.sh", "c.txt"))
    assert stat.S_IMODE((tmp_path / "skill").stat().st_mode) == 0o700


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../../x", "a//b", "./a", "", "a\0b", ".."])
def test_name_that_lies_elsewhere_is_refused__and_nothing_is_written_there(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnsafePath):
        materialise(SkillContent(files=(SkillFile(path=name, content=b"x"),)), tmp_path / "skill")
    assert [path.name for path in tmp_path.rglob("*")] == ["skill"]


def test_folder_that_is_there_already_is_not_written_into(tmp_path: Path) -> None:
    (tmp_path / "skill").symlink_to(tmp_path)
    with pytest.raises(FileExistsError):
        materialise(make_skill(), tmp_path / "skill")


async def test_files_of_a_process_that_died_are_removed__by_the_next_that_opens(tmp_path: Path) -> None:
    script = (
        "import asyncio, os, pathlib, sys\n"
        "from vskill_platform.domain.content import SkillContent, SkillFile\n"
        "from vskill_platform.scanning.external import scanner_workspace\n"
        "from vskill_platform.scanning.external.materialising import materialise\n"
        "from vskill_platform.settings import Settings\n"
        "async def main():\n"
        "    workspace = scanner_workspace(Settings(data=sys.argv[1]))\n"
        "    await workspace.open()\n"
        "    async with workspace.folder() as folder:\n"
        "        materialise(SkillContent(files=(SkillFile(path='a/b', content=b'x'),)), folder / 'skill')\n"
        "        os.kill(os.getpid(), 9)\n"
        "asyncio.run(main())\n"
    )
    done = await asyncio.to_thread(subprocess.run, [sys.executable, "-c", script, str(tmp_path)], timeout=60)
    assert done.returncode == -signal.SIGKILL
    assert len(list((tmp_path / "external").rglob("b"))) == 1
    async with open_scanners(Settings(data=str(tmp_path), external_scanners="bandit")):
        assert list((tmp_path / "external").rglob("b")) == []


async def test_files_of_a_process_that_lives_are_left_alone__when_another_opens(tmp_path: Path) -> None:
    living = scanner_workspace(Settings(data=str(tmp_path)))
    await living.open()
    async with living.folder() as folder:
        materialise(make_skill(), folder / "skill")
        async with open_scanners(Settings(data=str(tmp_path), external_scanners="bandit")):
            assert (folder / "skill" / "SKILL.md").exists()
    await living.close()
