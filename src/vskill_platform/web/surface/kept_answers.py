"""Answers that are kept for as long as nothing has happened, so that a list that many look at is made once.

A route may have its answers kept (`opt={KEPT: True}`) where they depend on the address and the store alone. An answer is given
again while the event log has not grown since before it was made, and for a moment only: what changes without an event is seen
after that. A store that cannot be asked is an error, never an old answer.
"""

from __future__ import annotations

from typing import NamedTuple

from vskill_platform.web.surface.answers import Whole

KEPT = "kept"
"""In a route's `opt`: whether its answers may be kept."""
KEPT_MS = 2000
MAX_ADDRESSES = 512
MAX_ANSWER_BYTES = 512 * 1024
MAX_BYTES = 32 * 1024 * 1024

Address = tuple[bytes, str, bytes, bytes]
"""Host, scheme, path and query: all that such an answer depends on beside the store."""


class KeptAnswer(NamedTuple):
    """What a route sent, as of an event and a moment."""

    sequence: int
    made_ms: int
    route: str
    whole: Whole


class KeptAnswers:
    """The answers of one process. An address is expected the first time it is asked for, and kept from the second on."""

    def __init__(self) -> None:
        self._answers: dict[Address, KeptAnswer | None] = {}
        self._size = 0

    def is_expected(self, address: Address) -> bool:
        """Whether an address was asked for before and has answers that may be kept."""
        return address in self._answers

    def expect(self, address: Address) -> None:
        """Keep the next answer of an address. Where there are too many, all go: those that are wanted come back at once."""
        if len(self._answers) >= MAX_ADDRESSES:
            self._clear()
        self._answers.setdefault(address, None)

    def find(self, address: Address, *, sequence: int, now_ms: int) -> KeptAnswer | None:
        """The answer for an address, if it still is the answer."""
        kept = self._answers.get(address)
        if kept is None or kept.sequence != sequence or not 0 <= now_ms - kept.made_ms < KEPT_MS:
            return None
        return kept

    def keep(self, address: Address, answer: KeptAnswer) -> None:
        """Keep an answer, unless it is a large one."""
        before = self._answers.get(address)
        self._size += len(answer.whole.body) - (len(before.whole.body) if before else 0)
        if self._size > MAX_BYTES:
            self._clear()
            self._size = len(answer.whole.body)
        if len(answer.whole.body) <= MAX_ANSWER_BYTES:
            self._answers[address] = answer

    def _clear(self) -> None:
        self._answers.clear()
        self._size = 0
