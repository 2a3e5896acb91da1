"""detect-secrets: passwords, keys and tokens that were left in files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from vskill_platform.domain.content import SkillContent
from vskill_platform.domain.scan import Severity
from vskill_platform.scanning.external.normalising import Sighting, Sightings
from vskill_platform.scanning.external.sandbox import Outcome
from vskill_platform.scanning.external.tools import Unreadable

_PARDONS = (
    "detect_secrets.filters.allowlist.is_line_allowlisted",
    "detect_secrets.filters.common.is_baseline_file",
    "detect_secrets.filters.heuristic.is_lock_file",
    "detect_secrets.filters.heuristic.is_swagger_file",
)
"""Filters by which a file could pardon itself."""
_GUESSES = {
    "Base64 High Entropy String": Severity.LOW,
    "Hex High Entropy String": Severity.LOW,
    "Public IP (ipv4)": Severity.INFO,
    "Secret Keyword": Severity.LOW,
    "Basic Auth Credentials": Severity.MEDIUM,
    "JSON Web Token": Severity.MEDIUM,
}
"""What goes by the look of a text alone. All else has the form of a certain key, and is grave."""


class _Secret(msgspec.Struct, frozen=True):
    type: str
    filename: str
    line_number: int


class _Answer(msgspec.Struct, frozen=True):
    results: dict[str, list[_Secret]]


class DetectSecrets:
    """detect-secrets over all files, with nothing asked of any service. What it found is never repeated in words."""

    name = "detect-secrets"

    def missing_because(self) -> str:
        """Its environment has all that it needs."""
        return ""

    def nothing_to_do(self, content: SkillContent) -> str:
        """It looks at every file."""
        return ""

    def command(self, content: SkillContent, *, python: Path, skill: Path) -> list[str]:
        """Comments that pardon a line do not count. It passes over all that is not below its own folder (`-C`)."""
        pardons = [word for name in _PARDONS for word in ("--disable-filter", name)]
        options = ("--all-files", "--no-verify", *pardons)
        return [str(python), "-I", "-m", "detect_secrets", "-C", str(skill), "scan", *options, str(skill)]

    def variables(self) -> Mapping[str, str]:
        """Nothing."""
        return {}

    def read(self, outcome: Outcome) -> Sightings:
        """What it found."""
        if outcome.status != 0:
            raise Unreadable("it did not come to its end")
        answer = msgspec.json.decode(outcome.output, type=_Answer)
        return Sightings(found=[_sighting(secret) for secrets in answer.results.values() for secret in secrets])


def _sighting(secret: _Secret) -> Sighting:
    return Sighting(
        rule=f"secret-{secret.type.lower().replace(' ', '-')}",
        severity=_GUESSES.get(secret.type, Severity.HIGH),
        file=secret.filename,
        line=secret.line_number,
        message=f"This line looks as if it had a secret in it: {secret.type}.",
        fix="Take the secret out, make it invalid where it is used, and have the skill ask for one.",
    )
