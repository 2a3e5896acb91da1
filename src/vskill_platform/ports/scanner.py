"""Scanning as everyone above sees it: content in, report out."""

from __future__ import annotations

from typing import Protocol

from vskill_platform.domain.content import SkillContent
from vskill_platform.domain.scan import ScanReport


class Scanner(Protocol):
    """Looks at a skill without running any of it."""

    async def scan(self, content: SkillContent) -> ScanReport:
        """The report on this content.

        What goes wrong inside a scan (a crash, a time-out, a limit) is part of the report, in `limits_hit`, and the
        report then does not say PASS. Raises ScannerUnavailable only where no scan could be started at all.
        """
        ...
