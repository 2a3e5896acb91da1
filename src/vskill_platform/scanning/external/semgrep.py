"""semgrep: patterns of code, by the rules that come with this package, since none can be downloaded where scanners run.

It is run without the part that is written in Python (`--experimental`), which takes half a second instead of several.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from vskill_platform.domain.content import SkillContent
from vskill_platform.domain.scan import Severity
from vskill_platform.scanning.external.normalising import Sighting, Sightings
from vskill_platform.scanning.external.sandbox import Outcome
from vskill_platform.scanning.external.tools import Unreadable

RULES = Path(__file__).parent / "semgrep_rules"
_OPTIONS = (
    *("scan", "--experimental", "--metrics=off", "--disable-version-check", "--json", "--quiet", "--jobs=1"),
    *("--disable-nosem", "--no-git-ignore", "--x-ignore-semgrepignore-files", "--novcs"),
    *("--max-target-bytes=0", "--no-rewrite-rule-ids", "--timeout=20"),
)
_SEVERITIES = {
    "CRITICAL": Severity.CRITICAL,
    "HIGH": Severity.HIGH,
    "ERROR": Severity.HIGH,
    "MEDIUM": Severity.MEDIUM,
    "WARNING": Severity.MEDIUM,
    "LOW": Severity.LOW,
    "INFO": Severity.INFO,
}


class _Place(msgspec.Struct, frozen=True):
    line: int


class _Metadata(msgspec.Struct, frozen=True):
    fix: str = ""


class _Extra(msgspec.Struct, frozen=True):
    message: str
    severity: str
    metadata: _Metadata = _Metadata()


class _Match(msgspec.Struct, frozen=True):
    check_id: str
    path: str
    start: _Place
    extra: _Extra


class _Error(msgspec.Struct, frozen=True):
    message: str = ""
    level: str = "error"
    path: str = ""


class _Answer(msgspec.Struct, frozen=True):
    results: list[_Match]
    errors: list[_Error]
    version: str = ""


class Semgrep:
    """semgrep by our own rules. Ignore files and comments of the skill do not count; nothing is sent anywhere."""

    name = "semgrep"

    def missing_because(self) -> str:
        """Its environment has all that it needs."""
        return ""

    def nothing_to_do(self, content: SkillContent) -> str:
        """It finds out by itself which files it can read."""
        return ""

    def command(self, content: SkillContent, *, python: Path, skill: Path) -> list[str]:
        """The native part does all the work; Python only starts it."""
        return [str(python), "-I", str(python.with_name("semgrep")), *_OPTIONS, f"--config={RULES}", str(skill)]

    def variables(self) -> Mapping[str, str]:
        """Nothing is sent anywhere."""
        return {"SEMGREP_SEND_METRICS": "off", "SEMGREP_ENABLE_VERSION_CHECK": "0"}

    def read(self, outcome: Outcome) -> Sightings:
        """What it found. A file that it cannot read in full is a finding that informs."""
        if outcome.status not in (0, 1):
            raise Unreadable("it did not come to its end")
        answer = msgspec.json.decode(outcome.output, type=_Answer)
        if any(not error.path and error.level == "error" for error in answer.errors):
            raise Unreadable("it reports an error of its own")
        unread = {error.path: error for error in answer.errors if error.path}
        note = f"{len(unread)} files could not be read in full." if unread else ""
        return Sightings(
            found=[*map(_sighting, answer.results), *map(_unread, unread.values())], note=note, version=answer.version
        )


def _sighting(match: _Match) -> Sighting:
    return Sighting(
        rule=match.check_id,
        severity=_SEVERITIES.get(match.extra.severity, Severity.MEDIUM),
        file=match.path,
        line=match.start.line,
        message=match.extra.message,
        fix=match.extra.metadata.fix,
    )


def _unread(error: _Error) -> Sighting:
    return Sighting(
        rule="unread-file",
        severity=Severity.INFO,
        file=error.path,
        message=f"semgrep could not read all of this file: {error.message}",
    )
