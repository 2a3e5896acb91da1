"""How installed skills stand against their registry: current, outdated, or taken back since."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import msgspec

from vskill_platform.client.answers import BlockEntry, UpdateAnswer
from vskill_platform.client.lock_file import LockedSkill
from vskill_platform.client.skills import Skills, told_blocks
from vskill_platform.domain.capabilities import CapabilityChanges
from vskill_platform.domain.errors import InvalidInput


class StandingStatus(StrEnum):
    """How an installed skill stands. `elsewhere` is one of another registry, which was not asked."""

    CURRENT = "current"
    OUTDATED = "outdated"
    YANKED = "yanked"
    WITHDRAWN = "withdrawn"
    BLOCKED = "blocked"
    UNKNOWN = "unknown"
    ELSEWHERE = "elsewhere"


_STATUSES = {status.value: status for status in StandingStatus}
TAKEN_BACK = frozenset({StandingStatus.YANKED, StandingStatus.WITHDRAWN, StandingStatus.BLOCKED})
"""What its users should know of at once."""
OUT_OF_DATE = frozenset({StandingStatus.OUTDATED, StandingStatus.YANKED})
"""What an update has something else for."""


class Standing(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One installed skill, what the registry says of it, and the version to take instead where there is one."""

    slug: str
    installed: str
    content_digest: str
    status: StandingStatus
    latest: str | None = None
    current_slug: str | None = None
    reason: str | None = None
    capability_changes: CapabilityChanges | None = None
    folders: tuple[str, ...] = ()

    @property
    def is_taken_back(self) -> bool:
        """Whether the installed bytes should not be used any more."""
        return self.status in TAKEN_BACK

    @property
    def has_update(self) -> bool:
        """Whether there is another version to take."""
        return self.status in OUT_OF_DATE and self.latest is not None


async def look_at(skills: Skills, installed: Sequence[LockedSkill]) -> list[Standing]:
    """How each stands, in their order. Those of other registries are not asked about."""
    here = [skill for skill in installed if skill.server == skills.server]
    asked = [{"slug": one.slug, "version": one.version, "contentDigest": one.content_digest} for one in here]
    answers = dict(zip((one.slug for one in here), await skills.updates(asked) if asked else [], strict=True))
    pinned = await skills.pinned()
    found = []
    for skill in installed:
        if skill.slug not in answers:
            found.append(_standing(skill, StandingStatus.ELSEWHERE, reason=f"It is installed from {skill.server}."))
            continue
        blocks = await skills.blocks(skill.slug, name=skill.name, digest=skill.content_digest, repo_url=skill.repo_url)
        found.append(_judge(skill, answers[skill.slug], blocks, pinned=pinned.get(skill.slug, "")))
    return found


def server_of(installed: Sequence[LockedSkill]) -> str:
    """The registry that all of them came from. Raises InvalidInput where there are several, or nothing is installed."""
    servers = sorted({skill.server for skill in installed})
    if len(servers) != 1:
        told = (
            f"Skills of several registries are installed: {', '.join(servers)}." if servers else "No registry is named."
        )
        raise InvalidInput(f"{told} Name one with --server, or in VSKILL_PLATFORM_SERVER.")
    return servers[0]


def _judge(skill: LockedSkill, answer: UpdateAnswer, blocks: Sequence[BlockEntry], *, pinned: str) -> Standing:
    """What an entry of the blocklist says counts before everything else, and a pinned version before the newest."""
    if blocks:
        return _standing(skill, StandingStatus.BLOCKED, reason=f"Blocked {told_blocks(blocks)}")
    status = _STATUSES.get(answer.status, StandingStatus.UNKNOWN)
    if pinned and status in (StandingStatus.CURRENT, StandingStatus.OUTDATED):
        status = StandingStatus.CURRENT if pinned == skill.version else StandingStatus.OUTDATED
    return _standing(
        skill,
        status,
        latest=pinned or answer.version,
        current_slug=answer.current_slug,
        reason=answer.reason,
        capability_changes=None if pinned not in ("", answer.version) else answer.capability_changes,
    )


def _standing(skill: LockedSkill, status: StandingStatus, **more: object) -> Standing:
    return Standing(
        slug=skill.slug,
        installed=skill.version,
        content_digest=skill.content_digest,
        status=status,
        folders=skill.folders,
        **more,  # type: ignore[arg-type]
    )
