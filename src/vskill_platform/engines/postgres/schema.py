"""Brings a database to the present schema, or refuses it."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import NamedTuple

import asyncpg

from vskill_platform.domain.errors import DatabaseFromFuture, EngineRefused
from vskill_platform.engines.postgres.connection import Access

OLDEST_SERVER = 13
_LEAST_CODE = re.compile(r"-- least code: (\d+)\n")
_MIGRATING = 2
"""The advisory lock of whoever changes the schema; 0 and 1 are those of commits."""

_STEPS_TABLE = """
CREATE TABLE IF NOT EXISTS schema_step (
    number     integer PRIMARY KEY,
    least_code integer NOT NULL,
    at         timestamptz NOT NULL DEFAULT now()
)
"""
_PRESENT = "SELECT coalesce(max(number), 0) AS number, coalesce(max(least_code), 0) AS least_code FROM schema_step"


class Step(NamedTuple):
    """One migration, and the oldest code that can work with what it makes."""

    sql: str
    least_code: int


def migrations() -> list[Step]:
    """Every step, in order. Step n brings a database from version n - 1 to n."""
    folder = files("vskill_platform.engines.postgres.migrations")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return [_read_step((folder / name).read_text()) for name in names]


def _read_step(sql: str) -> Step:
    found = _LEAST_CODE.match(sql)
    assert found is not None, "a step begins with the line that names the least code"
    return Step(sql, int(found[1]))


async def check_server(connection: asyncpg.Connection, access: Access) -> None:
    """Raise EngineRefused for a server on which commits would not mean what they say."""
    refusal = find_refusal(
        major_version=connection.get_server_version().major,
        encoding=await connection.fetchval("SHOW server_encoding"),
        synchronous_commit=await connection.fetchval("SHOW synchronous_commit"),
    )
    if refusal is not None:
        raise EngineRefused(f"{access.place} {refusal}")


def find_refusal(*, major_version: int, encoding: str, synchronous_commit: str) -> str | None:
    """Why a server cannot be used, and what to do about it; None for one that can."""
    if major_version < OLDEST_SERVER:
        return f"is PostgreSQL {major_version}. Use version {OLDEST_SERVER} or newer."
    if encoding != "UTF8":
        return f"has the encoding {encoding}. Create the database with ENCODING 'UTF8' and TEMPLATE template0."
    if synchronous_commit == "off":
        return "has synchronous_commit off: what it acknowledges can be lost. Set it to on."
    return None


async def migrate(connection: asyncpg.Connection, access: Access) -> None:
    """Take the database forward, each step in a transaction of its own, one process at a time."""
    steps = migrations()
    if await _is_present(connection, access, steps):
        return
    await connection.execute("SET statement_timeout = 0")
    await connection.execute("SELECT pg_advisory_lock($1)", _MIGRATING)
    await connection.execute(f'CREATE SCHEMA IF NOT EXISTS "{access.schema}"')
    await connection.execute(_STEPS_TABLE)
    [[present, _]] = await connection.fetch(_PRESENT)
    for number, step in enumerate(steps[present:], start=present + 1):
        async with connection.transaction():
            await connection.execute(step.sql)
            await connection.execute("INSERT INTO schema_step VALUES ($1, $2)", number, step.least_code)
    await _is_present(connection, access, steps)


async def _is_present(connection: asyncpg.Connection, access: Access, steps: list[Step]) -> bool:
    """Whether there is nothing to do. Raises DatabaseFromFuture if newer code has left this code behind."""
    if await connection.fetchval("SELECT to_regclass('schema_step')") is None:
        return False
    [[number, least_code]] = await connection.fetch(_PRESENT)
    if least_code > len(steps):
        raise DatabaseFromFuture(
            f"{access.place} has schema {number}, which needs code that knows step {least_code}; "
            f"this version knows up to {len(steps)}. Run the version that wrote it, or a newer one.",
            version=number,
        )
    return bool(number >= len(steps))
