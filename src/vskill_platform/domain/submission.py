"""The states of a submission and the one table of which may follow which.

A step that is not in `TRANSITIONS` does not happen, whoever asks. The table also says what sets a step off (`Trigger`)
and who may do so (`Actor`), and every step that is taken appends one entry to the submission's history.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from vskill_platform.domain.errors import IllegalTransition, InvalidQuery


class SubmissionState(StrEnum):
    """Where a submission stands."""

    RECEIVED = "RECEIVED"
    TIER1_SCANNING = "TIER1_SCANNING"
    TIER2_SCANNING = "TIER2_SCANNING"
    AUTO_APPROVED = "AUTO_APPROVED"
    VENDOR_APPROVED = "VENDOR_APPROVED"
    NEEDS_REVIEW = "NEEDS_REVIEW"
    PUBLISHED = "PUBLISHED"
    EXPANDED = "EXPANDED"
    TIER1_FAILED = "TIER1_FAILED"
    REJECTED = "REJECTED"
    BLOCKED = "BLOCKED"
    DEQUEUED = "DEQUEUED"


class Category(StrEnum):
    """What a person calls a group of states. Every state is in exactly one, so the counts sum to the total."""

    ACTIVE = "active"
    REVIEW = "review"
    PUBLISHED = "published"
    REJECTED = "rejected"
    BLOCKED = "blocked"


class Actor(StrEnum):
    """Who takes a step."""

    SUBMITTER = "submitter"
    WORKER = "worker"
    SYSTEM = "system"
    ADMIN = "admin"


class Trigger(StrEnum):
    """What sets a step off."""

    SUBMITTED = "submitted"
    CLAIMED = "claimed"
    EXPANDED = "expanded"
    TIER1_PASSED = "tier1_passed"
    TIER1_FAILED = "tier1_failed"
    TIER2_FAILED = "tier2_failed"
    APPROVED = "approved"
    VENDOR_TRUSTED = "vendor_trusted"
    REVIEW_NEEDED = "review_needed"
    SOURCE_REFUSED = "source_refused"
    PUBLISHED = "published"
    BLOCKLIST_MATCHED = "blocklist_matched"
    RECOVERED = "recovered"
    RECOVERY_EXHAUSTED = "recovery_exhausted"
    DELIVERY_EXHAUSTED = "delivery_exhausted"
    RESUBMITTED = "resubmitted"
    RESCANNED = "rescanned"
    REPROCESSED = "reprocessed"
    FIRST_APPROVED = "first_approved"
    REVIEW_APPROVED = "review_approved"
    REVIEW_REJECTED = "review_rejected"
    ADMIN_BLOCKED = "admin_blocked"
    UNBLOCKED = "unblocked"
    DEQUEUED = "dequeued"
    WITHDRAWN = "withdrawn"


class Transition(NamedTuple):
    """One row of the table. `source` is None only for the first step of a submission."""

    source: SubmissionState | None
    target: SubmissionState
    trigger: Trigger
    actors: frozenset[Actor]


S = SubmissionState
_SCANNING = (S.TIER1_SCANNING, S.TIER2_SCANNING)
_APPROVED = (S.AUTO_APPROVED, S.VENDOR_APPROVED)
_WAITING_OR_SCANNING = (S.RECEIVED, *_SCANNING)
_ACTIVE = (*_WAITING_OR_SCANNING, *_APPROVED)
_TURNED_DOWN = (S.TIER1_FAILED, S.REJECTED, S.DEQUEUED)


def _rows() -> list[Transition]:
    rows: list[Transition] = []

    def may(sources: tuple[S | None, ...], target: S, trigger: Trigger, *actors: Actor) -> None:
        rows.extend(Transition(source, target, trigger, frozenset(actors)) for source in sources)

    worker, system, admin, submitter = Actor.WORKER, Actor.SYSTEM, Actor.ADMIN, Actor.SUBMITTER

    may((None,), S.RECEIVED, Trigger.SUBMITTED, submitter, system, admin)

    # A delivery: claim, scan, decide. A claim of a half-done scan starts that scan again; an approval is never undone.
    may(_WAITING_OR_SCANNING, S.TIER1_SCANNING, Trigger.CLAIMED, worker)
    for approved in _APPROVED:
        may((approved,), approved, Trigger.CLAIMED, worker)
    may((S.TIER1_SCANNING,), S.EXPANDED, Trigger.EXPANDED, worker)
    may((S.TIER1_SCANNING,), S.TIER2_SCANNING, Trigger.TIER1_PASSED, worker)
    may((S.TIER1_SCANNING,), S.TIER1_FAILED, Trigger.TIER1_FAILED, worker)
    may(_SCANNING, S.REJECTED, Trigger.SOURCE_REFUSED, worker)
    may((S.TIER2_SCANNING,), S.REJECTED, Trigger.TIER2_FAILED, worker)
    may(_SCANNING, S.AUTO_APPROVED, Trigger.APPROVED, worker)
    may(_SCANNING, S.VENDOR_APPROVED, Trigger.VENDOR_TRUSTED, worker)
    may(_SCANNING, S.NEEDS_REVIEW, Trigger.REVIEW_NEEDED, worker)
    may(_WAITING_OR_SCANNING, S.BLOCKED, Trigger.BLOCKLIST_MATCHED, worker, system)
    may(_APPROVED, S.PUBLISHED, Trigger.PUBLISHED, worker, system)

    # The sweep: what was lost is sent again; what cannot be delivered says so.
    may(_WAITING_OR_SCANNING, S.RECEIVED, Trigger.RECOVERED, system, admin)
    for approved in _APPROVED:
        may((approved,), approved, Trigger.RECOVERED, system, admin)
    may(_ACTIVE, S.REJECTED, Trigger.RECOVERY_EXHAUSTED, system)
    may(_ACTIVE, S.REJECTED, Trigger.DELIVERY_EXHAUSTED, system)

    # Trying again starts a new run of the same submission.
    ended = (*_TURNED_DOWN, S.NEEDS_REVIEW, S.PUBLISHED, S.EXPANDED, S.BLOCKED)
    may(ended, S.RECEIVED, Trigger.RESUBMITTED, submitter, system)
    # A newer source overtakes a run about an older one; the older one's message is stale from then on.
    may(_WAITING_OR_SCANNING, S.RECEIVED, Trigger.RESUBMITTED, system)
    may((S.PUBLISHED, *_TURNED_DOWN, S.BLOCKED), S.RECEIVED, Trigger.RESCANNED, system, admin)
    may((*_TURNED_DOWN, S.NEEDS_REVIEW, S.BLOCKED, S.EXPANDED), S.RECEIVED, Trigger.REPROCESSED, admin)
    may((S.BLOCKED,), S.RECEIVED, Trigger.UNBLOCKED, admin)

    # People. What has a critical finding waits for a second one.
    may((S.NEEDS_REVIEW, S.TIER1_FAILED, S.REJECTED), S.NEEDS_REVIEW, Trigger.FIRST_APPROVED, admin)
    may((S.NEEDS_REVIEW, S.TIER1_FAILED, S.REJECTED), S.PUBLISHED, Trigger.REVIEW_APPROVED, admin)
    may((S.NEEDS_REVIEW,), S.REJECTED, Trigger.REVIEW_REJECTED, admin)
    may((*_ACTIVE, S.NEEDS_REVIEW, S.PUBLISHED, *_TURNED_DOWN), S.BLOCKED, Trigger.ADMIN_BLOCKED, admin)
    may((*_WAITING_OR_SCANNING, S.NEEDS_REVIEW), S.DEQUEUED, Trigger.DEQUEUED, admin)
    # What is published is withdrawn with its skill, whatever became of a newer version meanwhile.
    withdrawn = (*_WAITING_OR_SCANNING, S.NEEDS_REVIEW, S.PUBLISHED, *_TURNED_DOWN)
    may(withdrawn, S.DEQUEUED, Trigger.WITHDRAWN, submitter)
    return rows


TRANSITIONS: tuple[Transition, ...] = tuple(_rows())
_ALLOWED: dict[tuple[S | None, S, Trigger], frozenset[Actor]] = {row[:3]: row.actors for row in TRANSITIONS}

CATEGORY_STATES: dict[Category, tuple[SubmissionState, ...]] = {
    Category.ACTIVE: _ACTIVE,
    Category.REVIEW: (S.NEEDS_REVIEW,),
    Category.PUBLISHED: (S.PUBLISHED, S.EXPANDED),
    Category.REJECTED: _TURNED_DOWN,
    Category.BLOCKED: (S.BLOCKED,),
}
CATEGORY_OF: dict[SubmissionState, Category] = {
    state: category for category, states in CATEGORY_STATES.items() for state in states
}
_STATES_BY_WORD: dict[str, tuple[SubmissionState, ...]] = {
    **{category.value: states for category, states in CATEGORY_STATES.items()},
    **{state.value: (state,) for state in SubmissionState},
}

APPROVED_STATES: frozenset[SubmissionState] = frozenset(_APPROVED)
"""Approved and not yet published. The only way on is PUBLISHED."""

WITHDRAWN_BY_PUBLISHER = "withdrawn_by_publisher"
"""The reason of what its publisher took back: nobody but the publisher brings it in again."""

DELIVERABLE_STATES: frozenset[SubmissionState] = frozenset(_ACTIVE)
"""The states that a delivery may claim. Every other state is the end of its run: the delivery is acknowledged as stale."""


def check_transition(source: S | None, target: S, *, trigger: Trigger, actor: Actor) -> None:
    """Raise IllegalTransition unless the table has this step for this actor."""
    actors = _ALLOWED.get((source, target, trigger))
    if actors is None or actor not in actors:
        raise IllegalTransition(
            f"A submission cannot go from {source or 'nothing'} to {target} by {trigger!s} of {actor!s}.",
            source=source,
            target=target,
            trigger=trigger,
            actor=actor,
        )


def keep_approval(state: SubmissionState, *, otherwise: SubmissionState) -> SubmissionState:
    """The state that work on a submission begins with: an approval stays what it is, anything else starts over."""
    return state if state in APPROVED_STATES else otherwise


def expand_state_filter(word: str) -> tuple[SubmissionState, ...]:
    """The states that a filter word means: a category (`active`) or a state (`RECEIVED`)."""
    if word in _STATES_BY_WORD:
        return _STATES_BY_WORD[word]
    known = ", ".join(_STATES_BY_WORD)
    raise InvalidQuery(f"'{word}' is neither a category nor a state. Known are: {known}.", filter=word)


def count_by_category(by_state: dict[SubmissionState, int]) -> dict[Category, int]:
    """Counts by state, summed by category; a state that is not counted counts zero."""
    return {category: sum(by_state.get(state, 0) for state in states) for category, states in CATEGORY_STATES.items()}
