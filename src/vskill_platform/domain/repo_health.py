"""How the repositories of published skills are: what a look at one found, and what that comes to.

Whatever could not be found out is UNKNOWN, and unknown is neither gone nor news: a host that is busy says nothing about the
repository. That one is gone is told when two looks, some hours apart, have both been answered that it is not there.
"""

from __future__ import annotations

import hashlib
from enum import StrEnum
from typing import NamedTuple

import msgspec

from vskill_platform.domain.records import Record
from vskill_platform.domain.repository import repository_identity
from vskill_platform.domain.times import iso_from_ms, ms_from_iso

REPOSITORY_PREFIX = "repository:"
STALE_AFTER_MS = 365 * 24 * 3600 * 1000
LONGEST_HOST_PAUSE_S = 6 * 3600.0
_FIRST_HOST_PAUSE_S = 60.0
_SPREAD = 0.2
_MOST_DOUBLINGS = 16


class RepoStatus(StrEnum):
    """How a repository is. UNKNOWN is what a look that failed found.

    Older records say OFFLINE, which rate limits and time-outs were called too: it reads as UNKNOWN.
    """

    ONLINE = "ONLINE"
    STALE = "STALE"
    MOVED = "MOVED"
    GONE = "GONE"
    UNKNOWN = "UNKNOWN"

    @classmethod
    def _missing_(cls, value: object) -> RepoStatus | None:
        return cls.UNKNOWN if value == "OFFLINE" else None


class LookAnswer(StrEnum):
    """What a host said of a repository: that it is here, elsewhere, or not there; or nothing that can be relied on."""

    HERE = "here"
    MOVED = "moved"
    MISSING = "missing"
    UNCLEAR = "unclear"


class LookReason(StrEnum):
    """Why a look found what it found, where there is more to say than its answer."""

    NONE = ""
    EMPTY = "empty"
    NOT_THERE = "not_there"
    NOT_PUBLIC = "not_public"
    RATE_LIMITED = "rate_limited"
    TIMED_OUT = "timed_out"
    UNREACHABLE = "unreachable"
    SERVER_ERROR = "server_error"
    NOT_GIT = "not_git"
    NOT_ALLOWED = "not_allowed"


class Head(NamedTuple):
    """The newest commit of a default branch, and when it was made; what is not known is empty."""

    commit: str = ""
    committed_at: str | None = None


NO_HEAD = Head()


class SourceLook(NamedTuple):
    """What one look at a repository found. `moved_to` is the address that the host sends everybody to."""

    answer: LookAnswer
    reason: LookReason = LookReason.NONE
    head: Head = NO_HEAD
    moved_to: str = ""
    retry_after_s: float = 0.0


class RepositoryHealth(Record, frozen=True, kw_only=True, rename="camel"):
    """What is known of a repository from looking at it; one record for all skills that come from it.

    `known_status` is what the last look found that found out anything. `missing_since` is when the host first said that it is
    not there, while it has not said otherwise since. `failures` counts looks in a row that found nothing out.
    """

    repo_url: str
    status: RepoStatus = RepoStatus.UNKNOWN
    reason: str = ""
    checked_at: str = ""
    head: str = ""
    last_commit_at: str | None = None
    moved_to: str = ""
    known_status: RepoStatus | None = None
    known_at: str = ""
    missing_since: str | None = None
    failures: int = 0
    next_look_at: str = ""


class LookTimes(NamedTuple):
    """How long what was found holds, in seconds, and how far apart two looks are that tell of a repository as gone."""

    online_s: float
    unknown_s: float
    gone_s: float
    confirm_s: float


class HostPause(Record, frozen=True, kw_only=True, rename="camel"):
    """Until when a host is left alone that asked for it, and how often in a row it has."""

    host: str
    until_ms: int
    strikes: int = 1


def repository_key(repo_url: str) -> str:
    """The key of what is known of a repository, however its address is spelled."""
    return f"{REPOSITORY_PREFIX}{hashlib.sha256(repository_identity(repo_url).encode()).hexdigest()}"


def judge_look(before: RepositoryHealth, look: SourceLook, *, now_ms: int, times: LookTimes) -> RepositoryHealth:
    """What a repository is known to be after a look."""
    now = iso_from_ms(now_ms)
    status = _status_of(before, look, now_ms=now_ms, times=times)
    is_missing = look.answer is LookAnswer.MISSING
    has_found_out = status is not RepoStatus.UNKNOWN
    after = msgspec.structs.replace(
        before,
        status=status,
        reason=look.reason.value,
        checked_at=now,
        moved_to=look.moved_to if look.answer is LookAnswer.MOVED else "",
        known_status=status if has_found_out else before.known_status,
        known_at=now if has_found_out else before.known_at,
        missing_since=_missing_since(before, look, now),
        failures=0 if has_found_out or is_missing else before.failures + 1,
    )
    if look.answer is LookAnswer.HERE:
        after = msgspec.structs.replace(after, head=look.head.commit, last_commit_at=look.head.committed_at)
    next_ms = now_ms + int(_pause_s(after, look, times=times) * 1000)
    return msgspec.structs.replace(after, next_look_at=iso_from_ms(next_ms))


def is_news(before: RepositoryHealth, after: RepositoryHealth) -> bool:
    """Whether people are to be told: what is known has changed. Not knowing is no news, nor is finding all well at first."""
    if after.status is RepoStatus.UNKNOWN or after.status is before.known_status:
        return False
    return before.known_status is not None or after.status is not RepoStatus.ONLINE


def pause_host(before: HostPause | None, *, host: str, now_ms: int, retry_after_s: float) -> HostPause:
    """How long to leave a host alone that asked for it: as long as it says, and longer each time."""
    strikes = 1 if before is None else before.strikes + 1
    doubled_s = _FIRST_HOST_PAUSE_S * 2 ** min(strikes - 1, _MOST_DOUBLINGS)
    wait_s = min(max(retry_after_s, doubled_s), LONGEST_HOST_PAUSE_S)
    return HostPause(host=host, until_ms=now_ms + int(wait_s * 1000), strikes=strikes)


def _status_of(before: RepositoryHealth, look: SourceLook, *, now_ms: int, times: LookTimes) -> RepoStatus:
    match look.answer:
        case LookAnswer.HERE:
            return RepoStatus.STALE if _is_stale(look.head, now_ms) else RepoStatus.ONLINE
        case LookAnswer.MOVED:
            return RepoStatus.MOVED
        case LookAnswer.MISSING:
            since = before.missing_since
            is_confirmed = since is not None and now_ms - ms_from_iso(since) >= times.confirm_s * 1000
            return RepoStatus.GONE if is_confirmed else RepoStatus.UNKNOWN
        case LookAnswer.UNCLEAR:
            return RepoStatus.UNKNOWN


def _is_stale(head: Head, now_ms: int) -> bool:
    return head.committed_at is not None and now_ms - ms_from_iso(head.committed_at) >= STALE_AFTER_MS


def _missing_since(before: RepositoryHealth, look: SourceLook, now: str) -> str | None:
    """Only an answer that it is here, or elsewhere, ends it: a look that found nothing out says neither."""
    if look.answer is LookAnswer.MISSING:
        return before.missing_since or now
    return before.missing_since if look.answer is LookAnswer.UNCLEAR else None


def _pause_s(after: RepositoryHealth, look: SourceLook, *, times: LookTimes) -> float:
    """How long until the next look: by what was found, a little earlier or later for each repository, always the same."""
    if look.answer is LookAnswer.MISSING and after.status is RepoStatus.UNKNOWN:
        return times.confirm_s
    if after.status is RepoStatus.GONE:
        holds_s = times.gone_s
    elif after.status is RepoStatus.UNKNOWN:
        doubled_s = times.unknown_s * 2 ** min(after.failures - 1, _MOST_DOUBLINGS)
        holds_s = max(min(doubled_s, max(times.online_s, times.unknown_s)), look.retry_after_s)
    else:
        holds_s = times.online_s
    return holds_s * (1 - _SPREAD / 2 + _SPREAD * _place_of(after.repo_url))


def _place_of(repo_url: str) -> float:
    """A number from 0 to 1 that is always the same for a repository, and evenly spread among many."""
    return int.from_bytes(hashlib.sha256(repository_identity(repo_url).encode()).digest()[:4], "big") / 2**32
