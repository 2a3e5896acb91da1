"""bandit: mistakes and dangers in Python code."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from vskill_platform.domain.content import SkillContent, SkillFile
from vskill_platform.domain.scan import Severity
from vskill_platform.scanning.external.normalising import Sighting, Sightings
from vskill_platform.scanning.external.sandbox import Outcome
from vskill_platform.scanning.external.tools import Unreadable

NO_SETTINGS = Path(__file__).parent / "bandit.ini"
_SUFFIXES = (".py", ".pyw", ".pyi")
_SEVERITIES = {"HIGH": Severity.HIGH, "MEDIUM": Severity.MEDIUM, "LOW": Severity.LOW}
_UNREAD = "unread-file"


class _Issue(msgspec.Struct, frozen=True):
    filename: str
    test_id: str
    test_name: str
    issue_severity: str
    issue_confidence: str
    issue_text: str
    line_number: int


class _Error(msgspec.Struct, frozen=True):
    filename: str
    reason: str


class _Answer(msgspec.Struct, frozen=True):
    results: list[_Issue]
    errors: list[_Error]


class Bandit:
    """bandit over the Python files of a skill, which are named one by one: it would pass over hidden ones by itself."""

    name = "bandit"

    def missing_because(self) -> str:
        """Its environment has all that it needs."""
        return ""

    def nothing_to_do(self, content: SkillContent) -> str:
        """Why there is nothing to look at."""
        return "" if any(map(_is_python, content.files)) else "The skill has no Python file."

    def command(self, content: SkillContent, *, python: Path, skill: Path) -> list[str]:
        """Every suppression and setting that the skill could bring is switched off."""
        files = [str(skill / file.path) for file in content.files if _is_python(file)]
        options = (
            "--format",
            "json",
            "--quiet",
            "--exit-zero",
            "--ignore-nosec",
            "--ini",
            str(NO_SETTINGS),
            "-x",
            "/-",
        )
        return [str(python), "-I", "-m", "bandit", *options, *files]

    def variables(self) -> Mapping[str, str]:
        """Nothing."""
        return {}

    def read(self, outcome: Outcome) -> Sightings:
        """What bandit says. A file that it cannot read is a finding: nobody has seen what is in it."""
        if outcome.status != 0:
            raise Unreadable("it did not come to its end")
        answer = msgspec.json.decode(outcome.output, type=_Answer)
        found = [_sighting(issue) for issue in answer.results]
        unread = [_unread(error) for error in answer.errors]
        note = f"{len(unread)} files could not be read." if unread else ""
        return Sightings(found=[*found, *unread], note=note)


def _sighting(issue: _Issue) -> Sighting:
    return Sighting(
        rule=f"{issue.test_id}-{issue.test_name}",
        severity=_severity(issue),
        file=issue.filename,
        line=issue.line_number,
        message=issue.issue_text,
    )


def _severity(issue: _Issue) -> Severity:
    """bandit's own severity, one step less where it is not sure."""
    severity = _SEVERITIES.get(issue.issue_severity, Severity.LOW)
    steps = list(Severity)
    return severity if issue.issue_confidence != "LOW" else steps[min(steps.index(severity) + 1, len(steps) - 1)]


def _unread(error: _Error) -> Sighting:
    return Sighting(
        rule=_UNREAD,
        severity=Severity.LOW,
        file=error.filename,
        message=f"bandit could not read this file: {error.reason}.",
    )


def _is_python(file: SkillFile) -> bool:
    return file.path.lower().endswith(_SUFFIXES) or (file.content[:2] == b"#!" and b"python" in file.content[:128])
