"""snyk-agent-scan: sends the skill to Snyk's service, which answers. Only with the operator's token, and with network.

It is the one scanner that is not kept from the network, since all of its work is done elsewhere. Whoever switches it on sends
every skill that is submitted to Snyk.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from vskill_platform.domain.content import SkillContent
from vskill_platform.domain.scan import Severity
from vskill_platform.scanning.external.normalising import Sighting, Sightings
from vskill_platform.scanning.external.sandbox import Outcome
from vskill_platform.scanning.external.tools import Unreadable
from vskill_platform.settings import PREFIX

_SCORES = ((900, Severity.CRITICAL), (700, Severity.HIGH), (400, Severity.MEDIUM), (1, Severity.LOW))
"""The service scores a risk from 0 to 1000."""


class _Occurrence(msgspec.Struct, frozen=True):
    path: str = ""
    line: int | None = None


class _Region(msgspec.Struct, frozen=True):
    start: _Occurrence = _Occurrence()


class _Risk(msgspec.Struct, frozen=True):
    score: int
    evidence: str = ""
    locations: list[_Region] | None = None


class _Error(msgspec.Struct, frozen=True):
    message: str | None = None


class _Skill(msgspec.Struct, frozen=True):
    risk_indexes: dict[str, _Risk | None] = {}
    error: _Error | None = None


class _Path(msgspec.Struct, frozen=True):
    skill_risks: list[_Skill] = []
    error: _Error | None = None


class _Answer(msgspec.Struct, frozen=True):
    scan_path_responses: list[_Path]


@dataclass(frozen=True, slots=True)
class SnykAgentScan:
    """The client of Snyk's service. The token goes to it by its environment, where other users cannot see it."""

    token: str = field(repr=False)
    analysis_url: str = ""
    name: str = "snyk-agent-scan"

    def missing_because(self) -> str:
        """Nothing works without a token."""
        return "" if self.token else f"snyk-agent-scan needs a token of Snyk. Set {PREFIX}SNYK_TOKEN."

    def nothing_to_do(self, content: SkillContent) -> str:
        """It is asked about every skill."""
        return ""

    def command(self, content: SkillContent, *, python: Path, skill: Path) -> list[str]:
        """Servers that a skill's configuration names are never started."""
        where = [f"--analysis-url={self.analysis_url}"] if self.analysis_url else []
        program = str(python.with_name(self.name))
        return [str(python), "-I", program, "scan", "--json", "--skills", *where, str(skill)]

    def variables(self) -> Mapping[str, str]:
        """The token."""
        return {"SNYK_TOKEN": self.token}

    def read(self, outcome: Outcome) -> Sightings:
        """What the service says. An error of any part is one of the whole."""
        if outcome.status != 0:
            raise Unreadable("it did not come to its end")
        answer = msgspec.json.decode(outcome.output, type=_Answer)
        skills = [skill for path in answer.scan_path_responses for skill in path.skill_risks]
        told = [*(path.error for path in answer.scan_path_responses), *(skill.error for skill in skills)]
        errors = [error for error in told if error is not None]
        if errors or not skills:
            raise Unreadable(f"the service did not look at the skill ({errors[0].message if errors else 'no answer'})")
        return Sightings(found=[sighting for skill in skills for sighting in _sightings(skill)])


def _sightings(skill: _Skill) -> Iterator[Sighting]:
    for name, risk in skill.risk_indexes.items():
        if risk is None or risk.score <= 0:
            continue
        severity = next(severity for least, severity in _SCORES if risk.score >= least)
        for region in risk.locations or [_Region()]:
            yield Sighting(
                rule=name,
                severity=severity,
                file=region.start.path,
                line=region.start.line or 0,
                message=risk.evidence or name.replace("_", " "),
            )
