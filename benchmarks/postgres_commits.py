"""Atomic commits by thirty writers on PostgreSQL, against one transaction of separate statements for each."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable

import asyncpg
import msgspec

from benchmarks.fixtures import open_on_server, postgres_server
from benchmarks.group_commit import WRITERS, new_submission
from benchmarks.report import Row, at_least
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE
from vskill_platform.ports.commit import Emit, Index, Operation, Put, Send
from vskill_platform.testing.postgres_server import PostgresServer

COMMITS_EACH = 40
ROUNDS = 3
CONNECTIONS = 10

Write = Callable[[list[Operation]], Awaitable[object]]


async def run() -> list[Row]:
    """Both ways in turns on one server, each time on a fresh database; the median of each counts."""
    batched: list[float] = []
    separate: list[float] = []
    with postgres_server() as server:
        for _ in range(ROUNDS):
            batched.append(await _batched_rate(server))
            separate.append(await _separate_rate(server))
    ours, theirs = statistics.median(batched), statistics.median(separate)
    return [
        at_least(
            "postgres_commits_against_separate_statements",
            ours / theirs,
            target=1.5,
            detail=f"{ours:,.0f}/s against {theirs:,.0f}/s; record + claim + history + catalog + event + message, "
            f"{WRITERS} writers, {CONNECTIONS} connections, median of {ROUNDS} rounds",
        )
    ]


async def _batched_rate(server: PostgresServer) -> float:
    async with open_on_server(server, pool_size=CONNECTIONS) as engine:
        return await _rate(engine.writes.commit)


async def _separate_rate(server: PostgresServer) -> float:
    """The same writes to the same tables, by a driver that is as fast, without locks on what is absent."""
    async with open_on_server(server) as engine:
        url = server.url(server.newest_database)
        settings = {"search_path": "vskill"}
        async with asyncpg.create_pool(
            url, min_size=CONNECTIONS, max_size=CONNECTIONS, server_settings=settings
        ) as pool:

            async def write(operations: list[Operation]) -> None:
                async with pool.acquire() as connection, connection.transaction():
                    version = await connection.fetchval("SELECT nextval('commit_number')")
                    for operation in operations:
                        await _write(connection, operation, version)

            rate = await _rate(write)
        assert (await engine.queue.stats(SUBMISSIONS_QUEUE)).waiting == WRITERS * COMMITS_EACH + 1
        return rate


async def _rate(write: Write) -> float:
    work = [[new_submission() for _ in range(COMMITS_EACH)] for _ in range(WRITERS)]
    await write(new_submission())

    async def write_all(commits: list[list[Operation]]) -> None:
        for operations in commits:
            await write(operations)

    started = time.perf_counter()
    await asyncio.gather(*(write_all(commits) for commits in work))
    return WRITERS * COMMITS_EACH / (time.perf_counter() - started)


async def _write(connection: asyncpg.pool.PoolConnectionProxy, operation: Operation, version: int) -> None:
    match operation:
        case Put(key=key, value=value, due_ms=due_ms):
            sql = "INSERT INTO kv (key, version, due_ms, value) VALUES ($1, $2, $3, $4)"
            await connection.execute(sql, key, version, due_ms, value)
        case Send(queue=queue, id=id, body=body):
            sql = "INSERT INTO message (id, queue, status, at_ms, priority, sent_ms, body) VALUES ($1, $2, 0, 0, 0, 0, $3)"
            await connection.execute(sql, id, queue, body)
        case Emit(kind=kind, subject=subject, data=data):
            sql = "INSERT INTO event (at_ms, kind, subject, data) VALUES (0, $1, $2, $3)"
            await connection.execute(sql, kind, subject, data)
        case Index(document=document):
            fields = {**document.facets, **document.sorts, "terms": document.terms}
            encoded = msgspec.json.encode(fields).decode()
            sql = "SELECT index_document($1, $2, $3, $4)"
            await connection.execute(sql, document.collection.name, document.id, encoded, document.row)
        case _:
            raise AssertionError(f"a new submission has no {operation}")
