"""What strangers are told of an event of the log (`stores/public_news.py`), as the bytes of a server-sent event."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

import msgspec

from vskill_platform.domain.submission import SubmissionState
from vskill_platform.ports.events import Event
from vskill_platform.stores.news import (
    CHANGED,
    CREATED,
    HEALTH_CHANGED,
    PUBLISHED,
    RESCANNED,
    SCANNED,
    SOURCE_CHANGED,
    read_step,
)
from vskill_platform.stores.public_news import public_data, public_kind


class Topic(StrEnum):
    """What a stream is about."""

    SUBMISSIONS = "submissions"
    SKILLS = "skills"


class Told(NamedTuple):
    """An event as it goes out: whom it concerns, and its bytes, which all streams share."""

    sequence: int
    topic: Topic
    subject: str
    states: tuple[SubmissionState, ...]
    frame: bytes


def tell(event: Event) -> Told | None:
    """The event as strangers see it, or None where it is none of their business."""
    topic = _TOPICS.get(event.kind)
    data = None if topic is None else public_data(event)
    if topic is None or data is None:
        return None
    name = _NAMES.get(event.kind) or public_kind(event)
    return Told(event.sequence, topic, event.subject, _states(event), frame(name, data, sequence=event.sequence))


def frame(name: str, data: Mapping[str, object], *, sequence: int | None = None) -> bytes:
    """The bytes of one server-sent event. JSON has no line breaks, so one line of data is all there is."""
    identity = b"" if sequence is None else b"id: %d\n" % sequence
    return b"%sevent: %s\ndata: %s\n\n" % (identity, name.encode(), msgspec.json.encode(data))


def _states(event: Event) -> tuple[SubmissionState, ...]:
    """The states that a step left and came to."""
    news = read_step(event)
    if news is None:
        return ()
    return (news.state,) if news.source is None else (news.state, news.source)


_NAMES = {CREATED: "submission_created", CHANGED: "state_changed", SCANNED: "scan_complete"}
"""Names of events that streams had before webhooks did."""
_TOPICS = {
    CREATED: Topic.SUBMISSIONS,
    CHANGED: Topic.SUBMISSIONS,
    SCANNED: Topic.SUBMISSIONS,
    "queue.paused": Topic.SUBMISSIONS,
    "queue.resumed": Topic.SUBMISSIONS,
    PUBLISHED: Topic.SKILLS,
    RESCANNED: Topic.SKILLS,
    "skill.withdrawn": Topic.SKILLS,
    "skill.renamed": Topic.SKILLS,
    "skill.quarantined": Topic.SKILLS,
    "skill.restored": Topic.SKILLS,
    "version.yanked": Topic.SKILLS,
    "version.restored": Topic.SKILLS,
    "external_scan.changed": Topic.SKILLS,
    HEALTH_CHANGED: Topic.SKILLS,
    SOURCE_CHANGED: Topic.SKILLS,
    "block.added": Topic.SKILLS,
    "block.removed": Topic.SKILLS,
}
