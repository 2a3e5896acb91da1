"""What is kept of a skill that is no longer where it was: when it went, why, and where to."""

from __future__ import annotations

from enum import StrEnum

from vskill_platform.domain.records import Record

TOMBSTONE_PREFIX = "tombstone:"


class Departure(StrEnum):
    """How a skill left its slug: taken back, moved, with the last of its versions, or until somebody has looked at it."""

    WITHDRAWN = "withdrawn"
    RENAMED = "renamed"
    YANKED = "yanked"
    QUARANTINED = "quarantined"


class Tombstone(Record, frozen=True, kw_only=True, rename="camel"):
    """A slug under which nothing is published any more. `reason` says why, `to` belongs to a new name.

    `by` is the account of whoever put it into quarantine.
    """

    slug: str
    kind: Departure
    at: str
    reason: str = ""
    to: str = ""
    by: str = ""


def tombstone_key(slug: str) -> str:
    """The key of a slug's tombstone."""
    return f"{TOMBSTONE_PREFIX}{slug}"
