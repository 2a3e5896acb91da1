"""What strangers are told of an event of the log. Streams and webhooks tell the same.

Each kind of event names the fields that leave the house; everything else, and every kind that is not listed, stays inside.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from vskill_platform.domain.submission import CATEGORY_OF, SubmissionState
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.ports.events import Event
from vskill_platform.stores.news import (
    CHANGED,
    CREATED,
    HEALTH_CHANGED,
    PUBLISHED,
    RESCANNED,
    SCANNED,
    SOURCE_CHANGED,
    read_scan,
    read_skill,
    read_step,
)

UPDATED = "skill.updated"
NEEDS_REVIEW = "submission.needs_review"
PublicData = dict[str, object]


def public_data(event: Event) -> PublicData | None:
    """The event as strangers see it, with `at`, when it happened; None where it is none of their business."""
    teller = _TELLERS.get(event.kind)
    data = None if teller is None else teller(event)
    return None if data is None else {**data, "at": iso_from_ms(event.at_ms)}


def public_kind(event: Event) -> str:
    """The name that an event goes by outside: a later version of a skill is an update, a step to review says so."""
    if event.kind == PUBLISHED:
        news = read_skill(event)
        return UPDATED if news is not None and news.previous_version is not None else PUBLISHED
    if event.kind == CHANGED:
        step = read_step(event)
        return NEEDS_REVIEW if step is not None and step.state is SubmissionState.NEEDS_REVIEW else CHANGED
    return event.kind


def _tell_step(event: Event) -> PublicData | None:
    news = read_step(event)
    return None if news is None else {**msgspec.to_builtins(news), "category": CATEGORY_OF[news.state]}


def _tell_scan(event: Event) -> PublicData | None:
    news = read_scan(event)
    return None if news is None else msgspec.to_builtins(news)


def _tell_skill(event: Event) -> PublicData | None:
    news = read_skill(event)
    return None if news is None else {"slug": event.subject, **msgspec.to_builtins(news)}


def picking(*names: str, subject_as: str | None = None) -> Callable[[Event], PublicData | None]:
    """A teller of these fields of the event's data."""

    def pick(event: Event) -> PublicData | None:
        try:
            data = msgspec.json.decode(event.data, type=dict[str, object])
        except msgspec.DecodeError:
            return None
        picked: PublicData = {name: data[name] for name in names if name in data}
        return picked if subject_as is None else {subject_as: event.subject, **picked}

    return pick


_TELLERS: dict[str, Callable[[Event], PublicData | None]] = {
    CREATED: _tell_step,
    CHANGED: _tell_step,
    SCANNED: _tell_scan,
    "queue.paused": picking("reason", "since", "until"),
    "queue.resumed": picking(),
    PUBLISHED: _tell_skill,
    RESCANNED: _tell_skill,
    "skill.withdrawn": picking("reason", subject_as="slug"),
    "skill.renamed": picking("from", "to", subject_as="slug"),
    "skill.quarantined": picking("reason", subject_as="slug"),
    "skill.restored": picking("version", subject_as="slug"),
    "version.yanked": picking("version", "reason", "latest", subject_as="slug"),
    "version.restored": picking("version", "latest", subject_as="slug"),
    "external_scan.changed": picking("provider", "status", subject_as="slug"),
    HEALTH_CHANGED: picking("status", "previous", "repoUrl", "movedTo", subject_as="slug"),
    SOURCE_CHANGED: picking("commit", "kind", "submissionId", subject_as="slug"),
    "block.added": picking("kind", "reason"),
    "block.removed": picking(),
}
