"""cisco-ai-skill-scanner: made for skills, as ours is. It takes seconds to start, so it is kept running."""

from __future__ import annotations

from pathlib import Path

import msgspec

from vskill_platform.domain.scan import Severity
from vskill_platform.scanning.external.normalising import Sighting, Sightings
from vskill_platform.scanning.external.tools import Unreadable

CHILD = Path(__file__).parent / "cisco_child.py"
_SEVERITIES = {severity.value.upper(): severity for severity in Severity}


class _Found(msgspec.Struct, frozen=True):
    rule: str
    category: str
    severity: str
    file: str
    line: int
    message: str
    fix: str


class _Answer(msgspec.Struct, frozen=True):
    findings: list[_Found] = []
    failed: list[str] = []
    error: str = ""


class Cisco:
    """The scanner behind a process of its own."""

    name = "cisco-ai-skill-scanner"

    def command(self, *, python: Path) -> list[str]:
        """What is kept running."""
        return [str(python), "-I", str(CHILD)]

    def read(self, data: bytes) -> Sightings:
        """What it says of one skill."""
        answer = msgspec.json.decode(data, type=_Answer)
        if answer.error:
            raise Unreadable(f"it could not load the skill ({answer.error})")
        if answer.failed:
            raise Unreadable(f"a part of it failed ({', '.join(answer.failed)})")
        return Sightings(found=[_sighting(found) for found in answer.findings])


def _sighting(found: _Found) -> Sighting:
    return Sighting(
        rule=f"{found.category}.{found.rule}",
        severity=_SEVERITIES.get(found.severity, Severity.INFO),
        file=found.file,
        line=found.line,
        message=found.message,
        fix=found.fix,
    )
