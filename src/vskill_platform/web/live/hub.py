"""The hub: one task reads the event log and wakes the streams that an event is for.

It never waits for a stream. Each is sent to by a task of its own, which exists only while there is something to send, so that
an idle stream costs its connection and nothing that runs. Events that come close together go out together: at a high rate the
cost of a piece, which is most of it, is shared by many.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from contextvars import Context

import structlog
from litestar.types import Receive, Send

from vskill_platform import metrics
from vskill_platform.domain.errors import EngineClosed, StoreUnavailable, VskillError
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.web.live.audience import Audience
from vskill_platform.web.live.places import StreamPlaces
from vskill_platform.web.live.reader import Reader
from vskill_platform.web.live.ring import Ring
from vskill_platform.web.live.telling import Told, frame, tell
from vskill_platform.web.live.wanted import Wanted

KEPT_EVENTS = 4096
KEEPALIVE_S = 20
"""Each stream hears from us this often. The streams take turns, one in so many every second."""
STALLED_S = 30
"""How long a stream may take nothing before it counts as slow beyond help."""
_WAIT_S = 30.0
_BETWEEN_S = 0.05
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.25, 5.0
_WOKEN_AT_ONCE = 64
_PAGE = 500
_MOST_CAUGHT_UP = 20_000
_CATCHING_UP_AT_ONCE = 4
_SPREAD_MS = 1500
_log = structlog.get_logger(__name__)


class Hub:
    """The streams of one process. It starts with the first stream, and ends by `stop` and `close`."""

    def __init__(self, env: WorkerEnv, *, kept: int = KEPT_EVENTS) -> None:
        settings = env.settings
        self.places = StreamPlaces(most=settings.streams_most, most_per_address=settings.streams_per_address)
        self._events, self._clock, self._kept = env.events, env.clock, kept
        self._ring: Ring | None = None
        self._audience = Audience()
        self._tasks: list[asyncio.Task[None]] = []
        self._trouble: Exception | None = None
        self._is_stopping = False
        self._joined = 0
        self._pieces: dict[tuple[Wanted, int, int], bytes] = {}
        self._starting = asyncio.Lock()
        self._catching_up = asyncio.Semaphore(_CATCHING_UP_AT_ONCE)

    async def check_readable(self) -> None:
        """Start where nothing runs yet. Raises StoreUnavailable where the log cannot be read."""
        async with self._starting:
            if self._ring is None and not self._is_stopping:
                self._begin(await self._events.last_sequence())
        if self._trouble is not None:
            raise StoreUnavailable("The registry cannot read its events at present. Try again shortly.")

    async def serve(self, wanted: Wanted, *, after: int | None, receive: Receive, send: Send) -> None:
        """Serve one stream until its client goes or we end it. The answer must have begun."""
        ring = self._ring
        if self._is_stopping or ring is None:
            await send({"type": "http.response.body", "body": self._farewell(), "more_body": False})
            return
        self._joined += 1
        begin = ring.last if after is None else after
        reader = Reader(wanted, send, self._clock, after=begin, slot=self._joined % KEEPALIVE_S)
        try:
            await reader.write(b"retry: %d\n%s\n" % (self._retry_ms(), b"id: %d\n" % reader.after))
            if await self._catch_up(reader):
                self._join(reader)
                while (await receive())["type"] != "http.disconnect":
                    pass
        finally:
            self._leave(reader)

    def stop(self) -> None:
        """End every stream at once, with a word on when to come again; new ones get no more than that."""
        self._is_stopping = True
        for reader in self._audience.everybody():
            self._end(reader, self._farewell(), why="stopping")
        for task in self._tasks:
            task.cancel()

    async def close(self) -> None:
        """Stop, and wait for the hub's own tasks."""
        self.stop()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _begin(self, last: int) -> None:
        self._ring = Ring(since=last, most=self._kept)
        for work in (self._follow(), self._keep_alive()):
            self._tasks.append(asyncio.get_running_loop().create_task(work, context=Context()))

    async def _follow(self) -> None:
        """Read the log for ever; after trouble, go on where we were."""
        pause_s = _FIRST_PAUSE_S
        while True:
            try:
                await self._read_on()
                pause_s = _FIRST_PAUSE_S
            except EngineClosed as error:
                self._note_trouble(error)
                return
            except Exception as error:  # streams that hang without a word would be worse than any error
                self._note_trouble(error)
                await self._clock.sleep(pause_s)
                pause_s = min(pause_s * 2, _LONGEST_PAUSE_S)

    async def _read_on(self) -> None:
        ring = self._present_ring
        page = await self._events.read(ring.last, wait_s=_WAIT_S)
        self._note_well()
        if page.reset:
            self._start_again(page.last)
            return
        if not page.events:
            return
        began = asyncio.get_running_loop().time()
        news = [told for event in page.events if (told := tell(event)) is not None]
        readers = self._audience.of(news)
        for reader in readers:  # all of them before anything else runs: who has no place has everything up to `last`
            reader.note(ring.next)
        ring.extend(news, last=page.last)
        self._pieces.clear()
        await self._send_to_all(readers)
        took_s = asyncio.get_running_loop().time() - began
        await self._clock.sleep(max(_BETWEEN_S, took_s))

    async def _send_to_all(self, readers: Iterable[Reader]) -> None:
        """Have each of them sent to; whatever else the process does gets its turn in between."""
        for number, reader in enumerate(readers, start=1):
            self._send_to(reader)
            if number % _WOKEN_AT_ONCE == 0:
                await asyncio.sleep(0)

    def _send_to(self, reader: Reader) -> None:
        if reader.is_open and reader.sending is None:
            reader.sending = asyncio.get_running_loop().create_task(self._send(reader))

    async def _send(self, reader: Reader) -> None:
        try:
            await reader.send_pending(self._present_ring, self._piece)
        except OSError:
            self._leave(reader)
        finally:
            reader.sending = None

    def _piece(self, wanted: Wanted, news: Sequence[Told]) -> bytes:
        if wanted.subjects is not None:
            return b"".join(told.frame for told in news if wanted.matches(told))
        key = (wanted, news[0].sequence, news[-1].sequence)
        piece = self._pieces.get(key)
        if piece is None:
            piece = self._pieces[key] = b"".join(told.frame for told in news if wanted.matches(told))
        return piece

    async def _keep_alive(self) -> None:
        """One timer for all: every second one slot of streams hears from us, and who takes nothing is cut off."""
        slot = 0
        while True:
            await self._clock.sleep(1)
            slot = (slot + 1) % KEEPALIVE_S
            for reader in self._audience.everybody():
                if reader.has_stalled(for_s=STALLED_S):
                    self._end(reader, b"", why="stalled")
                elif reader.slot == slot and reader.is_idle:
                    reader.keep_alive(self._present_ring)
                    self._send_to(reader)

    def _end(self, reader: Reader, last_words: bytes, *, why: str) -> None:
        """Say these last words to a stream, once its connection takes them, and forget it."""
        reader.end(last_words)
        self._send_to(reader)
        self._audience.remove(reader)
        metrics.STREAMS_ENDED.labels(why).inc()

    def _join(self, reader: Reader) -> None:
        ring = self._present_ring
        place = ring.place_after(reader.after)
        reader.place = place if place < ring.next else None
        self._audience.add(reader)
        if self._is_stopping:
            self._end(reader, self._farewell(), why="stopping")
        elif reader.place is not None:
            self._send_to(reader)

    def _leave(self, reader: Reader) -> None:
        reader.is_open = False
        self._audience.remove(reader)
        if reader.sending is not None:
            reader.sending.cancel()

    async def _catch_up(self, reader: Reader) -> bool:
        """Send what the reader missed and the ring no longer has, from the log. False where it cannot be read."""
        try:
            await self._read_missed(reader)
        except VskillError as error:
            await reader.write(_trouble_frame(error), is_last=True)
            return False
        return True

    async def _read_missed(self, reader: Reader) -> None:
        """Pages of a few readers at a time, so that many who come back together share what the store can do."""
        count = 0
        while not self._present_ring.since <= reader.after <= self._present_ring.last:
            async with self._catching_up:
                page = await self._events.read(reader.after, limit=_PAGE)
            count += len(page.events)
            if page.reset or count > _MOST_CAUGHT_UP:
                reader.start_again(self._present_ring, detail="Events are missing. Read what you show afresh.")
                await reader.write(reader.take_words())
                return
            if not page.events:
                return  # it has seen more than we have: we get there, and it is sent only what is new to it
            told = [told for event in page.events if (told := tell(event)) is not None and reader.wanted.matches(told)]
            reader.after = page.last
            if told:
                await reader.write(b"".join(one.frame for one in told))

    def _start_again(self, last: int) -> None:
        """The log has moved on without us, or is another one."""
        self._ring = ring = Ring(since=last, most=self._kept)
        for reader in self._audience.everybody():
            reader.start_again(ring, detail="Events are missing. Read what you show afresh.")
            self._send_to(reader)

    def _note_trouble(self, error: Exception) -> None:
        if self._trouble is None:
            _log.error(
                "events_unreadable", exc_info=None if isinstance(error, VskillError) else error, error=str(error)
            )
            self._tell_everybody(_trouble_frame(error))
        self._trouble = error

    def _note_well(self) -> None:
        if self._trouble is not None:
            self._trouble = None
            self._tell_everybody(frame("recovered", {}))

    def _tell_everybody(self, words: bytes) -> None:
        for reader in self._audience.everybody():
            reader.say(words)
            self._send_to(reader)

    @property
    def _present_ring(self) -> Ring:
        assert self._ring is not None
        return self._ring

    def _farewell(self) -> bytes:
        return b": this server is stopping\nretry: %d\n\n" % self._retry_ms()

    def _retry_ms(self) -> int:
        """When to come again: spread, so that not all who were cut off together come back together."""
        self._joined += 1
        return 250 + self._joined * 377 % _SPREAD_MS


def _trouble_frame(error: Exception) -> bytes:
    """What strangers hear of an error of the store: its code, and nothing of its text."""
    detail = "The registry cannot read its events at present. They follow when it can."
    code = error.code if isinstance(error, VskillError) else VskillError.code
    return frame("trouble", {"code": code, "detail": detail})
