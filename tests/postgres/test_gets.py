"""Keys that are asked for at the same moment share a statement, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import pytest

from vskill_platform.domain.errors import StoreUnavailable
from vskill_platform.engines.postgres import PostgresEngine
from vskill_platform.engines.postgres.gets import Gets
from vskill_platform.ports.commit import Put
from vskill_platform.ports.kv import Entry
from vskill_platform.testing.waits import eventually


class Store:
    """Two entries, read when the test lets it, or not at all."""

    def __init__(self) -> None:
        self.statements: list[list[str]] = []
        self.may_answer = asyncio.Event()
        self.is_down = False

    async def read(self, keys: Sequence[str]) -> Mapping[str, Entry]:
        self.statements.append(list(keys))
        await self.may_answer.wait()
        if self.is_down:
            raise StoreUnavailable("It is down.")
        return {"a": Entry(b"1", 1), "b": Entry(b"2", 2)}


async def test_gets_share_a_statement__when_they_are_asked_for_together() -> None:
    store = Store()
    store.may_answer.set()
    gets = Gets(store.read)
    assert await asyncio.gather(*(gets.get(key) for key in "abac")) == [
        Entry(b"1", 1),
        Entry(b"2", 2),
        Entry(b"1", 1),
        None,
    ]
    assert store.statements == [["a", "b", "c"]]
    await gets.get("a")
    assert store.statements[1:] == [["a"]], "what was read before must not be kept"


async def test_get_is_answered__when_another_for_the_same_key_is_cancelled() -> None:
    store = Store()
    gets = Gets(store.read)
    cancelled, waiting = asyncio.create_task(gets.get("a")), asyncio.create_task(gets.get("a"))
    await eventually(lambda: store.statements, what="the statement is sent")
    cancelled.cancel()
    store.may_answer.set()
    assert await waiting == Entry(b"1", 1)
    with pytest.raises(asyncio.CancelledError):
        await cancelled


async def test_every_get_of_a_statement_raises__when_it_fails() -> None:
    store = Store()
    store.is_down = True
    store.may_answer.set()
    gets = Gets(store.read)
    answers = await asyncio.gather(gets.get("a"), gets.get("b"), return_exceptions=True)
    assert [type(answer) for answer in answers] == [StoreUnavailable, StoreUnavailable]


async def test_get_sees_what_was_committed_before_it__among_gets_from_many_sides(engines: list[PostgresEngine]) -> None:
    writer, reader = engines

    async def write_and_read(number: int) -> None:
        for round_ in range(20):
            value = f"{number} {round_}".encode()
            await writer.writes.commit([Put(f"k:{number}", value)])
            entry = await reader.kv.get(f"k:{number}")
            assert entry is not None
            assert entry.value == value

    await asyncio.gather(*(write_and_read(number) for number in range(10)))
