"""A skill that may be published: whose it is, its bytes, what its SKILL.md says, and what the scan said of them."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from vskill_platform.domain.content import skill_file_of
from vskill_platform.domain.errors import UnreadableSkill
from vskill_platform.domain.records import Submission
from vskill_platform.domain.scan import ScanReport
from vskill_platform.domain.skill import CertTier
from vskill_platform.domain.slug import is_pushed
from vskill_platform.ingest.skill_md import SkillMd, parse_skill_md
from vskill_platform.pipeline.pinning import Pinned, read_pinned
from vskill_platform.stores.scans import get_scan


class Candidate(NamedTuple):
    """Everything that publishing needs to know."""

    submission: Submission
    pinned: Pinned
    skill_md: SkillMd
    report: ScanReport
    tier: CertTier = CertTier.SCANNED

    @property
    def names(self) -> list[str]:
        """What the skill calls itself, beside the name of its folder."""
        return [self.skill_md.name or ""]

    @property
    def content_digest(self) -> str:
        """The digest of its bytes."""
        return self.pinned.pin.content_digest


async def find_candidate(submission: Submission, *, tier: CertTier) -> Candidate | None:
    """What the present run has scanned, as it was scanned; None where it has scanned nothing."""
    scan = await get_scan(submission)
    if submission.pin is None or scan is None or scan.report.content_digest != submission.pin.content_digest:
        return None
    pinned = await read_pinned(submission.pin)
    return Candidate(submission, pinned, await read_skill_md(submission, pinned), scan.report, tier)


async def read_skill_md(submission: Submission, pinned: Pinned) -> SkillMd:
    """The SKILL.md of pinned content. Raises UnreadableSkill."""
    file = skill_file_of(pinned.content)
    if file is None:
        raise UnreadableSkill("The skill's SKILL.md could not be read: it is missing, a link, or too large.")
    pushed_as = submission.skill_name if is_pushed(submission.repo_url) else None
    folder_name = submission.skill_path.rsplit("/", 1)[-1] or pushed_as
    return await asyncio.to_thread(parse_skill_md, file.content, folder_name=folder_name)
