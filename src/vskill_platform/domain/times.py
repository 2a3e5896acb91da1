"""Times as records hold them: UTC, ISO 8601, milliseconds. In memory a time is an integer of milliseconds since 1970."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def iso_from_ms(ms: int) -> str:
    """`2026-02-21T10:00:00.000Z` for a count of milliseconds since 1970."""
    moment = _EPOCH + timedelta(milliseconds=ms)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{ms % 1000:03d}Z"


def ms_from_iso(text: str) -> int:
    """Milliseconds since 1970 for an ISO 8601 time; one without an offset is UTC. Raises ValueError for anything else."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // _MILLISECOND


def hour_of(ms: int) -> str:
    """The UTC hour a time falls in, as metric keys name it: `2026-02-21T10`."""
    return iso_from_ms(ms)[:13]
