"""Who is next: the places of submissions in the line, and how long they are likely to wait.

The line is the queue's own: by priority, then by arrival. It is read whole, up to a bound, and kept for a few seconds, so that a
thousand people who watch their place cost what one does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import perf_counter
from weakref import WeakKeyDictionary

import msgspec

from vskill_platform.domain.messages import SUBMISSIONS_QUEUE
from vskill_platform.ports.queue import MAX_LINE, Queue, WaitingMessage
from vskill_platform.stores.pause import is_paused
from vskill_platform.stores.series import recent_rate
from vskill_platform.worker_context import current_env

KEPT_S = 5.0
_SHARE = 20
"""A line that takes long to read is kept for so many times as long: asking for it never takes more than a twentieth."""


class Position(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Where a submission stands. Null where it does not wait, or stands behind the first 100,000; of a wait, where unknown."""

    position: int | None
    total: int
    expected_wait_s: int | None


@dataclass(frozen=True, slots=True)
class Line:
    """The line at a moment: the place of each submission, from 1, and how fast it moves (a second), where that is known."""

    places: Mapping[str, int]
    total: int
    rate: float | None
    read_at_ms: int
    kept_ms: float

    def position_of(self, identity: str) -> Position:
        """Where a submission stands in this line."""
        place = self.places.get(identity)
        return Position(position=place, total=self.total, expected_wait_s=self._wait_s(place))

    def _wait_s(self, place: int | None) -> int | None:
        return None if place is None or not self.rate else round(place / self.rate)


@dataclass(slots=True)
class _Kept:
    reading: asyncio.Lock = field(default_factory=asyncio.Lock)
    line: Line | None = None


_kept: WeakKeyDictionary[Queue, _Kept] = WeakKeyDictionary()


async def read_line() -> Line:
    """The line as of a few seconds ago at most. Raises StoreUnavailable where it cannot be read."""
    env = current_env("queue")
    kept = _kept.setdefault(env.queue, _Kept())
    async with kept.reading:
        line = kept.line
        age_ms = 0 if line is None else env.clock.now_ms() - line.read_at_ms
        if line is None or not 0 <= age_ms < line.kept_ms:
            kept.line = line = await _read_line()
        return line


async def find_position(identity: str) -> Position:
    """Where a submission stands in the line."""
    return (await read_line()).position_of(identity)


async def _read_line() -> Line:
    env = current_env("queue")
    began = perf_counter()
    waiting = await env.queue.line(SUBMISSIONS_QUEUE)
    total = len(waiting) if len(waiting) < MAX_LINE else (await env.queue.stats(SUBMISSIONS_QUEUE)).waiting
    places = await asyncio.to_thread(_places, waiting)
    rate = None if await is_paused() else await recent_rate()
    kept_ms = max(KEPT_S, (perf_counter() - began) * _SHARE) * 1000
    return Line(places, total, rate, env.clock.now_ms(), kept_ms)


class _Named(msgspec.Struct, rename="camel"):
    """The one field of a message that the line needs; messages of other kinds do not have it."""

    submission_id: str | None = None


_named = msgspec.json.Decoder(_Named)


def _places(waiting: list[WaitingMessage]) -> dict[str, int]:
    """The place of each submission; of two messages for one, the first."""
    places: dict[str, int] = {}
    for place, message in enumerate(waiting, start=1):
        try:
            identity = _named.decode(message.body).submission_id
        except msgspec.DecodeError:
            continue
        if identity is not None:
            places.setdefault(identity, place)
    return places
