"""External scanners for tests: real implementations of the port that say what the test wants, by rules that it can see."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from vskill_platform.domain.content import SkillContent, content_digest
from vskill_platform.domain.external_scan import (
    ExternalFinding,
    ExternalReport,
    external_score,
    external_status,
)
from vskill_platform.domain.scan import Severity

BAD_WORD = "pineapple"
"""What every scanner of the tests objects to, and no rule of ours."""


@dataclass
class WordScanner:
    """Objects to every line that has the word, and remembers the digests of what it was given."""

    name: str
    severity: Severity = Severity.CRITICAL
    unavailable: str = ""
    breaks: bool = False
    waits_for: asyncio.Event | None = None
    seen: list[str] = field(default_factory=list)

    async def scan(self, content: SkillContent) -> ExternalReport:
        """What it says of the content."""
        self.seen.append(content_digest(content))
        if self.waits_for is not None:
            await self.waits_for.wait()
        if self.breaks:
            raise RuntimeError("the scanner is broken")
        findings = tuple(
            ExternalFinding(rule_id="word", severity=self.severity, file=file.path, line=number, message="The word.")
            for file in content.files
            for number, line in enumerate(file.content.decode(errors="replace").splitlines(), 1)
            if BAD_WORD in line
        )
        return ExternalReport(
            provider=self.name,
            provider_version="1.0",
            status=external_status(findings),
            score=external_score(findings),
            findings=findings,
        )

    async def unavailable_because(self) -> str:
        """Why it cannot be asked."""
        return self.unavailable
