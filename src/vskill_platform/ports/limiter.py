"""The rate limiter: exact, and never a wait for the disk."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class Taken(NamedTuple):
    """Whether a take was allowed, how many are left now, and how many seconds until one more is."""

    allowed: bool
    remaining: int
    retry_after_s: float


class Limiter(Protocol):
    """At most `limit` allowed takes of a key in any span of `window_s` seconds, exactly, also by parallel callers.

    A key is counted apart for each window it is taken with.

    A take that is refused costs nothing. What was taken may be forgotten when the process ends.
    """

    async def take(self, key: str, *, limit: int, window_s: float) -> Taken:
        """Take one. Raises InvalidInput for a limit or window that is not positive."""
        ...
