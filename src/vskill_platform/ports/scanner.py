"""Scanning as everyone above sees it: content in, report out."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol

from vskill_platform.domain.content import SkillContent
from vskill_platform.domain.scan import ScanReport

NO_CHANGES: Mapping[str, str] = MappingProxyType({})


class Scanner(Protocol):
    """Looks at a skill without running any of it."""

    async def scan(self, content: SkillContent, *, changes: Mapping[str, str] = NO_CHANGES) -> ScanReport:
        """The report on this content, by the scanner's rules with these changes in force: a severity or `off` by rule.

        The report's `ruleset_version` stands for exactly these rules with exactly these changes.
        What goes wrong inside a scan (a crash, a time-out, a limit) is part of the report, in `limits_hit`, and the
        report then does not say PASS. Raises ScannerUnavailable only where no scan could be started at all.
        """
        ...
