"""A scanner that stays running: one process for many skills, and another as soon as anything went wrong."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.external.programs import MEGABYTE, SKILL
from tests.scanning.building import make_skill
from tests.scanning.watching import is_gone, until_gone
from vskill_platform.domain.external_scan import ExternalScanStatus
from vskill_platform.domain.scan import Severity
from vskill_platform.scanning.external import scanner_workspace
from vskill_platform.scanning.external.environments import Environment
from vskill_platform.scanning.external.normalising import Sighting, Sightings
from vskill_platform.scanning.external.sandbox import Sandbox, SandboxLimits
from vskill_platform.scanning.external.warm import JOBS_PER_PROCESS, WarmScanner
from vskill_platform.settings import Settings
from vskill_platform.testing.waits import until

CHILD = """
import os, struct, sys, time
def answer(data):
    os.write(1, struct.pack(">I", len(data)) + data)
answer(b"")
while header := sys.stdin.buffer.read(4):
    folder = sys.stdin.buffer.read(struct.unpack(">I", header)[0]).decode()
    names = sorted(os.listdir(folder))
    for name in names:
        if name.startswith("do-"):
            exec(open(folder + "/" + name).read())
    answer(b"[" + b",".join(b'"%s"' % name.encode() for name in names) + b"]")
"""
"""A tool that tells the names of the files, and does what a file says whose name asks for it."""


class NamingTool:
    """The tool above, as an adapter knows it."""

    name = "naming"

    def __init__(self, script: Path) -> None:
        self._script = script

    def command(self, *, python: Path) -> list[str]:
        return [sys.executable, "-I", str(self._script)]

    def read(self, data: bytes) -> Sightings:
        names = msgspec.json.decode(data, type=list[str])
        return Sightings(found=[Sighting(rule="named", severity=Severity.LOW, file=name) for name in names])


@asynccontextmanager
async def warm_scanner(folder: Path, *, child: str = CHILD, time_s: float = 20.0) -> AsyncIterator[WarmScanner]:
    """The scanner of this tool. Its environment is that of these tests, under the name and the stamp of another."""
    script = folder / "child.py"
    script.write_text(child, encoding="utf-8")
    environment = Environment("bandit", folder / "environment")
    environment.folder.mkdir()
    environment.stamp.write_bytes(msgspec.json.encode(environment.wanted()))
    limits = SandboxLimits(time_s=time_s, memory_bytes=1024 * MEGABYTE, output_bytes=MEGABYTE)
    workspace = scanner_workspace(Settings(data=str(folder / "data")))
    await workspace.open()
    sandbox = Sandbox(limits, hidden=folder / "data")
    scanner = WarmScanner(NamingTool(script), environment=environment, sandbox=sandbox, workspace=workspace)
    try:
        yield scanner
    finally:
        await scanner.close()
        await workspace.close()


def doing(text: str) -> Any:
    """A skill that makes the tool do something."""
    return make_skill({"do-it": text})


async def test_process_is_the_same_for_many_skills__and_has_only_the_files_of_the_one_it_is_asked_about(
    tmp_path: Path,
) -> None:
    async with warm_scanner(tmp_path) as scanner:
        first = await scanner.scan(make_skill({"one.txt": "1"}))
        pid = scanner.pid
        reports = await asyncio.gather(*(scanner.scan(make_skill({f"{number}.txt": "x"})) for number in range(5)))
        assert scanner.pid == pid
    assert [finding.file for finding in first.findings] == ["SKILL.md", "one.txt"]
    assert [[one.file for one in report.findings] for report in reports] == [
        [f"{number}.txt", "SKILL.md"] for number in range(5)
    ]
    assert pid is not None
    assert is_gone(pid)


@pytest.mark.parametrize(
    ("text", "status", "words"),
    [
        ("time.sleep(3600)", ExternalScanStatus.TIMED_OUT, "took longer than the 2 s"),
        ("os._exit(7)", ExternalScanStatus.ERROR, "ended before it had answered"),
        ("raise ValueError('broken inside')", ExternalScanStatus.ERROR, "It said: ValueError: broken inside"),
        ("answer(b'nonsense')", ExternalScanStatus.ERROR, "not in the form that it should have"),
        ("os.write(1, b'\\xff\\xff\\xff\\xff')", ExternalScanStatus.ERROR, "printed more than the 1,048,576 bytes"),
        ("kept = bytearray(4 * 10**9)", ExternalScanStatus.ERROR, "MemoryError"),
        ("[os.fork() for _ in range(8)]; time.sleep(3600)", ExternalScanStatus.ERROR, "more processes than it may"),
        ("import socket; socket.create_connection(('127.0.0.1', 1))", ExternalScanStatus.ERROR, "unreachable"),
    ],
)
async def test_process_is_replaced__when_a_skill_has_made_it_misbehave(
    tmp_path: Path, text: str, status: ExternalScanStatus, words: str
) -> None:
    async with warm_scanner(tmp_path, time_s=2.0) as scanner:
        await scanner.scan(SKILL)
        first = scanner.pid
        report = await scanner.scan(doing(text))
        assert (report.status, report.score) == (status, None)
        assert words in report.summary
        assert (await scanner.scan(SKILL)).status is ExternalScanStatus.PASS
        assert first is not None
        assert scanner.pid != first
        assert is_gone(first)


async def test_process_is_replaced__when_somebody_has_killed_it(tmp_path: Path) -> None:
    async with warm_scanner(tmp_path) as scanner:
        await scanner.scan(SKILL)
        pid = scanner.pid
        assert pid is not None
        os.killpg(pid, signal.SIGKILL)
        await until_gone(pid)
        reports = [await scanner.scan(SKILL) for _ in range(2)]
    assert reports[-1].status is ExternalScanStatus.PASS


async def test_process_is_replaced__when_it_has_done_its_number_of_jobs(tmp_path: Path) -> None:
    async with warm_scanner(tmp_path) as scanner:
        await scanner.scan(SKILL)
        first = scanner.pid
        for _ in range(JOBS_PER_PROCESS):
            await scanner.scan(SKILL)
        assert first is not None
        assert is_gone(first)


async def test_process_is_ended__when_whoever_asked_goes_away(tmp_path: Path) -> None:
    async with warm_scanner(tmp_path) as scanner:
        await scanner.scan(SKILL)
        pid = scanner.pid
        assert pid is not None
        scanning = asyncio.create_task(scanner.scan(doing("open(os.environ['TMPDIR'] + '/x', 'w'); time.sleep(3600)")))
        await until(lambda: list((tmp_path / "data" / "external").rglob("do-it")), what="the skill is laid out")
        scanning.cancel()
        with pytest.raises(asyncio.CancelledError):
            await scanning
        assert is_gone(pid)
        assert (await scanner.scan(SKILL)).status is ExternalScanStatus.PASS


async def test_scan_is_an_error_and_nothing_runs__when_the_tool_does_not_start(tmp_path: Path) -> None:
    async with warm_scanner(tmp_path, child="import no_such_module") as scanner:
        report = await scanner.scan(SKILL)
        assert scanner.pid is None
    assert report.status is ExternalScanStatus.ERROR
    assert "No module named 'no_such_module'" in report.summary


async def test_nothing_is_left__when_the_scanner_is_closed(tmp_path: Path) -> None:
    async with warm_scanner(tmp_path) as scanner:
        await scanner.scan(SKILL)
    assert list((tmp_path / "data" / "external").iterdir()) == []
