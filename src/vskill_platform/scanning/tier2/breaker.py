"""A circuit breaker: who keeps failing is left alone for a while, then tried once.

Its state is the process's own. Nothing is lost by several workers finding out for themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from vskill_platform.domain.errors import JudgeUnavailable
from vskill_platform.metrics import JUDGE_BREAKER
from vskill_platform.ports.clock import Clock

FAILURES = 5
OPEN_S = 60.0


class Breaker:
    """Opens after so many failures in a row. Once it was open for a while, one caller may try; that one decides."""

    def __init__(self, clock: Clock, *, failures: int = FAILURES, open_s: float = OPEN_S) -> None:
        self._clock = clock
        self._most = failures
        self._open_ms = open_s * 1000
        self._failed = 0
        self._opened_ms: int | None = None
        self._is_trying = False

    @property
    def is_open(self) -> bool:
        """Whether it failed so often that callers are turned away."""
        return self._opened_ms is not None

    @contextmanager
    def guarding(self) -> Iterator[None]:
        """A call. JudgeUnavailable in it is a failure; it is raised at once while the breaker is open."""
        is_trial = self._admit()
        try:
            yield
        except JudgeUnavailable:
            self._fail()
            raise
        else:
            self._close()
        finally:
            self._is_trying = self._is_trying and not is_trial

    def _admit(self) -> bool:
        """Let a caller in, and say whether it is the one that tries."""
        if self._opened_ms is None:
            return False
        left_ms = self._opened_ms + self._open_ms - self._clock.now_ms()
        if left_ms > 0 or self._is_trying:
            raise JudgeUnavailable(
                f"The judge has failed {self._failed} times in a row and is left alone for {max(left_ms, 0) / 1000:.0f} s."
            )
        self._is_trying = True
        return True

    def _fail(self) -> None:
        self._failed += 1
        if self._failed >= self._most:
            self._opened_ms = self._clock.now_ms()
            JUDGE_BREAKER.set(1)

    def _close(self) -> None:
        self._failed, self._opened_ms = 0, None
        JUDGE_BREAKER.set(0)
