"""How many streams may be open: in all, and from one address."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from vskill_platform import metrics
from vskill_platform.domain.errors import RateLimited, TooManyStreams

RETRY_S = 15


class StreamPlaces:
    """The places of one process. A stream takes one before it begins and gives it back however it ends."""

    def __init__(self, *, most: int, most_per_address: int) -> None:
        self._most = most
        self._most_per_address = most_per_address
        self._taken: Counter[str] = Counter()
        self.taken = 0
        """How many streams are open."""

    def take(self, address: str) -> Callable[[], None]:
        """Take a place, and get what gives it back, once. Raises RateLimited or TooManyStreams where there is none."""
        self._check(address)
        self._taken[address] += 1
        self.taken += 1
        metrics.STREAMS.inc()
        return self._giving_back(address)

    def _check(self, address: str) -> None:
        if self._taken[address] >= self._most_per_address:
            raise RateLimited(
                f"{self._most_per_address} event streams are open from your address, which is as many as it may have. "
                "Close one, or ask for several things by one stream.",
                retry_after_s=RETRY_S,
            )
        if self.taken >= self._most:
            raise TooManyStreams(
                "As many event streams are open as this server serves. Try again shortly, or ask now and then instead.",
                retry_after_s=RETRY_S,
            )

    def _giving_back(self, address: str) -> Callable[[], None]:
        is_taken = True

        def give_back() -> None:
            nonlocal is_taken
            if not is_taken:
                return
            is_taken = False
            metrics.STREAMS.dec()
            self.taken -= 1
            self._taken[address] -= 1
            if not self._taken[address]:
                del self._taken[address]

        return give_back
