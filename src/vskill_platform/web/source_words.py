"""How pages and the API put into words what is known of a skill's source."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from vskill_platform.domain.repo_health import LookReason, RepoStatus
from vskill_platform.domain.skill import Skill
from vskill_platform.domain.source_change import SourceChange, SourceChangeKind, standing_change
from vskill_platform.stores.repo_health import RepoHealth, find_source_change, get_repo_health


class StatusWords(NamedTuple):
    """How a status looks: the look of its mark, an icon, and the word."""

    look: str
    drawing: str
    word: str


STATUS_WORDS = {
    RepoStatus.ONLINE: StatusWords("pass", "check", "Online"),
    RepoStatus.STALE: StatusWords("warn", "clock", "Stale"),
    RepoStatus.MOVED: StatusWords("warn", "link", "Moved"),
    RepoStatus.GONE: StatusWords("fail", "cross", "Gone"),
    RepoStatus.UNKNOWN: StatusWords("quiet", "info", "Unknown"),
}
_SENTENCES = {
    RepoStatus.ONLINE: "The repository is there.",
    RepoStatus.STALE: "The repository is there; nobody has committed to it for a year.",
    RepoStatus.MOVED: "The host sends everybody to another address.",
    RepoStatus.GONE: "The host says that nobody can read this repository any more.",
}
_UNKNOWN = {
    LookReason.NOT_THERE: "The host says that it is not there. It is told as gone if the host says so again in some hours.",
    LookReason.NOT_PUBLIC: "The host asks for a password. It is told as gone if the host does so again in some hours.",
    LookReason.RATE_LIMITED: "The host asked not to be asked for a while.",
    LookReason.TIMED_OUT: "The host did not answer in time.",
    LookReason.UNREACHABLE: "The host could not be reached.",
    LookReason.SERVER_ERROR: "The host answered with an error.",
    LookReason.NOT_GIT: "What answered is not a git server.",
    LookReason.NOT_ALLOWED: "This registry does not fetch from that address.",
}
_CHANGES = {
    SourceChangeKind.SAME: "The source has the files that were verified.",
    SourceChangeKind.CHANGED: "The source has changed since it was verified.",
    SourceChangeKind.REMOVED: "The source no longer has this skill.",
    SourceChangeKind.UNREADABLE: "The source has changed since it was verified, and cannot be read as a skill.",
}


class SourceHealth(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How the source of a skill is, as far as looking at it has told. UNKNOWN says nothing about the repository.

    `knownStatus` and `knownAt` are what the last look found that found out anything. `change` is there where the newest commit
    has other bytes for this skill than were verified.
    """

    status: RepoStatus
    says: str
    reason: str
    checked_at: str
    last_commit_at: str | None
    head: str
    moved_to: str
    known_status: RepoStatus | None
    known_at: str
    next_look_at: str
    change: SourceChange | None

    @property
    def words(self) -> StatusWords:
        """How its status looks."""
        return STATUS_WORDS[self.status]

    @property
    def change_says(self) -> str:
        """What has become of the skill there, in a sentence; empty where nothing has."""
        return "" if self.change is None else _CHANGES[self.change.kind]


async def source_health(skill: Skill) -> SourceHealth | None:
    """How the source of a published skill is; None where nobody has looked yet, or where it comes from no repository."""
    health = await get_repo_health(skill.slug)
    if health is None:
        return None
    return describe_health(health, standing_change(skill, await find_source_change(skill.slug)))


def describe_health(health: RepoHealth, change: SourceChange | None) -> SourceHealth:
    """A look, with the sentence that goes with it."""
    return SourceHealth(
        status=health.status,
        says=_sentence(health),
        reason=health.reason,
        checked_at=health.checked_at,
        last_commit_at=health.last_commit_at,
        head=health.head,
        moved_to=health.moved_to,
        known_status=health.known_status,
        known_at=health.known_at,
        next_look_at=health.next_look_at,
        change=change,
    )


def _sentence(health: RepoHealth) -> str:
    if health.status is not RepoStatus.UNKNOWN:
        return _SENTENCES[health.status]
    try:
        return _UNKNOWN.get(LookReason(health.reason), "It could not be found out.")
    except ValueError:
        return "It could not be found out."
