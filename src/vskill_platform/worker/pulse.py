"""Whether a loop still comes round. A process that answers while its loop hangs is not alive."""

from __future__ import annotations

from time import monotonic


class Pulse:
    """Beats once each time a loop comes round. It is alive unless the last beat is too long ago."""

    def __init__(self, *, limit_s: float) -> None:
        self._limit_s = limit_s
        self._beaten_s = monotonic()
        self._is_resting = False

    def beat(self) -> None:
        """The loop has come round."""
        self._beaten_s = monotonic()

    def rest(self) -> None:
        """The loop is ending, in a time that its own limits bound: nobody has to wait for another beat."""
        self._is_resting = True

    @property
    def is_alive(self) -> bool:
        """Whether the loop came round lately, by a clock that nobody sets."""
        return self._is_resting or monotonic() - self._beaten_s <= self._limit_s
