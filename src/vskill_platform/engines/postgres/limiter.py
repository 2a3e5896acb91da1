"""The rate limiter: exact over all processes of a registry, in a table that is not worth a wait for the disk."""

from __future__ import annotations

from vskill_platform.engines.limiter import check_rate
from vskill_platform.engines.postgres.readers import Readers
from vskill_platform.engines.postgres.texts import to_stored
from vskill_platform.engines.postgres.times import Times
from vskill_platform.ports.limiter import Taken

MOST = 2**31 - 1
_TAKE = "SELECT * FROM take_one($1, $2, $3, $4)"
_FORGET = "DELETE FROM taken WHERE until_ms <= moment($1)"


class PostgresLimiter:
    """Sliding windows, a row for each key."""

    def __init__(self, readers: Readers, times: Times) -> None:
        self._readers = readers
        self._times = times

    async def take(self, key: str, *, limit: int, window_s: float) -> Taken:
        """Take one."""
        self._readers.check_open()
        check_rate(limit, window_s)
        values = (self._times.asked_ms(), to_stored(key), window_s * 1000, min(limit, MOST))
        [(allowed, remaining, retry_after_ms)] = await self._readers.change(_TAKE, *values)
        return Taken(allowed, remaining, min(retry_after_ms / 1000, window_s))

    async def forget_idle(self) -> None:
        """Remove what counts no more."""
        await self._readers.change(_FORGET, self._times.asked_ms())
