"""Folders of processes that start and die in the same moment, on one machine."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from vskill_platform.children import workspace
from vskill_platform.ingest.workspace import fetch_workspace


async def test_workspaces_have_folders_of_their_own__when_many_open_at_once(tmp_path: Path) -> None:
    for _ in range(20):
        opened = [fetch_workspace(tmp_path) for _ in range(8)]
        await asyncio.gather(*(one.open() for one in opened))
        for one in opened:
            async with one.folder() as folder:
                assert folder.is_dir()
        await asyncio.gather(*(one.close() for one in opened))
    assert list(tmp_path.iterdir()) == []


async def test_workspace_makes_another_folder__when_one_is_taken_for_abandoned_before_it_is_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    make = workspace.tempfile.mkdtemp

    def make_and_lose(**options: object) -> str:
        folder = str(make(**options))  # type: ignore[call-overload]
        made.append(folder)
        if len(made) == 1:
            shutil.rmtree(folder)
        return folder

    monkeypatch.setattr(workspace.tempfile, "mkdtemp", make_and_lose)
    opened = fetch_workspace(tmp_path)
    await opened.open()
    async with opened.folder() as folder:
        assert folder.is_dir()
    assert Path(made[1]) in folder.parents
    await opened.close()
