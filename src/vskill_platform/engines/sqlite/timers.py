"""What the passing of time does to messages: delays end, leases lapse."""

from __future__ import annotations

import apsw

from vskill_platform.domain.delivery import LAPSED_ERROR
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.engines.sqlite.connection import fetch_one

WAITING, DELAYED, LEASED, DEAD = 0, 1, 2, 3
"""The numbers of a message's status in the file."""

STATUSES = (MessageStatus.WAITING, MessageStatus.DELAYED, MessageStatus.LEASED, MessageStatus.DEAD)

_ANYTHING_OVER = "SELECT 1 FROM message WHERE status IN (1, 2) AND at_ms <= ? LIMIT 1"
_LEASES_LAPSE = """
UPDATE message SET status = iif(attempts >= :max_attempts, 3, 0), suspect = 1, error = :error
WHERE status IN (1, 2) AND status = 2 AND at_ms <= :now_ms
"""
_DELAYS_END = "UPDATE message SET status = 0 WHERE status IN (1, 2) AND status = 1 AND at_ms <= :now_ms"
_NEVER_MS = 2**62


def settle_timers(connection: apsw.Connection, *, now_ms: int, max_attempts: int) -> None:
    """Make deliverable what time has made so. Part of every group, so that what a job sees is true now."""
    if fetch_one(connection, _ANYTHING_OVER, (now_ms,)) is None:
        return
    lapse_leases(connection, until_ms=now_ms, max_attempts=max_attempts)
    connection.execute(_DELAYS_END, {"now_ms": now_ms})


def end_all_leases(connection: apsw.Connection, *, max_attempts: int) -> None:
    """The process that held them is gone: every lease lapses now, and its attempt counts."""
    lapse_leases(connection, until_ms=_NEVER_MS, max_attempts=max_attempts)


def lapse_leases(connection: apsw.Connection, *, until_ms: int, max_attempts: int) -> None:
    """End the leases that run until then at the latest, as if their holders had died."""
    connection.execute(_LEASES_LAPSE, {"now_ms": until_ms, "max_attempts": max_attempts, "error": LAPSED_ERROR})
