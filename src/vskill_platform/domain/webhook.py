"""Webhooks: who is told of what, when it is tried again, and what is kept of each delivery."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from enum import StrEnum

import msgspec

from vskill_platform.domain.errors import InvalidInput
from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.publisher import Publisher
from vskill_platform.domain.records import Record

WEBHOOK_PREFIX = "webhook:"
SECRET_PREFIX = "webhook-secret:"
HEALTH_PREFIX = "webhook-health:"
DELIVERY_PREFIX = "webhook-delivery:"
OPERATOR_OWNER = ""
"""The owner of the operator's own webhooks; any other is a publisher."""
DELAYS_S = (5.0, 30.0, 120.0, 600.0, 3600.0, 21_600.0)
"""How long after each failed try the next one comes. After the last there is none."""
MOST_TRIES = len(DELAYS_S) + 1
_SPREAD = 0.2
_HIGHEST = 10**16 - 1

SUBMISSION_EVENTS = ("submission.created", "submission.state_changed", "submission.needs_review")
SKILL_EVENTS = (
    "skill.published",
    "skill.updated",
    "skill.rescanned",
    "skill.withdrawn",
    "skill.quarantined",
    "skill.restored",
    "skill.renamed",
    "version.yanked",
    "version.restored",
    "repo.health_changed",
    "repo.source_changed",
)
OPERATOR_EVENTS = (
    "scan.completed",
    "alert.opened",
    "alert.repeated",
    "alert.closed",
    "alert.acknowledged",
    "queue.paused",
    "queue.resumed",
)
TEST_EVENT = "webhook.test"
PUBLISHER_KINDS = (*SUBMISSION_EVENTS, *SKILL_EVENTS)
"""What a publisher can be told of: what happens to its own skills."""
ALL_KINDS = (*PUBLISHER_KINDS, *OPERATOR_EVENTS)


class DeliveryStatus(StrEnum):
    """How a delivery stands: to be sent (again), taken by the receiver, or given up."""

    PENDING = "pending"
    DELIVERED = "delivered"
    GIVEN_UP = "given_up"


class Webhook(Record, frozen=True, kw_only=True, rename="camel"):
    """A receiver. `kinds` are names of events, or a name's beginning and `*`. Events up to `after` are not for it.

    `disabled_because` is what a receiver is told that was switched off by us, and empty where a person did it.
    """

    id: str
    owner: str = OPERATOR_OWNER
    url: str
    kinds: tuple[str, ...]
    description: str = ""
    is_enabled: bool = True
    disabled_because: str = ""
    after: int
    created_at: str
    updated_at: str
    created_by: str = ""


class Answer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What one try came to: the receiver's status and the beginning of its words, or why there was no answer."""

    at: str
    status: int | None = None
    excerpt: str = ""
    error: str = ""
    duration_ms: int = 0

    @property
    def is_success(self) -> bool:
        """Whether the receiver has it. Only 2xx says so; a redirect is not followed and is a failure."""
        return self.status is not None and 200 <= self.status < 300


class Delivery(Record, frozen=True, kw_only=True, rename="camel"):
    """One event for one receiver. `id` is what the receiver sees, the same at every try; `body` is sent as it is here."""

    webhook: str
    number: str
    id: str
    kind: str
    body: str
    status: DeliveryStatus = DeliveryStatus.PENDING
    tries: int = 0
    created_at: str
    next_at: str | None = None
    last: Answer | None = None


def publisher_owner(publisher: Publisher) -> str:
    """A publisher as an owner: its handle and since when, because a handle that is given up may be claimed by somebody else."""
    return f"{publisher.handle}#{publisher.created_at}"


def handle_of(owner: str) -> str:
    """The handle of the publisher that is an owner; empty for the operator."""
    return owner.partition("#")[0]


def webhook_key(identity: str) -> str:
    """The key of a receiver."""
    return f"{WEBHOOK_PREFIX}{identity}"


def secret_key(identity: str) -> str:
    """The key of a receiver's secrets, which stand apart so that no list ever reads them."""
    return f"{SECRET_PREFIX}{identity}"


def health_key(identity: str) -> str:
    """The key of how a receiver fares."""
    return f"{HEALTH_PREFIX}{identity}"


def deliveries_prefix(identity: str) -> str:
    """What the keys of a receiver's deliveries begin with."""
    return f"{DELIVERY_PREFIX}{identity}:"


def delivery_key(identity: str, number: str) -> str:
    """The key of one delivery; the newest sorts first."""
    return f"{deliveries_prefix(identity)}{number}"


def event_number(sequence: int) -> str:
    """The name of an event among a receiver's deliveries. The newest sorts first, because that is who is looked for."""
    return f"{_HIGHEST - sequence:016d}"


def event_id(sequence: int, at_ms: int) -> MessageId:
    """What receivers know an event by. A log that was restored from a backup may use a sequence anew, but not its moment."""
    return MessageId(f"evt_{sequence}_{at_ms}")


def wants(kinds: Sequence[str], kind: str) -> bool:
    """Whether a receiver of these kinds is told of that one."""
    return any(wanted == kind or (wanted.endswith("*") and kind.startswith(wanted[:-1])) for wanted in kinds)


def check_kinds(kinds: Sequence[str], *, allowed: Sequence[str]) -> tuple[str, ...]:
    """The kinds, each once. Raises InvalidInput for none, or one that no allowed event has."""
    chosen = tuple(dict.fromkeys(kind.strip() for kind in kinds if kind.strip()))
    for kind in chosen:
        if not any(wants([kind], known) for known in allowed):
            raise InvalidInput(f"There is no event '{kind[:60]}'. There are {', '.join(allowed)}.", kind=kind[:60])
    if not chosen:
        raise InvalidInput(f"Name the events to be told of, such as {allowed[0]}, or * for all of them.")
    return chosen


def next_delay_s(tries: int, *, identity: str) -> float | None:
    """Seconds from a failed try, which was the so-manyth, to the next; None where that was the last.

    Up to a fifth is added, by the delivery's name, so that what failed together does not come again together.
    """
    if tries >= MOST_TRIES:
        return None
    digest = hashlib.sha256(f"{identity}:{tries}".encode()).digest()
    return DELAYS_S[max(tries, 1) - 1] * (1 + _SPREAD * digest[0] / 255)
