"""One open stream: how far it has come, and the bytes it gets next."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

from litestar.types import Send

from vskill_platform.ports.clock import Clock
from vskill_platform.web.live.ring import Ring
from vskill_platform.web.live.telling import Told, frame
from vskill_platform.web.live.wanted import Wanted

MOST_AT_ONCE = 256
"""Events that go out in one piece."""
TOO_SLOW = b": too far behind; come again with the id of the last event\n\n"


class Pieces(Protocol):
    """Makes the piece of a stream that wants the same as others do, once for all of them."""

    def __call__(self, wanted: Wanted, news: Sequence[Told]) -> bytes:
        """The frames that such a stream gets of these events."""
        ...


class Reader:
    """A stream that is open. `place` is where the events begin that it may have to be sent; None where it has them all.

    Nothing is kept for it but that place and at most one piece on its way: what a slow one has not taken yet stays in the ring
    for all, and once it is gone from there the stream ends and its reader comes again with the last id.
    """

    __slots__ = (
        "__weakref__",
        "_clock",
        "_last_words",
        "_send",
        "_words",
        "_writing_since_ms",
        "after",
        "is_open",
        "place",
        "sending",
        "slot",
        "wanted",
    )

    def __init__(self, wanted: Wanted, send: Send, clock: Clock, *, after: int, slot: int) -> None:
        self.wanted = wanted
        self.after = after
        self.place: int | None = None
        self.slot = slot
        self.is_open = True
        self.sending: asyncio.Task[None] | None = None
        self._clock = clock
        self._send = send
        self._writing_since_ms: int | None = None
        self._words = b""
        self._last_words: bytes | None = None

    @property
    def is_idle(self) -> bool:
        """Whether it has everything, and nothing is on its way."""
        return self.place is None and self.sending is None

    def note(self, place: int) -> None:
        """There is something for it from this place on."""
        if self.place is None:
            self.place = place

    def say(self, words: bytes) -> None:
        """Put a notice before the next events."""
        self._words += words

    def end(self, last_words: bytes) -> None:
        """Send these, and nothing after them."""
        self._last_words = last_words

    def start_again(self, ring: Ring, *, detail: str) -> None:
        """Tell it that events are missing: it must read what it shows afresh, and goes on from the newest."""
        self.after, self.place = ring.last, None
        self.say(frame("reset", {"detail": detail}, sequence=ring.last))

    def keep_alive(self, ring: Ring) -> None:
        """Let it know that we are there, and up to where it has everything, so that it comes again from there."""
        self.after = max(self.after, ring.last)
        self.say(b": here\nid: %d\n\n" % self.after)

    async def write(self, content: bytes, *, is_last: bool = False) -> None:
        """Hand bytes to the connection; waits while it takes none."""
        self._writing_since_ms = self._clock.now_ms()
        await self._send({"type": "http.response.body", "body": content, "more_body": not is_last})
        self._writing_since_ms = None

    def has_stalled(self, *, for_s: float) -> bool:
        """Whether its connection has taken nothing for this long, although there is something to send."""
        since_ms = self._writing_since_ms
        return since_ms is not None and self._clock.now_ms() - since_ms > for_s * 1000

    async def send_pending(self, ring: Ring, pieces: Pieces) -> None:
        """Send until there is nothing more to send."""
        while self.is_open:
            content = self.take_words() + self._take_events(ring, pieces)
            if self._last_words is not None:
                self.is_open = False
                await self.write(content + self._last_words, is_last=True)
            elif content:
                await self.write(content)
            elif self.place is None:
                return

    def take_words(self) -> bytes:
        """The notices that have come together, once."""
        words, self._words = self._words, b""
        return words

    def _take_events(self, ring: Ring, pieces: Pieces) -> bytes:
        if self.place is None or self._last_words is not None:
            return b""
        if self.place < ring.first:
            if self.after < ring.since:
                self.end(TOO_SLOW)
                return b""
            self.place = ring.place_after(self.after)  # what the ring has forgotten it has had already, from the log
        news = ring.take(self.place, most=MOST_AT_ONCE)
        if news and news[0].sequence <= self.after:
            self.place = ring.place_after(self.after)
            news = ring.take(self.place, most=MOST_AT_ONCE)
        self.place += len(news)
        if self.place == ring.next:
            self.place = None
        if not news:
            return b""
        self.after = news[-1].sequence
        return pieces(self.wanted, news)
