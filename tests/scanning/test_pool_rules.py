"""Which rules a pool scans by: those its owner had when it was opened, in every process, or none."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import msgspec
import pytest

from tests.scanning.building import make_skill, rule_ids
from tests.scanning.pack_building import RULE, YARA, make_pack
from tests.scanning.watching import bad_child, until_gone
from vskill_platform import __version__
from vskill_platform.domain.errors import InvalidRules, ScannerUnavailable
from vskill_platform.domain.scan import SCANNER_CRASHED, Verdict
from vskill_platform.scanning.frames import EXIT_OTHER_RULES, Start, frame
from vskill_platform.scanning.limits import YARA_TIME_LIMIT
from vskill_platform.scanning.pool import ScannerPool
from vskill_platform.scanning.process import ScanProcess
from vskill_platform.scanning.tier1.packs import load_rules
from vskill_platform.scanning.tier1.rules import load_ruleset
from vskill_platform.scanning.tier1.scan import scan_content
from vskill_platform.settings import Settings

SKILL = make_skill({"a.md": "intranet.acme.example and drop.acme.example\n"})
MEGABYTE = 1024 * 1024


def settings_with(folder: str) -> Settings:
    """The least memory that a process may have, so that what yara-x sets aside is noticed."""
    return Settings(scan_processes=1, scan_memory_bytes=256 * MEGABYTE, rules_folder=folder)


async def test_pool_scans_by_the_pack__as_the_function_in_this_process_does(tmp_path: Path) -> None:
    folder = make_pack(tmp_path / "p", own_toml=RULE, a_yar=YARA, severities_toml='"XAC-001" = "info"\n')
    async with ScannerPool(settings_with(folder)) as pool:
        report = await pool.scan(SKILL)
    assert {"XAC-001", "YR-drop_box"} <= set(rule_ids(report))
    assert report.ruleset_version == load_rules(folder).version
    assert msgspec.structs.replace(report, duration_ms=0.0) == scan_content(SKILL, ruleset=load_rules(folder))


async def test_process_that_is_replaced_has_the_rules_of_its_owner__though_the_folder_has_changed(
    tmp_path: Path,
) -> None:
    folder = make_pack(tmp_path / "p", own_toml=RULE, a_yar=YARA)
    async with ScannerPool(settings_with(folder)) as pool:
        before = await pool.scan(SKILL)
        for path in (tmp_path / "p").iterdir():
            path.unlink()
        (pid,) = pool.pids
        os.kill(pid, signal.SIGKILL)
        await until_gone(pid)
        after = await pool.scan(SKILL)
        assert pool.pids != (pid,)
    assert msgspec.structs.replace(after, duration_ms=0.0) == msgspec.structs.replace(before, duration_ms=0.0)


async def test_process_scans_a_large_file_by_yara__within_the_least_memory(tmp_path: Path) -> None:
    folder = make_pack(tmp_path / "p", a_yar=YARA)
    large = make_skill({"large.txt": b"a line of text\n" * 300_000 + b"drop.acme.example"})
    async with ScannerPool(settings_with(folder)) as pool:
        for _ in range(3):
            report = await pool.scan(large)
            assert ("YR-drop_box" in rule_ids(report), report.limits_hit) == (True, ())


async def test_slow_yara_rule_costs_its_limit_and_no_process(tmp_path: Path) -> None:
    slow = "rule slow { condition: for any i in (0..filesize) : (for any j in (0..filesize) : (uint8(i) + uint8(j) == 999)) }"
    async with ScannerPool(settings_with(make_pack(tmp_path / "p", a_yar=slow))) as pool:
        pids = pool.pids
        report = await pool.scan(make_skill({"a.txt": b"x" * 100_000}))
        assert (YARA_TIME_LIMIT in report.limits_hit, report.verdict) == (True, Verdict.CONCERNS)
        assert pool.pids == pids


async def test_pool_does_not_open__with_a_pack_that_is_broken(tmp_path: Path) -> None:
    folder = make_pack(tmp_path / "p", a_yar="rule x { condition: unknown }")
    with pytest.raises(InvalidRules, match=r"a\.yar:1"):
        async with ScannerPool(settings_with(folder)):
            pass


@pytest.mark.parametrize(("scanner", "ruleset"), [(__version__, "2026.01+00000000"), ("0.0.0", load_ruleset().version)])
async def test_process_does_not_start__where_it_would_scan_by_other_rules_than_its_owner(
    scanner: str, ruleset: str
) -> None:
    with pytest.raises(ScannerUnavailable, match=r"other rules.*Restart"):
        await ScanProcess.start(memory_bytes=256 * MEGABYTE, cpu_s=1, rules=frame(Start(scanner, ruleset, ())))


async def test_other_rules_have_an_exit_code_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "other"
    program.write_text(f"#!/bin/sh\nexit {EXIT_OTHER_RULES}\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    with pytest.raises(ScannerUnavailable, match="Restart the registry"):
        async with ScannerPool(settings_with("")):
            pass


async def test_answer_by_other_rules_is_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that passes everything, by rules that the owner does not have."""
    body = (
        "import msgspec\n"
        "from vskill_platform.scanning.frames import Answer, decode_job, frame\n"
        "from vskill_platform.scanning.tier1.scan import scan_content\n"
        "report = msgspec.structs.replace(scan_content(decode_job(job).content), ruleset_version={version!r})\n"
        "os.write(1, frame(Answer(decode_job(job).number, report)))\n"
        "sys.stdin.buffer.read()"
    )
    reports = []
    for name, version in (("same", load_ruleset().version), ("other", "2026.01+00000000")):
        folder = tmp_path / name
        folder.mkdir()
        with monkeypatch.context() as patched:
            patched.setattr(sys, "executable", bad_child(folder, body=body.format(version=version)))
            async with ScannerPool(settings_with("")) as pool:
                reports.append(await pool.scan(make_skill()))
    assert [(report.verdict, report.limits_hit) for report in reports] == [
        (Verdict.PASS, ()),
        (Verdict.CONCERNS, (SCANNER_CRASHED,)),
    ]
