"""A look at a server and its database that changes nothing there: no schema is made, no lock is taken."""

from __future__ import annotations

import time
from typing import NamedTuple

from vskill_platform.engines.postgres.connection import SCHEMA, Access, translated_errors
from vskill_platform.engines.postgres.schema import find_refusal, migrations

_LIMIT_S = 10.0


class PostgresFacts(NamedTuple):
    """What a server says about itself. `schema_step` is None where there is no schema yet."""

    version: str
    refusal: str | None
    fsync: str
    full_page_writes: str
    synchronous_commit: str
    max_connections: int
    schema_step: int | None
    known_step: int
    skew_ms: float


async def inspect_postgres(url: str, *, application_name: str) -> PostgresFacts:
    """Ask the server, read-only. Raises StoreUnavailable or EngineRefused where it cannot be asked."""
    access = Access(url=url, schema=SCHEMA, application_name=application_name, statement_timeout_s=_LIMIT_S)
    connection = await access.connect({"default_transaction_read_only": "on"})
    try:
        with translated_errors(access):
            shown = {name: str(await connection.fetchval(f"SHOW {name}")) for name in _SHOWN}
            before_ms = time.time() * 1000
            server_ms = float(await connection.fetchval("SELECT extract(epoch FROM clock_timestamp()) * 1000"))
            after_ms = time.time() * 1000
            has_schema = await connection.fetchval("SELECT to_regclass('schema_step')") is not None
            step = await connection.fetchval("SELECT max(number) FROM schema_step") if has_schema else None
            return PostgresFacts(
                version=shown["server_version"],
                refusal=find_refusal(
                    major_version=connection.get_server_version().major,
                    encoding=shown["server_encoding"],
                    synchronous_commit=shown["synchronous_commit"],
                ),
                fsync=shown["fsync"],
                full_page_writes=shown["full_page_writes"],
                synchronous_commit=shown["synchronous_commit"],
                max_connections=int(shown["max_connections"]),
                schema_step=step,
                known_step=len(migrations()),
                skew_ms=server_ms - (before_ms + after_ms) / 2,
            )
    finally:
        connection.terminate()


_SHOWN = (
    "server_version",
    "server_encoding",
    "fsync",
    "full_page_writes",
    "synchronous_commit",
    "max_connections",
)
