"""The newest events of the log, kept once for all streams of a process."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from vskill_platform.web.live.telling import Told


class Ring:
    """Events by place, a count that only grows. A stream holds a place and no copies.

    Every event after `since` that strangers may see is here; the log has been read up to `last`.
    """

    def __init__(self, *, since: int, most: int) -> None:
        self.since = since
        self.last = since
        self.first = 0
        self._most = most
        self._kept: list[Told] = []

    @property
    def next(self) -> int:
        """The place of the next event to come."""
        return self.first + len(self._kept)

    def extend(self, told: Sequence[Told], *, last: int) -> None:
        """Take in what was read up to `last`. The oldest are forgotten a half at a time, which costs little for each."""
        self._kept.extend(told)
        self.last = last
        surplus = len(self._kept) - self._most
        if surplus >= self._most:
            self.since = self._kept[surplus - 1].sequence
            self.first += surplus
            del self._kept[:surplus]

    def place_after(self, sequence: int) -> int:
        """The place of the first event after this one."""
        return self.first + bisect_right(self._kept, sequence, key=lambda told: told.sequence)

    def take(self, place: int, *, most: int) -> Sequence[Told]:
        """Events from a place on, which must not be before `first`."""
        start = place - self.first
        return self._kept[start : start + most]
