"""What tools say becomes findings of ours: of files that the skill has, few, short, and all of them counted."""

from __future__ import annotations

import pytest

from tests.scanning.building import make_skill
from vskill_platform.domain.external_scan import ExternalReport, ExternalScanStatus
from vskill_platform.domain.scan import Severity
from vskill_platform.scanning.external.normalising import MOST_FINDINGS, MOST_TEXT, Sighting, Sightings, report_of

SKILL = make_skill({"a/run.sh": "one\ntwo\u202e\nthree\n"})
FOLDER = "/srv/scans/x/skill"


def report(*found: Sighting, note: str = "", version: str = "") -> ExternalReport:
    sightings = Sightings(found=found, note=note, version=version)
    return report_of(sightings, provider="tool", version="1.0", content=SKILL, folder=FOLDER, duration_ms=1.0)


def seen(file: str, *, line: int = 0, severity: Severity = Severity.LOW, message: str = "m") -> Sighting:
    return Sighting(rule="R1", severity=severity, file=file, line=line, message=message)


@pytest.mark.parametrize("name", [f"{FOLDER}/a/run.sh", "a/run.sh", "./a/run.sh"])
def test_file_is_named_as_the_skill_names_it(name: str) -> None:
    (finding,) = report(seen(name, line=1)).findings
    assert (finding.rule_id, finding.file, finding.line, finding.excerpt) == ("tool/R1", "a/run.sh", 1, "one")


@pytest.mark.parametrize(
    "name",
    [
        "/etc/passwd",
        "../../other/SKILL.md",
        f"{FOLDER}/../other/SKILL.md",
        f"{FOLDER}x/SKILL.md",
        "a/missing.sh",
        "a",
        "https://x.example/SKILL.md",
        "a/run.sh\0",
    ],
)
def test_file_that_the_skill_does_not_have_is_not_shown__and_still_counts(name: str) -> None:
    told = report(seen(name, severity=Severity.CRITICAL))
    assert (told.status, told.score, told.findings, told.left_off) == (ExternalScanStatus.FAIL, 75, (), 1)
    assert told.summary == "Found 1 critical. 1 of them name a file that the skill does not have, and are not shown."


@pytest.mark.parametrize("name", ["", ".", FOLDER, f"{FOLDER}/"])
def test_finding_about_the_skill_as_a_whole_is_of_its_skill_file(name: str) -> None:
    assert [(one.file, one.line) for one in report(seen(name)).findings] == [("SKILL.md", 0)]


@pytest.mark.parametrize("line", [-1, 0, 99, 10**30])
def test_line_that_the_file_does_not_have_is_the_file_as_a_whole(line: int) -> None:
    assert [(one.line, one.excerpt) for one in report(seen("a/run.sh", line=line)).findings] == [(0, "")]


def test_text_of_a_tool_is_on_one_line_and_short__and_shows_what_is_invisible() -> None:
    (finding,) = report(seen("a/run.sh", line=2, message="a\n\tb\u200b" + "x" * 9999)).findings
    assert finding.message.startswith("a b\\u200bxxx")
    assert len(finding.message) == MOST_TEXT
    assert finding.excerpt == "two\\u202e"


def test_gravest_findings_are_kept__when_there_are_too_many() -> None:
    low = [seen("SKILL.md", line=1, message=str(number)) for number in range(2 * MOST_FINDINGS)]
    told = report(*low, seen("SKILL.md", line=2, severity=Severity.HIGH))
    assert (len(told.findings), told.left_off) == (MOST_FINDINGS, MOST_FINDINGS + 1)
    assert told.findings[0].severity is Severity.HIGH
    assert (told.score, told.status) == (0, ExternalScanStatus.FAIL)


def test_same_finding_told_twice_counts_once() -> None:
    assert report(seen("SKILL.md", line=1), seen("SKILL.md", line=1)).score == 99


def test_nothing_found_is_a_pass__with_what_the_tool_noted() -> None:
    told = report(note="1 file could not be read.", version="2.0")
    assert (told.status, told.score, told.provider_version) == (ExternalScanStatus.PASS, 100, "2.0")
    assert told.summary == "Found nothing. 1 file could not be read."
