"""How many streams may be open: in all, and from one address."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from vskill_platform import metrics
from vskill_platform.domain.errors import RateLimited, TooManyStreams

RETRY_S = 15


class StreamPlaces:
    """The places of one process. A stream takes one before it begins and gives it back however it ends."""

    def __init__(self, *, most: int, most_per_address: int) -> None:
        self._most = most
        self._most_per_address = most_per_address
        self._taken: Counter[str] = Counter()

    @property
    def taken(self) -> int:
        """How many streams are open."""
        return self._taken.total()

    def check(self, address: str) -> None:
        """Raise TooManyStreams or RateLimited where there is no place for another stream from this address."""
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

    @contextmanager
    def taking(self, address: str) -> Iterator[None]:
        """Hold a place for as long as the block lasts."""
        self._taken[address] += 1
        metrics.STREAMS.inc()
        try:
            yield
        finally:
            metrics.STREAMS.dec()
            self._taken[address] -= 1
            if not self._taken[address]:
                del self._taken[address]
