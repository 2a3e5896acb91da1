"""`vskill-platform worker` with one binding of its env exchanged: `python -m benchmarks.worker WORK worker`.

WORK is a number of seconds: the pipeline is the real one, and its scanner waits so long and lets everything pass. Or it is
`review`: every submission is claimed and left to a person. Everything else is the real command, with its settings from the
environment.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from vskill_platform.app import env
from vskill_platform.cli.main import main
from vskill_platform.domain.content import SkillContent, content_digest
from vskill_platform.domain.scan import ScanReport, Verdict
from vskill_platform.ports.scanner import NO_CHANGES
from vskill_platform.scanning.tier1.packs import load_rules
from vskill_platform.settings import Settings
from vskill_platform.testing.processing import review_everything


class WaitingScanner:
    """Stands in for the pool of scanning processes: every skill passes, after a fixed wait."""

    scan_s = 0.0

    def __init__(self, settings: Settings) -> None:
        self._rules = load_rules(settings.rules_folder).version

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    async def scan(self, content: SkillContent, *, changes: Mapping[str, str] = NO_CHANGES) -> ScanReport:
        """PASS, when the time is over."""
        await asyncio.sleep(self.scan_s)
        return ScanReport(
            name="",
            verdict=Verdict.PASS,
            score=100,
            flagged=False,
            content_digest=content_digest(content),
            ruleset_version=self._rules,
            scanner_version="waits",
        )


def exchange_binding(work: str) -> None:
    """Make the env of this process hold what the benchmark wants in place of the real thing."""
    if work == "review":
        env.process_message = review_everything  # type: ignore[attr-defined]
    else:
        WaitingScanner.scan_s = float(work)
    env.ScannerPool = WaitingScanner  # type: ignore[assignment, attr-defined]


if __name__ == "__main__":
    exchange_binding(sys.argv.pop(1))
    main()
