"""Reads of the memory engine."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import AsyncIterator, Sequence

from vskill_platform.domain.errors import VskillError
from vskill_platform.engines.cursors import encode_cursor, number_and_text_position, text_position
from vskill_platform.engines.memory.state import MemoryState
from vskill_platform.ports.kv import MAX_PAGE_KEYS, DueEntry, DuePage, Entry, Page, check_key, check_limit, check_text

_CHUNK = 512


class MemoryKV:
    """KV with every capability."""

    def __init__(self, state: MemoryState) -> None:
        self._state = state

    async def get(self, key: str) -> Entry | None:
        """The entry under a key."""
        self._state.check_open()
        check_key(key)
        row = self._state.live_row(key)
        return None if row is None else row.entry

    async def get_many(self, keys: Sequence[str]) -> Sequence[Entry | VskillError | None]:
        """The entries under many keys."""
        self._state.check_open()
        found: list[Entry | VskillError | None] = []
        for key in keys:
            try:
                found.append(await self.get(key))
            except VskillError as error:
                found.append(error)
        return found

    async def list(self, prefix: str, *, cursor: str | None = None, limit: int = MAX_PAGE_KEYS) -> Page:
        """One page of keys."""
        self._state.check_open()
        check_text(prefix)
        check_limit(limit)
        after = text_position(cursor, listing=prefix)
        candidates = self._keys(prefix, after=after, most=limit)
        found = [key for key in candidates if self._state.live_row(key) is not None]
        if len(candidates) < limit:
            return Page(found, None, complete=True)
        return Page(found, encode_cursor(listing=prefix, position=candidates[-1]), complete=False)

    def _keys(self, prefix: str, *, after: str, most: int) -> Sequence[str]:
        """Up to `most` keys with the prefix, expired ones among them, in order."""
        keys = self._state.keys
        start = bisect_right(keys, after) if after else bisect_left(keys, prefix)
        return [key for key in keys[start : start + most] if key.startswith(prefix)]

    async def scan(self, prefix: str, *, exclude: str | None = None) -> AsyncIterator[Sequence[tuple[str, bytes]]]:
        """Chunks of keys with their values."""
        check_text(prefix)
        after = ""
        while True:
            self._state.check_open()
            keys = self._keys(prefix, after=after, most=_CHUNK)
            if not keys:
                return
            after = keys[-1]
            wanted = [key for key in keys if exclude is None or not key.startswith(exclude)]
            rows = [(key, self._state.live_row(key)) for key in wanted]
            yield [(key, row.entry.value) for key, row in rows if row is not None]

    async def list_due(self, prefix: str, *, before_ms: int, cursor: str | None = None, limit: int) -> DuePage:
        """One page of due entries."""
        self._state.check_open()
        check_text(prefix)
        check_limit(limit)
        listing = f"due:{prefix}"
        found: list[DueEntry] = []
        due = self._state.due
        for due_ms, key in due[bisect_right(due, number_and_text_position(cursor, listing=listing)) :]:
            if due_ms > before_ms:
                break
            row = self._state.live_row(key)
            if row is None or not key.startswith(prefix):
                continue
            if len(found) == limit:
                last = found[-1]
                return DuePage(found, encode_cursor(listing=listing, position=(last.due_ms, last.key)), complete=False)
            found.append(DueEntry(key, due_ms, row.entry))
        return DuePage(found, None, complete=True)
