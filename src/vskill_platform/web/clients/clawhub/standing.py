"""How a skill stands that somebody wants: offered, flagged as malicious, held back, or withdrawn."""

from __future__ import annotations

from typing import NamedTuple

from vskill_platform.domain.errors import NotAllowed, SkillQuarantined, SkillWithdrawn, VskillError
from vskill_platform.domain.scan import Verdict
from vskill_platform.domain.skill import CertTier, Skill, SkillVersion
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.domain.times import ms_from_iso
from vskill_platform.domain.tombstone import Departure
from vskill_platform.stores.blocklist import find_block
from vskill_platform.stores.submissions import find_submission
from vskill_platform.stores.tombstones import get_tombstone
from vskill_platform.web.clients.clawhub.naming import Named


class Standing(NamedTuple):
    """How it stands. `reason` says why it is not offered, if it is not."""

    is_offered: bool
    is_malware: bool = False
    is_held: bool = False
    reason: str = ""


async def standing_of(named: Named) -> Standing:
    """How a skill stands now. Raises StoreUnavailable where that cannot be known."""
    if not named.found.is_withdrawn:
        return Standing(is_offered=True)
    tombstone = await get_tombstone(named.skill.slug)
    reason = tombstone.reason if tombstone is not None and tombstone.reason else "No reason was kept."
    is_held = tombstone is not None and tombstone.kind is Departure.QUARANTINED
    return Standing(False, is_malware=await _is_malware(named.skill), is_held=is_held, reason=reason)


async def _is_malware(skill: Skill) -> bool:
    """Whether the blocklist, or the last scan of these very bytes, stands against it."""
    found = await find_submission(skill.submission_id)
    if found is None:
        return False
    submission = found.submission
    is_same = submission.pin is not None and submission.pin.content_digest == skill.content_digest
    if is_same and submission.state is SubmissionState.TIER1_FAILED:
        return True
    return await find_block(submission, names=[skill.name], content_digest=skill.content_digest) is not None


async def require_offered(named: Named) -> Skill:
    """The skill, if anybody may have it. Raises NotAllowed for what is flagged, SkillWithdrawn for what is gone."""
    standing = await standing_of(named)
    if not standing.is_offered:
        raise refusal(named, standing)
    return named.skill


def refusal(named: Named, standing: Standing) -> VskillError:
    """Why a skill cannot be had. What is gone says "Skill not found", as clients expect of it."""
    slug = named.skill.slug
    if standing.is_malware:
        return NotAllowed(f"{slug} is flagged as malicious and cannot be installed: {standing.reason}", slug=slug)
    if standing.is_held:
        return SkillQuarantined(f"{slug} is held back until it has been looked at: {standing.reason}", slug=slug)
    return SkillWithdrawn(f"Skill not found: {slug} is no longer published. {standing.reason}", slug=slug)


def is_suspicious(version: SkillVersion) -> bool:
    """Whether the scan has concerns that no person and no trusted vendor has cleared."""
    return version.verdict is not Verdict.PASS and version.tier is CertTier.SCANNED


def describe_moderation(version: SkillVersion | None, standing: Standing, codes: list[str]) -> dict[str, object]:
    """What clients look at before they install: never left out, so that unknown is not taken for clean."""
    suspicious = standing.is_held or (version is not None and is_suspicious(version))
    verdict = "malicious" if standing.is_malware else "suspicious" if suspicious else "clean"
    told = "" if version is None else f"{version.verdict.value}, {version.score} of 100"
    return {
        "isSuspicious": suspicious or standing.is_malware,
        "isMalwareBlocked": standing.is_malware,
        "verdict": verdict,
        "reasonCodes": codes,
        "updatedAt": None if version is None else ms_from_iso(version.updated_at),
        "engineVersion": None if version is None else f"{version.scanner_version} {version.ruleset_version}",
        "summary": standing.reason or told,
        "legacyReason": standing.reason or None,
    }
