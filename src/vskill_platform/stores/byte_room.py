"""How many bytes of archives a process holds at once: a slow client keeps what it is sent, so there has to be an end to it."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import contextmanager

from vskill_platform.domain.errors import RegistryBusy


class HeldBytes:
    """Bytes that take up room for as long as anybody has this."""

    __slots__ = ("__weakref__", "content")

    def __init__(self, content: bytes) -> None:
        self.content = content


class ByteRoom:
    """Room for so many bytes. Nobody waits for it: who comes when it is full is told to come again."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self.taken = 0

    @contextmanager
    def taking(self, size: int) -> Iterator[None]:
        """Room for this many bytes until the block ends. Raises RegistryBusy where there is none."""
        self._take(size)
        try:
            yield
        finally:
            self._give_back(size)

    def hold(self, content: bytes) -> HeldBytes:
        """The bytes, in room that comes back when nobody has them any more, however that comes about."""
        self._take(len(content))
        held = HeldBytes(content)
        weakref.finalize(held, self._give_back, len(content))
        return held

    def _take(self, size: int) -> None:
        """Whatever its size, what comes alone fits: a limit on skills is elsewhere."""
        if self.taken and self.taken + size > self._most_bytes:
            raise RegistryBusy("Too many archives are being read or sent at this moment. Try again in a few seconds.")
        self.taken += size

    def _give_back(self, size: int) -> None:
        self.taken -= size
