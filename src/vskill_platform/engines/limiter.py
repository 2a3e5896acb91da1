"""The rate limiter of an engine that lives in one process: exact sliding windows in memory."""

from __future__ import annotations

import math
from collections import deque

from vskill_platform.domain.errors import EngineClosed, InvalidInput
from vskill_platform.ports.clock import Clock
from vskill_platform.ports.limiter import Taken

_SWEEP_EVERY = 4096


def check_rate(limit: int, window_s: float) -> None:
    """Raise InvalidInput for a limit or window that is not positive."""
    if limit < 1 or not 0 < window_s < math.inf:
        raise InvalidInput(f"A rate limit needs a positive limit and window; got {limit} in {window_s} s.")


class ProcessLimiter:
    """Remembers the moment of each allowed take for as long as it counts. Never yields, so parallel takes cannot race."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._taken: dict[tuple[str, float], deque[int]] = {}
        self._until_sweep = _SWEEP_EVERY
        self._is_closed = False

    def close(self) -> None:
        """Refuse every later take."""
        self._is_closed = True

    async def take(self, key: str, *, limit: int, window_s: float) -> Taken:
        """Take one."""
        if self._is_closed:
            raise EngineClosed("The engine was closed.")
        check_rate(limit, window_s)
        now_ms = self._clock.now_ms()
        window_ms = window_s * 1000
        self._forget_idle(now_ms)
        moments = self._taken.setdefault((key, window_s), deque())
        while moments and moments[0] + window_ms <= now_ms:
            moments.popleft()
        allowed = len(moments) < limit
        if allowed:
            moments.append(now_ms)
        remaining = max(limit - len(moments), 0)
        # With `limit` takes in the window, one more is allowed when the oldest of the last `limit` leaves it.
        retry_after_s = 0.0 if remaining else min((moments[-limit] + window_ms - now_ms) / 1000, window_s)
        return Taken(allowed, remaining, retry_after_s)

    def _forget_idle(self, now_ms: int) -> None:
        self._until_sweep -= 1
        if self._until_sweep:
            return
        self._until_sweep = max(_SWEEP_EVERY, len(self._taken))
        idle = [name for name, moments in self._taken.items() if not moments or moments[-1] + name[1] * 1000 <= now_ms]
        for name in idle:
            del self._taken[name]
