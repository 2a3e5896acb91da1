"""What became of a queue message: its size, its form, its lease and its time."""

from __future__ import annotations

from vskill_platform.domain.errors.base import VskillError
from vskill_platform.domain.errors.general import InvalidInput


class MessageTooLarge(InvalidInput):
    """A queue message is larger than the queue takes."""

    code = "message_too_large"


class MalformedMessage(VskillError):
    """A queue message cannot be decoded. Delivering it again will not help."""

    code = "malformed_message"


class UnknownMessageKind(VskillError):
    """A queue message is of a kind that this version does not know; a newer worker may."""

    code = "unknown_message_kind"
    retryable = True


class LeaseLost(VskillError):
    """The lease on a message lapsed or was taken over. Nothing was written: the message belongs to another now."""

    code = "lease_lost"


class TimeLimitExceeded(VskillError):
    """Work on one message took longer than it may."""

    code = "time_limit_exceeded"
    retryable = True
