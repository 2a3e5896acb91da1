"""A batch carried out by a test's own connection, in a transaction that the test holds open."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import asyncpg

from vskill_platform.engines.postgres.batch import Batch, Unit
from vskill_platform.ports.commit import Operation

_MARKS = ", ".join(f"${number}" for number in range(1, 21))


@asynccontextmanager
async def held_open(connection: asyncpg.Connection, *operations: Operation) -> AsyncIterator[Any]:
    """Carry operations out as a lane does; they are committed when the block ends. Gives the answer of the function."""
    lane = uuid4()
    await connection.execute("INSERT INTO lane (id, batch, at_ms) VALUES ($1, 0, moment(NULL))", lane)
    batch = Batch()
    batch.add(Unit(operations))
    async with connection.transaction():
        arguments = (lane, 1, None, 4, *batch.arguments(), "lapsed")
        yield await connection.fetchrow(f"SELECT * FROM apply_batch({_MARKS})", *arguments)
