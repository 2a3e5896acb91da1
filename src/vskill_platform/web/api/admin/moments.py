"""Moments that a request names."""

from __future__ import annotations

from vskill_platform.domain.errors import InvalidInput
from vskill_platform.domain.times import ms_from_iso


def read_moment(text: str) -> int:
    """A moment in milliseconds since 1970. Raises InvalidInput for what is none."""
    try:
        return ms_from_iso(text)
    except ValueError as exc:
        raise InvalidInput(f"'{text[:40]}' is no moment. Write it like 2026-11-16T09:00:00.000Z.") from exc
