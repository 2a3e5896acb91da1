"""bandit for real, as `make` installs it."""

from __future__ import annotations

from pathlib import Path

from tests.corpus.cases import read_corpus
from tests.external.installed import scanner_of
from tests.scanning.building import make_skill
from vskill_platform.domain.external_scan import ExternalScanStatus
from vskill_platform.domain.scan import Severity
from vskill_platform.scanning.external.known import mark_known
from vskill_platform.scanning.tier1.scan import scan_content

BAD = "import subprocess\nsubprocess.run(input(), shell=True)\n"


async def test_bandit_finds_what_is_in_python_files__by_name_and_by_first_line(tmp_path: Path) -> None:
    skill = make_skill(
        {"a.py": BAD, ".hidden/__pycache__/b.pyw": BAD, "run": f"#!/usr/bin/python3\n{BAD}", "c.txt": BAD}
    )
    async with scanner_of("bandit", data=tmp_path) as scanner:
        report = await scanner.scan(skill)
    grave = {(one.file, one.line) for one in report.findings if one.severity is Severity.HIGH}
    assert grave == {("a.py", 2), (".hidden/__pycache__/b.pyw", 2), ("run", 3)}
    assert all(finding.rule_id.startswith("bandit/B") for finding in report.findings)
    assert (report.provider, report.status, report.score) == ("bandit", ExternalScanStatus.PASS, 67)


async def test_bandit_takes_no_orders_from_a_skill__comments_and_settings(tmp_path: Path) -> None:
    skill = make_skill(
        {
            "a.py": BAD.replace("\n", "  # nosec\n"),
            ".bandit": "[bandit]\nexclude = /\nskips = B602\nignore-nosec = false\n",
            "pyproject.toml": "[tool.bandit]\nskips = ['B602']\n",
            "setup.cfg": "[bandit]\nskips = B602\n",
        }
    )
    async with scanner_of("bandit", data=tmp_path) as scanner:
        report = await scanner.scan(skill)
    assert ("a.py", 2, Severity.HIGH) in {(one.file, one.line, one.severity) for one in report.findings}


async def test_bandit_tells_of_a_file_that_it_cannot_read(tmp_path: Path) -> None:
    async with scanner_of("bandit", data=tmp_path) as scanner:
        report = await scanner.scan(make_skill({"old.py": "print 'hello'\n", "deep.py": "(" * 3000}))
    assert {(one.rule_id, one.file) for one in report.findings} == {
        ("bandit/unread-file", "old.py"),
        ("bandit/unread-file", "deep.py"),
    }
    assert "2 files could not be read" in report.summary


async def test_bandit_passes_a_skill_without_python__and_says_so(tmp_path: Path) -> None:
    async with scanner_of("bandit", data=tmp_path) as scanner:
        report = await scanner.scan(make_skill({"a.sh": "echo hello\n"}))
    assert (report.status, report.summary) == (ExternalScanStatus.PASS, "Found nothing. The skill has no Python file.")


async def test_bandit_sees_what_tier_1_sees__on_skills_of_our_corpus(tmp_path: Path) -> None:
    cases = [
        case
        for case in read_corpus()
        if case.kind == "malicious" and any(file.path.endswith(".py") for file in case.content.files)
    ][:3]
    async with scanner_of("bandit", data=tmp_path) as scanner:
        reports = [(case, await scanner.scan(case.content)) for case in cases]
    assert all(report.status in (ExternalScanStatus.PASS, ExternalScanStatus.FAIL) for _, report in reports)
    assert sum(len(report.findings) for _, report in reports) > 0
    for case, report in reports:
        ours = {finding.rule_id for finding in scan_content(case.content).findings}
        known = mark_known(report.findings, scan_content(case.content))
        assert {finding.same_as for finding in known} - {""} <= ours
