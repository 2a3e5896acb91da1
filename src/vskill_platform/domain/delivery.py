"""How often a message is tried and how long it waits in between."""

from __future__ import annotations

MAX_ATTEMPTS = 4
LAPSED_ERROR = "The lease lapsed without a word: the worker that had this message died or hung."
"""What a message says of an attempt that nobody reported on."""
_FIRST_DELAY_S = 10.0
_GROWTH = 3.0
_LONGEST_DELAY_S = 600.0
_ERROR_CHARS = 4000


def error_text(error: str) -> str:
    """An error as a message keeps it: valid Unicode, and no longer than somebody reads."""
    return error.encode(errors="replace").decode()[:_ERROR_CHARS]


def retry_delay_s(attempt: int) -> float:
    """Seconds to wait after a failed attempt (counted from 1): 10, 30, 90, 270, and never more than ten minutes."""
    return float(min(_FIRST_DELAY_S * _GROWTH ** min(attempt - 1, 10), _LONGEST_DELAY_S))
