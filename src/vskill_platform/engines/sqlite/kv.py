"""Reads of keys and values."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import Any

import apsw

from vskill_platform.domain.errors import VskillError
from vskill_platform.engines.cursors import encode_cursor, number_and_text_position, text_position
from vskill_platform.engines.key_ranges import PAST_ALL_KEYS, key_ranges, refused_keys
from vskill_platform.engines.sqlite.connection import fetch_all, fetch_one
from vskill_platform.engines.sqlite.readers import Readers
from vskill_platform.ports.clock import Clock
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

_GET = "SELECT value, version FROM kv WHERE key = ? AND (expires_ms IS NULL OR expires_ms > ?)"
_GET_MANY = """
SELECT key, value, version FROM kv
WHERE key IN (SELECT value FROM json_each(?)) AND (expires_ms IS NULL OR expires_ms > ?)
"""
# Expired keys are taken out by their own small index, so that the listing itself never leaves the index on keys.
_LIST = """
SELECT key FROM kv WHERE key >= :first AND key < :end
AND key NOT IN (SELECT key FROM kv WHERE expires_ms <= :now_ms)
ORDER BY key LIMIT :limit
"""
_SCAN = """
SELECT key, value FROM kv WHERE key >= :first AND key < :end
AND (expires_ms IS NULL OR expires_ms > :now_ms)
ORDER BY key LIMIT :limit
"""
_LIST_DUE = """
SELECT key, due_ms, value, version FROM kv
WHERE due_ms IS NOT NULL AND due_ms <= :before_ms AND (due_ms, key) > (:due_ms, :key)
AND key >= :first AND key < :end AND (expires_ms IS NULL OR expires_ms > :now_ms)
ORDER BY due_ms, key LIMIT :limit
"""


class SqliteKV:
    """KV with every capability."""

    def __init__(self, readers: Readers, clock: Clock) -> None:
        self._readers = readers
        self._clock = clock

    async def get(self, key: str) -> Entry | None:
        """The entry under a key."""
        self._readers.check_open()
        check_key(key)
        now_ms = self._clock.now_ms()
        row = self._readers.point(lambda connection: fetch_one(connection, _GET, (key, now_ms)))
        return None if row is None else Entry(*row)

    async def get_many(self, keys: Sequence[str]) -> Sequence[Entry | VskillError | None]:
        """The entries under many keys."""
        self._readers.check_open()
        refused = refused_keys(keys)
        wanted = [key for key in keys if key not in refused]
        entries: dict[str, Entry] = {}
        for start in range(0, len(wanted), _BULK_KEYS):
            chunk = json.dumps(wanted[start : start + _BULK_KEYS])
            rows = await self._readers.bulk(partial(_fetch, _GET_MANY, (chunk, self._clock.now_ms())))
            entries.update((key, Entry(value, version)) for key, value, version in rows)
        return [refused.get(key) or entries.get(key) for key in keys]

    async def list(self, prefix: str, *, cursor: str | None = None, limit: int = MAX_PAGE_KEYS) -> Page:
        """One page of keys."""
        check_text(prefix)
        check_limit(limit)
        after = text_position(cursor, listing=prefix)
        bindings = self._range(prefix, prefix_end(prefix), after=after, limit=limit + 1)
        rows = await self._readers.bulk(partial(_fetch, _LIST, bindings))
        keys = [key for (key,) in rows]
        if len(keys) <= limit:
            return Page(keys, None, complete=True)
        return Page(keys[:limit], encode_cursor(listing=prefix, position=keys[limit - 1]), complete=False)

    async def scan(self, prefix: str, *, exclude: str | None = None) -> AsyncIterator[Sequence[tuple[str, bytes]]]:
        """Chunks of keys with their values."""
        check_text(prefix)
        for first, end in key_ranges(prefix, exclude):
            after = ""
            is_complete = False
            while not is_complete:
                bindings = self._range(first, end, after=after, limit=_SCAN_CHUNK)
                rows, is_complete = await self._readers.bulk(partial(_fetch_chunk, bindings))
                if rows:
                    yield rows
                    after = rows[-1][0]

    async def list_due(self, prefix: str, *, before_ms: int, cursor: str | None = None, limit: int) -> DuePage:
        """One page of due entries."""
        check_text(prefix)
        check_limit(limit)
        listing = f"due:{prefix}"
        due_ms, key = number_and_text_position(cursor, listing=listing)
        bindings = {
            **self._range(prefix, prefix_end(prefix), after="", limit=limit + 1),
            "before_ms": before_ms,
            "due_ms": due_ms,
            "key": key,
        }
        rows = await self._readers.bulk(partial(_fetch, _LIST_DUE, bindings))
        found = [DueEntry(key, due, Entry(value, version)) for key, due, value, version in rows[:limit]]
        if len(rows) <= limit:
            return DuePage(found, None, complete=True)
        last = found[-1]
        return DuePage(found, encode_cursor(listing=listing, position=(last.due_ms, last.key)), complete=False)

    def _range(self, first: str, end: str | None, *, after: str, limit: int) -> dict[str, apsw.SQLiteValue]:
        return {
            "first": f"{after}\0" if after else first,  # no key holds NUL, so this is what follows `after`
            "end": PAST_ALL_KEYS if end is None else end,
            "limit": limit,
            "now_ms": self._clock.now_ms(),
        }


def _fetch(sql: str, bindings: apsw.Bindings, connection: apsw.Connection) -> list[Any]:
    return fetch_all(connection, sql, bindings)


def _fetch_chunk(bindings: apsw.Bindings, connection: apsw.Connection) -> tuple[list[Any], bool]:
    """Rows of a scan up to a number of rows or of bytes, and whether there are no more."""
    rows: list[Any] = []
    size = 0
    for row in connection.execute(_SCAN, bindings):
        rows.append(row)
        size += len(row[1])
        if size >= _SCAN_BYTES:
            return rows, False
    return rows, len(rows) < _SCAN_CHUNK
