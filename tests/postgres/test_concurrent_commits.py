"""Commits of several processes at once: as if one came after the other, and without waiting for those that share nothing."""

from __future__ import annotations

import asyncio

import asyncpg
import pytest

from tests.postgres.by_hand import held_open
from vskill_platform.domain.errors import Conflict
from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.engines.postgres import PostgresEngine
from vskill_platform.engines.postgres.batch import MOST_LOCKS
from vskill_platform.ports.commit import ABSENT, Add, Check, CheckStatus, Emit, Operation, Put, Send
from vskill_platform.testing.postgres_server import until_blocked

PAIRS: dict[str, tuple[list[Operation], list[Operation]]] = {
    "the same key": ([Put("k", b"1", if_version=ABSENT)], [Put("k", b"2", if_version=ABSENT)]),
    "each other's key": ([Check("x", ABSENT), Put("y", b"1")], [Check("y", ABSENT), Put("x", b"1")]),
    "each other's message": (
        [CheckStatus(MessageId("m"), MessageStatus.GONE), Send("q", MessageId("n"), b"")],
        [CheckStatus(MessageId("n"), MessageStatus.GONE), Send("q", MessageId("m"), b"")],
    ),
    "the same message": ([Send("q", MessageId("m"), b"")], [Send("q", MessageId("m"), b"")]),
    "many keys": (
        [Put(f"k:{number}", b"", if_version=ABSENT) for number in range(MOST_LOCKS + 1)],
        [Put("k:0", b"", if_version=ABSENT)],
    ),
}


@pytest.mark.parametrize("name", PAIRS)
async def test_second_commit_is_judged_after_the_first__when_both_hold_to(
    engines: list[PostgresEngine], connection: asyncpg.Connection, name: str
) -> None:
    first, second = PAIRS[name]
    async with held_open(connection, *first):
        waiting = asyncio.create_task(engines[0].writes.commit(second))
        await until_blocked(connection)
    with pytest.raises(Conflict):
        await waiting


async def test_commit_does_not_wait__for_one_that_shares_nothing(
    engines: list[PostgresEngine], connection: asyncpg.Connection
) -> None:
    async with held_open(connection, Put("a", b"1"), Add("counter", {"n": 1}), Send("q", MessageId("m"), b"")):
        async with asyncio.timeout(20):
            await engines[0].writes.commit([Put("b", b"1"), Send("q", MessageId("n"), b""), Emit("kind", "b", b"")])
            (message,) = await engines[1].queue.receive("q", max_messages=10, lease_s=60)
    assert message.id == "n"


async def test_commits_all_go_through__when_processes_write_the_same_keys_in_every_order(
    engines: list[PostgresEngine],
) -> None:
    keys = [f"k{number}" for number in range(5)]
    adds = [[Add(key, {"n": 1}) for key in keys[turn:] + keys[:turn]] for turn in range(5)]
    commits = [engine.writes.commit(operations) for engine in engines for operations in adds * 10]
    await asyncio.gather(*commits)
    entries = [await engines[0].kv.get(key) for key in keys]
    assert [entry and entry.value for entry in entries] == [b'{"n":100}'] * 5
