"""What an external scanner and our own scan have both found is shown, and marked as the same."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.opinions.test_after_publication import in_memory
from tests.pipeline.journey import Journey
from tests.pipeline.test_turning_down import DOUBTFUL
from vskill_platform.domain.content import SkillContent
from vskill_platform.domain.external_scan import ExternalFinding, ExternalReport, ExternalScanStatus
from vskill_platform.domain.scan import Finding
from vskill_platform.stores.external_scans import get_external_scan
from vskill_platform.stores.scans import get_scan


@pytest.fixture
def settings() -> dict[str, object]:
    return {"external_scanners": "echo", "external_scans_when": "before"}


@dataclass
class Echo:
    """Says what our own scan has said, and one thing of its own."""

    ours: Finding
    name: str = "echo"

    async def scan(self, content: SkillContent) -> ExternalReport:
        """Two findings, one of them ours."""
        same = ExternalFinding(
            rule_id=f"echo/{self.ours.category.value}.again",
            severity=self.ours.severity,
            file=self.ours.file,
            line=self.ours.line,
        )
        own = ExternalFinding(rule_id="echo/typo", severity=self.ours.severity, file=self.ours.file, line=1)
        return ExternalReport(provider="echo", status=ExternalScanStatus.PASS, score=80, findings=(same, own))

    async def unavailable_because(self) -> str:
        """It can always be asked."""
        return ""


@in_memory
async def test_finding_that_ours_has_too_is_marked__and_others_are_not(journey: Journey) -> None:
    journey.repository("acme/doubt", {"SKILL.md": DOUBTFUL})
    (submission,) = await journey.take_through("acme/doubt")
    ours = await journey.inside(lambda: get_scan(submission))
    assert ours is not None
    first = next(finding for finding in ours.report.findings if finding.line > 1)
    await journey.with_env(external={"echo": Echo(first)}).work_externally()
    scan = await journey.inside(lambda: get_external_scan(submission.id, "echo"))
    assert scan is not None
    assert [finding.same_as for finding in scan.findings] == [first.rule_id, ""]
