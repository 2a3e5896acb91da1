"""Child processes: their limits hold, and none outlives its block."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

from tests.ingest.git_server import GitServer
from tests.ingest.looking import processes_of
from vskill_platform.children.processes import ERRORS_KEPT_BYTES, Ended, ProcessLimits, run, started
from vskill_platform.ingest.git import GitSource
from vskill_platform.ingest.workspace import fetch_workspace
from vskill_platform.testing.git_repos import SKILL_MD, make_repository
from vskill_platform.testing.waits import eventually

LIMITS = ProcessLimits(file_bytes=64 * 1024, cpu_s=20, memory_bytes=256 * 2**20, open_files=32)


async def run_sh(script: str, folder: Path, *, limits: ProcessLimits = LIMITS) -> Ended:
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    return await run(["/bin/sh", "-c", script], limits=limits, environment=environment, folder=folder)


async def test_run_gives_status_and_the_last_of_the_complaints(tmp_path: Path) -> None:
    ended = await run_sh("echo first >&2; head -c 40000 /dev/zero | tr '\\0' x >&2; echo last >&2; exit 3", tmp_path)
    assert ended.status == 3
    assert ended.errors.endswith("xlast\n")
    assert len(ended.errors) == ERRORS_KEPT_BYTES


async def test_limits_hold(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with out.open("wb") as stdout:
        ended = await run(
            ["/bin/sh", "-c", "for l in c f t v n; do ulimit -$l; done"],
            limits=LIMITS,
            environment={},
            folder=tmp_path,
            stdout=stdout,
        )
    assert ended.status == 0
    assert out.read_text().split() == ["0", "128", "20", str(256 * 1024), "32"]


async def test_a_child_that_writes_too_much_is_ended(tmp_path: Path) -> None:
    ended = await run_sh("exec head -c 1000000 /dev/zero > big", tmp_path)
    assert ended.status == -signal.SIGXFSZ
    assert (tmp_path / "big").stat().st_size == LIMITS.file_bytes


async def test_a_child_that_computes_too_long_is_ended(tmp_path: Path) -> None:
    ended = await run_sh("while :; do :; done", tmp_path, limits=LIMITS._replace(cpu_s=1))
    assert ended.status in (-signal.SIGXCPU, -signal.SIGKILL)


async def test_a_child_that_wants_too_much_memory_fails(tmp_path: Path) -> None:
    command = [sys.executable, "-S", "-c", "bytearray(300 * 2**20)"]
    ended = await run(command, limits=LIMITS, environment={}, folder=tmp_path)
    assert ended.status == 1
    assert "MemoryError" in ended.errors


async def test_what_a_child_started_ends_with_it(tmp_path: Path) -> None:
    await run_sh("sleep 1000 & sleep 1000 & exit 0", tmp_path)
    await eventually(lambda: processes_of(tmp_path) == [], what="no process is left")


@pytest.mark.parametrize("script", ["sleep 1000 & wait", "trap '' TERM INT HUP; sleep 1000 & while :; do wait; done"])
async def test_a_child_and_all_it_started_are_killed__when_its_block_ends(tmp_path: Path, script: str) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    with pytest.raises(RuntimeError, match="planned"):
        async with started(
            ["/bin/sh", "-c", script], limits=LIMITS, environment=environment, folder=tmp_path, stdout=PIPE
        ):
            await eventually(lambda: len(processes_of(tmp_path)) >= 2, what="the child has a child")
            raise RuntimeError("planned")
    await eventually(lambda: processes_of(tmp_path) == [], what="no process is left")


async def test_a_child_is_killed__when_its_start_is_cancelled(tmp_path: Path) -> None:
    for turns in range(6):
        task = asyncio.create_task(run_sh("sleep 1000 & wait", tmp_path))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
    await eventually(lambda: processes_of(tmp_path) == [], what="no process is left")


async def test_no_secret_is_in_the_arguments_of_a_process(
    server: GitServer, source: GitSource, workspace: Path
) -> None:
    make_repository(server.folder / "repo.git", {"SKILL.md": SKILL_MD})
    answering = asyncio.Event()
    server.before_answer = answering.wait

    async def fetch() -> None:
        async with source.fetch(server.url()):
            pass

    task = asyncio.create_task(fetch())
    await eventually(lambda: len(server.requests) > 0, what="git asks the server")
    [passage] = source._proxy._passages.values()
    words = processes_of(workspace)
    answering.set()
    await task
    assert len(words) >= 2
    assert [line for line in words if passage.secret in line or passage.name in line] == []


async def test_workspace_removes_what_a_dead_process_left__and_nothing_else(tmp_path: Path) -> None:
    living = fetch_workspace(tmp_path)
    await living.open()
    script = (
        "import asyncio, os, pathlib, sys\n"
        "from vskill_platform.ingest.workspace import fetch_workspace\n"
        "async def main():\n"
        "    workspace = fetch_workspace(pathlib.Path(sys.argv[1]))\n"
        "    await workspace.open()\n"
        "    async with workspace.folder() as folder:\n"
        "        (folder / 'pack').write_bytes(b'x')\n"
        "        os.kill(os.getpid(), 9)\n"
        "asyncio.run(main())\n"
    )
    done = await asyncio.to_thread(subprocess.run, [sys.executable, "-c", script, str(tmp_path)], timeout=60)
    assert done.returncode == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == 2
    async with living.folder() as folder:
        (folder / "kept").write_bytes(b"x")
        later = fetch_workspace(tmp_path)
        await later.open()
        assert len(list(tmp_path.iterdir())) == 2
        assert (folder / "kept").exists()
        await later.close()
    await living.close()
    assert list(tmp_path.iterdir()) == []
