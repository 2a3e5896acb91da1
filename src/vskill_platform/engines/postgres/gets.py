"""Single keys that are asked for at the same moment, read by one statement: a round trip costs more than a key."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from vskill_platform.ports.kv import Entry

ReadKeys = Callable[[Sequence[str]], Awaitable[Mapping[str, Entry]]]


class Gets:
    """Collects what is asked for until the event loop comes round, then reads it. Nothing is kept: what is read is fresh."""

    def __init__(self, read_keys: ReadKeys) -> None:
        self._read_keys = read_keys
        self._asked: dict[str, asyncio.Future[Entry | None]] = {}
        self._reading: set[asyncio.Task[None]] = set()

    async def get(self, key: str) -> Entry | None:
        """The entry as it is at some moment after this call."""
        loop = asyncio.get_running_loop()
        if not self._asked:
            loop.call_soon(self._send)
        answer = self._asked.setdefault(key, loop.create_future())
        return await asyncio.shield(answer)  # another may wait for the same

    def _send(self) -> None:
        asked, self._asked = self._asked, {}
        task = asyncio.create_task(self._answer(asked))
        self._reading.add(task)
        task.add_done_callback(self._reading.discard)

    async def _answer(self, asked: Mapping[str, asyncio.Future[Entry | None]]) -> None:
        try:
            found = await self._read_keys(list(asked))
        except Exception as error:  # it is theirs who asked
            for answer in asked.values():
                answer.set_exception(error)
                answer.exception()  # somebody who was cancelled does not come for it
        else:
            for key, answer in asked.items():
                answer.set_result(found.get(key))
