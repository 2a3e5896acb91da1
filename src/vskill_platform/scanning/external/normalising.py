"""What tools say, in our words: findings of one form, about files that the skill has, of bounded number and length.

Excerpts are taken from the skill itself and never from what a tool printed.
"""

from __future__ import annotations

from collections import Counter
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
MOST_VERSION = 40
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
    places = _Places(content, folder=folder)
    once = list(dict.fromkeys(sightings.found))
    named = [(sighting, file) for sighting in once if (file := places.file_of(sighting.file))]
    named.sort(key=lambda pair: _rank(*pair))
    findings = tuple(_finding(*pair, provider=provider, places=places) for pair in named[:MOST_FINDINGS])
    weights = [_weight(sighting) for sighting in once]
    return ExternalReport(
        provider=provider,
        provider_version=bounded(sightings.version, limit=MOST_VERSION) or version,
        status=external_status(weights),
        score=external_score(weights),
        findings=findings,
        left_off=len(once) - len(findings),
        summary=_summary(once, strangers=len(once) - len(named), note=sightings.note),
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


class _Places:
    """The files of a skill and their lines, by the names that a tool gives them."""

    def __init__(self, content: SkillContent, *, folder: str) -> None:
        self._folder = folder
        self._files = {file.path: file.content for file in content.files}
        self._lines: dict[str, list[str]] = {}
        whole = skill_file_of(content)
        self._whole = whole.path if whole else next(iter(self._files), "")

    def file_of(self, name: str) -> str:
        """The skill's own name for a file; empty where it has no such file."""
        path = PurePosixPath(name)
        if self._folder and path.is_relative_to(self._folder):
            path = path.relative_to(self._folder)
        return self._whole if path == PurePosixPath(".") else str(path) if str(path) in self._files else ""

    def line_of(self, file: str, number: int) -> str | None:
        """The text of a line; None where the file has no such line."""
        if file not in self._lines:
            self._lines[file] = self._files[file].decode("utf-8", "replace").split("\n")
        lines = self._lines[file]
        return lines[number - 1] if 0 < number <= len(lines) else None


def _finding(sighting: Sighting, file: str, *, provider: str, places: _Places) -> ExternalFinding:
    text = places.line_of(file, sighting.line)
    return ExternalFinding(
        rule_id=bounded(f"{provider}/{sighting.rule or 'unnamed'}", limit=MOST_RULE_ID),
        severity=sighting.severity,
        file=file,
        line=0 if text is None else sighting.line,
        message=bounded(sighting.message),
        excerpt="" if text is None else make_excerpt(text),
        fix=bounded(sighting.fix),
    )


def _weight(sighting: Sighting) -> ExternalFinding:
    """What counts of a sighting for score and status."""
    return ExternalFinding(rule_id="", severity=sighting.severity, file="")


def _rank(sighting: Sighting, file: str) -> tuple[int, str, int, str]:
    return _GRAVITY[sighting.severity], file, sighting.line, sighting.rule


def _summary(sightings: Iterable[Sighting], *, strangers: int, note: str) -> str:
    counts = Counter(sighting.severity for sighting in sightings)
    told = ", ".join(f"{counts[severity]} {severity.value}" for severity in Severity if counts[severity]) or "nothing"
    sentences = [f"Found {told}."]
    if strangers:
        sentences.append(f"{strangers} of them name a file that the skill does not have, and are not shown.")
    return bounded(" ".join([*sentences, note]).strip())
