"""What tools say, in our words: findings of one form, about files that the skill has, of bounded number and length.

Excerpts are taken from the skill itself and never from what a tool printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from vskill_platform.domain.content import SkillContent, skill_file_of
from vskill_platform.domain.external_scan import (
    ExternalFinding,
    ExternalReport,
    ExternalScanStatus,
    external_score,
    external_status,
)
from vskill_platform.domain.scan import Severity
from vskill_platform.scanning.tier1.excerpts import make_excerpt, show_invisible

MOST_FINDINGS = 200
MOST_TEXT = 500
MOST_RULE_ID = 120
_GRAVITY = {severity: place for place, severity in enumerate(Severity)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """What a tool objects to, as it says it. `file` may be absolute; an empty one is the skill as a whole."""

    rule: str
    severity: Severity
    file: str = ""
    line: int = 0
    message: str = ""
    fix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sightings:
    """All that a tool says of a skill. `note` is told with the result, such as what the tool could not read."""

    found: Sequence[Sighting] = ()
    note: str = ""
    version: str = ""


def report_of(
    sightings: Sightings, *, provider: str, version: str, content: SkillContent, folder: str, duration_ms: float
) -> ExternalReport:
    """The report that sightings come to. Score and status count all of them, also those that are not shown."""
    every = [_finding(sighting, provider=provider, content=content, folder=folder) for sighting in sightings.found]
    shown = sorted((one for one in every if one.file), key=_rank)[:MOST_FINDINGS]
    strangers = sum(not one.file for one in every)
    return ExternalReport(
        provider=provider,
        provider_version=sightings.version or version,
        status=external_status(every),
        score=external_score(every),
        findings=tuple(shown),
        left_off=len(every) - len(shown),
        summary=_summary(every, strangers=strangers, note=sightings.note),
        duration_ms=round(duration_ms, 3),
    )


def failed_report(
    summary: str, *, provider: str, version: str = "", is_late: bool = False, duration_ms: float = 0.0
) -> ExternalReport:
    """The report of a scan that did not come to an end, and why."""
    return ExternalReport(
        provider=provider,
        provider_version=version,
        status=ExternalScanStatus.TIMED_OUT if is_late else ExternalScanStatus.ERROR,
        summary=bounded(summary),
        duration_ms=round(duration_ms, 3),
    )


def bounded(text: str, *, limit: int = MOST_TEXT) -> str:
    """Text of others on one line, with nothing invisible in it, and not long."""
    shown = show_invisible(" ".join(text[: 4 * limit].split()))
    return shown if len(shown) <= limit else f"{shown[: limit - 1]}…"


def _finding(sighting: Sighting, *, provider: str, content: SkillContent, folder: str) -> ExternalFinding:
    """The finding; without a file where the tool names one that the skill does not have."""
    file = _file_of(sighting.file, content=content, folder=folder)
    lines = _lines(content, file) if sighting.line > 0 else []
    line = sighting.line if 0 < sighting.line <= len(lines) else 0
    return ExternalFinding(
        rule_id=bounded(f"{provider}/{sighting.rule or 'unnamed'}", limit=MOST_RULE_ID),
        severity=sighting.severity,
        file=file,
        line=line,
        message=bounded(sighting.message),
        excerpt=make_excerpt(lines[line - 1]) if line else "",
        fix=bounded(sighting.fix),
    )


def _file_of(name: str, *, content: SkillContent, folder: str) -> str:
    """The skill's own name for a file that a tool names; empty where it has no such file."""
    path = PurePosixPath(name)
    if path.is_relative_to(folder):
        path = path.relative_to(folder)
    if path == PurePosixPath("."):
        whole = skill_file_of(content)
        return whole.path if whole else ""
    names = {file.path for file in content.files}
    return str(path) if str(path) in names else ""


def _lines(content: SkillContent, path: str) -> list[str]:
    data = next((file.content for file in content.files if file.path == path), b"")
    return data.decode("utf-8", "replace").split("\n")


def _rank(finding: ExternalFinding) -> tuple[int, str, int, str]:
    return _GRAVITY[finding.severity], finding.file, finding.line, finding.rule_id


def _summary(findings: Iterable[ExternalFinding], *, strangers: int, note: str) -> str:
    counts = dict.fromkeys(Severity, 0)
    for finding in findings:
        counts[finding.severity] += 1
    told = ", ".join(f"{count} {severity.value}" for severity, count in counts.items() if count) or "nothing"
    sentences = [f"Found {told}."]
    if strangers:
        sentences.append(f"{strangers} of them name no file of the skill and are not shown.")
    return bounded(" ".join([*sentences, note]).strip())
