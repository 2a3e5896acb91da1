"""A KV that shows only `get` and `list`, and measures how many gets are in flight at once.

It stands between a store and an engine. Without the capability protocols the store takes its plain path, and the probe
holds gets at a barrier until as many are in as the test expects: "five keys, five in flight" is then measured, not hoped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from vskill_platform.ports.engine import Engine
from vskill_platform.ports.kv import MAX_PAGE_KEYS, Entry, Page

BARRIER_LIMIT_S = 10.0


class PlainProbe:
    """The plain KV of an engine, watched. `fail_on` names keys whose get raises; `empty_pages` sprinkles empty pages."""

    def __init__(
        self,
        engine: Engine,
        *,
        hold_until: int = 0,
        fail_on: Callable[[str], bool] = lambda key: False,
        page_size: int = MAX_PAGE_KEYS,
        has_empty_pages: bool = False,
    ) -> None:
        self._kv = engine.kv
        self._hold_until = hold_until
        self._all_in = asyncio.Event()
        self._fail_on = fail_on
        self._page_size = page_size
        self._has_empty_pages = has_empty_pages
        self._was_empty = False
        self.in_flight = 0
        self.max_in_flight = 0
        self.keys_read: list[str] = []

    async def get(self, key: str) -> Entry | None:
        """The engine's get, held at the barrier. Raises TimeoutError if the others never come."""
        self.in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self.in_flight)
        self.keys_read.append(key)
        try:
            if self.in_flight >= self._hold_until:
                self._all_in.set()
            async with asyncio.timeout(BARRIER_LIMIT_S):
                await self._all_in.wait()
            await asyncio.sleep(0)  # an engine may answer without yielding; the others must be let in first
            if self._fail_on(key):
                raise ConnectionError(f"planted failure for {key}")
            return await self._kv.get(key)
        finally:
            self.in_flight -= 1

    async def list(self, prefix: str, *, cursor: str | None = None, limit: int = MAX_PAGE_KEYS) -> Page:
        """The engine's list, in smaller pages, with an empty page before each if asked for."""
        if self._has_empty_pages and cursor is not None and not self._was_empty:
            self._was_empty = True
            return Page([], cursor, complete=False)
        self._was_empty = False
        return await self._kv.list(prefix, cursor=cursor, limit=min(limit, self._page_size))
