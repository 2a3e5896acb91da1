"""Answers that are kept for as long as nothing has happened, so that a list that many look at is made once.

A route may have its answers kept (`opt={KEPT: True}`) where they depend on the address and the store alone. An answer is given
again while the event log has not grown since before it was made, and for a moment only: what changes without an event is seen
after that. A store that cannot be asked is an error, never an old answer.

When an answer has run out, the first who asks makes the next one and the others wait for it: else all of them would make it.
"""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from vskill_platform.web.surface.answers import Whole

KEPT = "kept"
"""In a route's `opt`: whether its answers may be kept."""
KEPT_MS = 2000
MAX_ADDRESSES = 512
MAX_ANSWER_BYTES = 512 * 1024
MAX_BYTES = 32 * 1024 * 1024
WAIT_LIMIT_S = 5.0
"""How long somebody waits for the answer that another is making, before making it too."""

Address = tuple[bytes, str, bytes, bytes]
"""Host, scheme, path and query: all that such an answer depends on beside the store."""


class KeptAnswer(NamedTuple):
    """What a route sent, as of an event and a moment."""

    sequence: int
    made_ms: int
    whole: Whole


class KeptAnswers:
    """The answers of one process. An address is expected the first time it is asked for, and kept from the second on."""

    def __init__(self) -> None:
        self._routes: dict[Address, str] = {}
        self._answers: dict[Address, KeptAnswer] = {}
        self._making: dict[Address, asyncio.Event] = {}
        self._size = 0

    def is_expected(self, address: Address) -> bool:
        """Whether an address was asked for before and has answers that may be kept."""
        return address in self._routes

    def expect(self, address: Address, *, route: str) -> None:
        """Keep the next answer of an address. Where there are too many, all go: those that are wanted come back at once."""
        if len(self._routes) >= MAX_ADDRESSES:
            self._clear()
        self._routes[address] = route

    def route(self, address: Address) -> str:
        """The route that answers an address that is expected, as its metrics name it."""
        return self._routes.get(address, "")

    def find(self, address: Address, *, sequence: int, now_ms: int) -> KeptAnswer | None:
        """The answer for an address, if it still is the answer."""
        kept = self._answers.get(address)
        if kept is None or kept.sequence != sequence or not 0 <= now_ms - kept.made_ms < KEPT_MS:
            return None
        return kept

    def keep(self, address: Address, answer: KeptAnswer) -> None:
        """Keep an answer, unless it is a large one."""
        if len(answer.whole.body) > MAX_ANSWER_BYTES:
            return
        before = self._answers.get(address)
        self._size += len(answer.whole.body) - (len(before.whole.body) if before else 0)
        if self._size > MAX_BYTES:
            self._clear()
            self._size = len(answer.whole.body)
        self._answers[address] = answer

    def begin(self, address: Address) -> asyncio.Event | None:
        """Make the next answer of an address; None where another does so already. Whoever begins has to `end`."""
        if address in self._making:
            return None
        self._making[address] = made = asyncio.Event()
        return made

    def end(self, address: Address, made: asyncio.Event) -> None:
        """Let those go on who wait for an answer. May be called again.

        Where it came to none that is kept, nobody waits for the next.
        """
        if made.is_set():
            return
        made.set()
        del self._making[address]
        if address not in self._answers:
            self._routes.pop(address, None)

    async def wait(self, address: Address) -> None:
        """Wait until another has made the answer, if another makes it."""
        made = self._making.get(address)
        if made is not None:
            await made.wait()

    def _clear(self) -> None:
        self._routes.clear()
        self._answers.clear()
        self._size = 0
