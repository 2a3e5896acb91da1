"""What strangers are told of an event of the log, as the bytes of a server-sent event.

Each kind of event names the fields that leave the house; everything else, and every kind that is not listed, stays inside.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import NamedTuple

import msgspec

from vskill_platform.domain.submission import CATEGORY_OF, SubmissionState
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.ports.events import Event
from vskill_platform.stores.news import CREATED, PUBLISHED, read_scan, read_skill, read_step


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
    teller = _TELLERS.get(event.kind)
    return None if teller is None else teller(event)


def frame(name: str, data: Mapping[str, object], *, sequence: int | None = None) -> bytes:
    """The bytes of one server-sent event. JSON has no line breaks, so one line of data is all there is."""
    identity = b"" if sequence is None else b"id: %d\n" % sequence
    return b"%sevent: %s\ndata: %s\n\n" % (identity, name.encode(), msgspec.json.encode(data))


def _tell_step(event: Event) -> Told | None:
    news = read_step(event)
    if news is None:
        return None
    name = "submission_created" if event.kind == CREATED else "state_changed"
    data = {**msgspec.to_builtins(news), "category": CATEGORY_OF[news.state], "at": iso_from_ms(event.at_ms)}
    states = (news.state,) if news.source is None else (news.state, news.source)
    return Told(event.sequence, Topic.SUBMISSIONS, event.subject, states, frame(name, data, sequence=event.sequence))


def _tell_scan(event: Event) -> Told | None:
    news = read_scan(event)
    return None if news is None else _told(event, Topic.SUBMISSIONS, "scan_complete", msgspec.to_builtins(news))


def _tell_skill(event: Event) -> Told | None:
    news = read_skill(event)
    if news is None:
        return None
    is_first = event.kind == PUBLISHED and news.previous_version is None
    name = PUBLISHED if is_first else "skill.updated" if event.kind == PUBLISHED else event.kind
    return _told(event, Topic.SKILLS, name, {"slug": event.subject, **msgspec.to_builtins(news)})


def _picking(topic: Topic, *names: str, subject_as: str | None = None) -> Callable[[Event], Told | None]:
    """A teller of these fields of the event's data, under the event's own name."""

    def pick(event: Event) -> Told | None:
        try:
            data = msgspec.json.decode(event.data, type=dict[str, object])
        except msgspec.DecodeError:
            return None
        picked: dict[str, object] = {name: data[name] for name in names if name in data}
        named = picked if subject_as is None else {subject_as: event.subject, **picked}
        return _told(event, topic, event.kind, named)

    return pick


def _told(event: Event, topic: Topic, name: str, data: Mapping[str, object]) -> Told:
    dated = {**data, "at": iso_from_ms(event.at_ms)}
    return Told(event.sequence, topic, event.subject, (), frame(name, dated, sequence=event.sequence))


_TELLERS: dict[str, Callable[[Event], Told | None]] = {
    "submission.created": _tell_step,
    "submission.state_changed": _tell_step,
    "scan.completed": _tell_scan,
    "queue.paused": _picking(Topic.SUBMISSIONS, "reason", "since", "until"),
    "queue.resumed": _picking(Topic.SUBMISSIONS),
    "skill.published": _tell_skill,
    "skill.rescanned": _tell_skill,
    "skill.withdrawn": _picking(Topic.SKILLS, "reason", subject_as="slug"),
    "skill.quarantined": _picking(Topic.SKILLS, "reason", subject_as="slug"),
    "skill.restored": _picking(Topic.SKILLS, "version", subject_as="slug"),
    "version.yanked": _picking(Topic.SKILLS, "version", "reason", "latest", subject_as="slug"),
    "version.restored": _picking(Topic.SKILLS, "version", "latest", subject_as="slug"),
    "skill.renamed": _picking(Topic.SKILLS, "from", "to", subject_as="slug"),
    "external_scan.changed": _picking(Topic.SKILLS, "provider", "status", subject_as="slug"),
    "block.added": _picking(Topic.SKILLS, "kind", "reason"),
    "block.removed": _picking(Topic.SKILLS),
}
