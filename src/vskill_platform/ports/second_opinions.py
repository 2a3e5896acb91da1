"""Second opinions as everyone above sees them: external scanners and the judge."""

from __future__ import annotations

from typing import Protocol

from vskill_platform.domain.content import SkillContent
from vskill_platform.domain.external_scan import ExternalReport
from vskill_platform.domain.judgement import Judgement
from vskill_platform.domain.scan import ScanReport


class ExternalScanner(Protocol):
    """A scanner that somebody else has made."""

    @property
    def name(self) -> str:
        """What the operator calls it, and what its results are kept under."""
        ...

    async def scan(self, content: SkillContent) -> ExternalReport:
        """What the scanner says of this content.

        What goes wrong (a time limit, a crash, too much output, an answer that makes no sense) is part of the report: TIMED_OUT
        or ERROR with a summary, never PASS.
        """
        ...

    async def unavailable_because(self) -> str:
        """Why it cannot be asked on this machine, in a sentence for the operator; empty where it can."""
        ...


class Judge(Protocol):
    """A model that reads a skill and what tier 1 found in it."""

    @property
    def model(self) -> str:
        """The name of the model that is asked."""
        ...

    @property
    def prompt_version(self) -> str:
        """What stands for the exact words that the model is asked with."""
        ...

    async def judge(self, content: SkillContent, report: ScanReport) -> Judgement:
        """What the judge says. A judge that is down, slow, over its limits or talking nonsense gives no verdict, and says why."""
        ...
