"""Wake-ups between processes: what one commits, the others that wait for it hear of by LISTEN and NOTIFY.

A notice says only that it is worth looking. It is sent after the commit, apart from it and at most one at a time: inside a
transaction it would make all commits of the server wait for each other. Whoever waits also looks every few seconds, so a
notice that is lost with a connection costs time and nothing else.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from uuid import uuid4

import asyncpg
import structlog

from vskill_platform.domain.errors import VskillError
from vskill_platform.engines.postgres.connection import LOST, Access
from vskill_platform.engines.postgres.readers import Readers
from vskill_platform.engines.waiting import Signal
from vskill_platform.ports.clock import Clock

_NOTIFY = "SELECT pg_notify($1, $2)"
_ARRIVALS, _EVENTS = "arrivals", "events"
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.1, 5.0
_log = structlog.get_logger(__name__)


class Notices:
    """The two signals of an engine, raised by its own commits at once and by those of others through the database."""

    def __init__(self, access: Access, readers: Readers, clock: Clock, *, look_every_s: float) -> None:
        self.arrivals = Signal()
        self.emissions = Signal()
        self._access = access
        self._readers = readers
        self._clock = clock
        self._look_every_s = look_every_s
        self._name = uuid4().hex
        self._channel = f"vskill_{access.schema}"
        self._untold: set[str] = set()
        self._has_untold = asyncio.Event()
        self._tasks = [asyncio.create_task(self._listen()), asyncio.create_task(self._tell())]

    def next_look_ms(self) -> int:
        """When whoever waits should look again without having been woken."""
        return self._clock.now_ms() + int(self._look_every_s * 1000)

    def tell_arrivals(self) -> None:
        """Messages may be there to pull, or the moment of the next one has changed."""
        self.arrivals.notify()
        self._tell_others(_ARRIVALS)

    def tell_events(self) -> None:
        """There are new events."""
        self.emissions.notify()
        self._tell_others(_EVENTS)

    async def close(self) -> None:
        """Stop listening and telling, and wake whoever waits here: nothing more will come."""
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)
        self._wake_all()

    def _wake_all(self) -> None:
        self.arrivals.notify()
        self.emissions.notify()

    def _tell_others(self, what: str) -> None:
        self._untold.add(what)
        self._has_untold.set()

    async def _tell(self) -> None:
        while True:
            await self._has_untold.wait()
            self._has_untold.clear()
            told, self._untold = self._untold, set()
            for what in told:
                # A notice that cannot be sent is one that the others do without: they look by themselves.
                with suppress(VskillError):
                    await self._readers.change(_NOTIFY, self._channel, f"{self._name} {what}")

    async def _listen(self) -> None:
        pause_s = _FIRST_PAUSE_S
        while True:
            try:
                await self._listen_until_lost()
                pause_s = _FIRST_PAUSE_S
            except (VskillError, asyncpg.PostgresError, *LOST) as error:
                _log.warning("listening_stopped", place=self._access.place, error=repr(error))
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 2, _LONGEST_PAUSE_S)

    async def _listen_until_lost(self) -> None:
        lost = asyncio.Event()
        connection = await self._access.connect()
        try:
            connection.add_termination_listener(lambda _: lost.set())
            await connection.add_listener(self._channel, self._hear)
            self._wake_all()  # for what was told while nobody listened
            await lost.wait()
        finally:
            connection.terminate()

    def _hear(self, _connection: object, _pid: int, _channel: str, payload: object) -> None:
        sender, _, what = str(payload).partition(" ")
        if sender != self._name:
            (self.emissions if what == _EVENTS else self.arrivals).notify()
