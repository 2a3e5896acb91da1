"""How the head of a skill's source compares with what was verified and published."""

from __future__ import annotations

from enum import StrEnum

from vskill_platform.domain.records import Record
from vskill_platform.domain.skill import Skill

SOURCE_CHANGE_PREFIX = "source-change:"


class SourceChangeKind(StrEnum):
    """What has become of the skill's folder: the same bytes, others, nothing any more, or something that cannot be read."""

    SAME = "same"
    CHANGED = "changed"
    REMOVED = "removed"
    UNREADABLE = "unreadable"


class SourceChange(Record, frozen=True, kw_only=True, rename="camel"):
    """One comparison: the published bytes against those at `head`. `submission_id` is the run that it led to, if it did."""

    slug: str
    kind: SourceChangeKind
    head: str
    digest: str = ""
    published_digest: str
    seen_at: str
    submission_id: str = ""


def is_compared(skill: Skill, head: str, change: SourceChange | None) -> bool:
    """Whether nothing is left to find out about a head: it is the published commit, or its bytes were looked at."""
    if not head or skill.commit == head:
        return True
    return change is not None and change.head == head and change.published_digest == skill.content_digest


def standing_change(skill: Skill, change: SourceChange | None) -> SourceChange | None:
    """The change that people are to be told of: one against the very bytes that are published now, else None."""
    if change is None or change.kind is SourceChangeKind.SAME or change.published_digest != skill.content_digest:
        return None
    return change
