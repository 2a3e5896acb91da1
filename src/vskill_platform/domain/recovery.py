"""When a submission looks stuck, and what to do about it.

Being stuck is a sign, not a verdict: a record that nobody has touched for five minutes may simply stand in a long queue
or be in the middle of a long scan. `decide_recovery` therefore looks at the record and at the status of its message, and
moves a submission only when its message is gone or has been given up.
"""

from __future__ import annotations

from enum import StrEnum

from vskill_platform.domain.submission import SubmissionState

STUCK_STATES: tuple[SubmissionState, ...] = (
    SubmissionState.RECEIVED,
    SubmissionState.TIER1_SCANNING,
    SubmissionState.TIER2_SCANNING,
    SubmissionState.AUTO_APPROVED,
    SubmissionState.VENDOR_APPROVED,
)
STUCK_THRESHOLD_MS = 5 * 60 * 1000
MAX_RECOVERIES = 3


class MessageStatus(StrEnum):
    """What the queue knows of a message."""

    WAITING = "waiting"
    DELAYED = "delayed"
    LEASED = "leased"
    DEAD = "dead"
    GONE = "gone"


class Recovery(StrEnum):
    """What the sweep does with a submission that looks stuck."""

    LEAVE = "leave"
    SEND_AGAIN = "send_again"
    REJECT_RECOVERY_EXHAUSTED = "recovery_exhausted"
    REJECT_DELIVERY_EXHAUSTED = "delivery_exhausted"


def is_stuck(state: SubmissionState, *, updated_ms: int, now_ms: int) -> bool:
    """Whether a submission in this state has not moved for the threshold. Exactly that long is stuck."""
    return state in STUCK_STATES and now_ms - updated_ms >= STUCK_THRESHOLD_MS


def due_ms(state: SubmissionState, *, updated_ms: int) -> int | None:
    """The moment from which the submission is stuck if nothing touches it; None in a state that cannot be stuck."""
    return updated_ms + STUCK_THRESHOLD_MS if state in STUCK_STATES else None


def decide_recovery(status: MessageStatus, *, recoveries: int) -> Recovery:
    """What to do with a stuck submission whose message has this status and that was sent again this often."""
    match status:
        case MessageStatus.WAITING | MessageStatus.DELAYED | MessageStatus.LEASED:
            return Recovery.LEAVE
        case MessageStatus.DEAD:
            return Recovery.REJECT_DELIVERY_EXHAUSTED
        case MessageStatus.GONE if recoveries < MAX_RECOVERIES:
            return Recovery.SEND_AGAIN
        case MessageStatus.GONE:
            return Recovery.REJECT_RECOVERY_EXHAUSTED
