"""Reads of keys and values."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from vskill_platform.domain.catalog import MAX_NUMBER, MIN_NUMBER
from vskill_platform.domain.errors import VskillError
from vskill_platform.engines.cursors import encode_cursor, number_and_text_position, text_position
from vskill_platform.engines.key_ranges import PAST_ALL_KEYS, key_ranges, refused_keys
from vskill_platform.engines.postgres.gets import Gets
from vskill_platform.engines.postgres.readers import Readers
from vskill_platform.engines.postgres.times import Times
from vskill_platform.ports.kv import (
    MAX_PAGE_KEYS,
    DueEntry,
    DuePage,
    Entry,
    Page,
    check_key,
    check_limit,
    check_text,
    prefix_end,
)

_BULK_KEYS = 1000
_SCAN_CHUNK = 1000
_SCAN_BYTES = 4 * 1024 * 1024

_LIVE = "(expires_ms IS NULL OR expires_ms > (SELECT moment($1)))"
_GET_MANY = f"SELECT key, value, version FROM kv WHERE key = ANY ($2) AND {_LIVE}"
_LIST = f"""
SELECT key FROM kv WHERE key >= $2 AND key > $3 AND key < $4 AND {_LIVE} ORDER BY key LIMIT $5
"""
# A chunk ends after the row with which it has enough bytes; there is always one row.
_SCAN = f"""
SELECT key, value, found FROM (
    SELECT key, value, count(*) OVER () AS found,
           coalesce(sum(length(value)) OVER (ORDER BY key ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
    FROM (
        SELECT key, value FROM kv WHERE key >= $2 AND key > $3 AND key < $4 AND {_LIVE} ORDER BY key LIMIT $5
    ) AS rows
) AS counted WHERE before < {_SCAN_BYTES} ORDER BY key
"""
# The prefix is compared by operators that no index of this table serves. By the usual ones a plan that is made once for
# all values takes the primary key, on which a prefix looks like few rows and is most of the table.
_LIST_DUE = f"""
SELECT key, due_ms, value, version FROM kv
WHERE due_ms IS NOT NULL AND due_ms <= $5 AND (due_ms, key) > ($6, $7) AND key ~>=~ $2 AND key ~<~ $3 AND {_LIVE}
ORDER BY due_ms, key LIMIT $4
"""


_NOW = "SELECT moment($1)"


class PostgresKV:
    """KV with every capability."""

    def __init__(self, readers: Readers, times: Times) -> None:
        self._readers = readers
        self._times = times
        self._gets = Gets(self._read_keys)

    async def get(self, key: str) -> Entry | None:
        """The entry under a key."""
        self._readers.check_open()
        check_key(key)
        return await self._gets.get(key)

    async def get_many(self, keys: Sequence[str]) -> Sequence[Entry | VskillError | None]:
        """The entries under many keys."""
        self._readers.check_open()
        refused = refused_keys(keys)
        entries = await self._read_keys([key for key in keys if key not in refused])
        return [refused.get(key) or entries.get(key) for key in keys]

    async def _read_keys(self, keys: Sequence[str]) -> dict[str, Entry]:
        entries: dict[str, Entry] = {}
        for start in range(0, len(keys), _BULK_KEYS):
            chunk = keys[start : start + _BULK_KEYS]
            rows = await self._readers.fetch(_GET_MANY, self._times.asked_ms(), chunk)
            entries.update((key, Entry(value, version)) for key, value, version in rows)
        return entries

    async def list(self, prefix: str, *, cursor: str | None = None, limit: int = MAX_PAGE_KEYS) -> Page:
        """One page of keys."""
        self._readers.check_open()
        check_text(prefix)
        check_limit(limit)
        after = text_position(cursor, listing=prefix)
        if "\0" in prefix + after:
            return Page([], None, complete=True)
        end = prefix_end(prefix) or PAST_ALL_KEYS
        rows = await self._readers.fetch(_LIST, self._times.asked_ms(), prefix, after, end, limit + 1)
        keys = [key for (key,) in rows]
        if len(keys) <= limit:
            return Page(keys, None, complete=True)
        return Page(keys[:limit], encode_cursor(listing=prefix, position=keys[limit - 1]), complete=False)

    async def scan(self, prefix: str, *, exclude: str | None = None) -> AsyncIterator[Sequence[tuple[str, bytes]]]:
        """Chunks of keys with their values."""
        self._readers.check_open()
        check_text(prefix, exclude or "")
        if "\0" in prefix:
            return
        # No key begins with an excluded prefix that holds a NUL.
        for first, end in key_ranges(prefix, None if exclude is None or "\0" in exclude else exclude):
            after = ""
            is_complete = False
            while not is_complete:
                values = (self._times.asked_ms(), first, after, end or PAST_ALL_KEYS, _SCAN_CHUNK)
                rows = await self._readers.fetch(_SCAN, *values)
                if rows:
                    yield [(row["key"], row["value"]) for row in rows]
                    after = rows[-1]["key"]
                is_complete = not rows or len(rows) == rows[0]["found"] < _SCAN_CHUNK

    async def list_due(self, prefix: str, *, before_ms: int, cursor: str | None = None, limit: int) -> DuePage:
        """One page of due entries."""
        self._readers.check_open()
        check_text(prefix)
        check_limit(limit)
        listing = f"due:{prefix}"
        due_ms, key = number_and_text_position(cursor, listing=listing)
        if "\0" in prefix + key:
            return DuePage([], None, complete=True)
        end = prefix_end(prefix) or PAST_ALL_KEYS
        before_ms = min(max(before_ms, MIN_NUMBER), MAX_NUMBER)
        asked_ms = self._times.asked_ms()
        rows = await self._readers.fetch(_LIST_DUE, asked_ms, prefix, end, limit + 1, before_ms, due_ms, key)
        found = [DueEntry(key, due, Entry(value, version)) for key, due, value, version in rows[:limit]]
        if len(rows) <= limit:
            return DuePage(found, None, complete=True)
        last = found[-1]
        return DuePage(found, encode_cursor(listing=listing, position=(last.due_ms, last.key)), complete=False)

    async def server_ms(self) -> int:
        """The database's time."""
        row = await self._readers.fetch_one(_NOW, self._times.asked_ms())
        return int(row[0])
