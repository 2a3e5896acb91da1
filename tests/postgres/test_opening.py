"""What the engine opens, what it refuses and how it says so, and that many may open an empty database at once."""

from __future__ import annotations

import asyncio
import sys

import pytest

from vskill_platform.domain.errors import DatabaseFromFuture, EngineRefused, InvalidSettings, StoreUnavailable
from vskill_platform.engines.postgres import open_postgres
from vskill_platform.engines.postgres.schema import find_refusal, migrations
from vskill_platform.ports.commit import Put
from vskill_platform.testing.postgres_server import PostgresServer

OPEN_AND_WRITE = """
import asyncio, sys
from vskill_platform.engines.postgres import open_postgres
from vskill_platform.ports.commit import Add

async def main():
    engine = await open_postgres(sys.argv[1])
    await engine.writes.commit([Add("opened", {"n": 1})])
    await engine.close()

asyncio.run(main())
"""


async def refusal_of(url: str, **options: object) -> Exception:
    with pytest.raises(Exception) as caught:  # noqa: PT011 - the type is what is looked at
        await (await open_postgres(url, **options)).close()  # type: ignore[arg-type]
    return caught.value


async def test_open_works_once_each__when_processes_open_an_empty_database_at_once(
    postgres_server: PostgresServer,
) -> None:
    url = postgres_server.url(postgres_server.create_database())
    started = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", OPEN_AND_WRITE, url, stderr=asyncio.subprocess.PIPE)
        for _ in range(4)
    ]
    ended = [await process.communicate() for process in started]
    assert [process.returncode for process in started] == [0] * 4, ended
    engine = await open_postgres(url)
    entry = await engine.kv.get("opened")
    await engine.close()
    assert entry is not None
    assert entry.value == b'{"n":4}'


async def test_open_accepts_a_newer_schema__that_this_code_can_work_with(postgres_server: PostgresServer) -> None:
    database = await prepared(postgres_server)
    newer = len(migrations()) + 1
    postgres_server.execute(f"INSERT INTO vskill.schema_step VALUES ({newer}, 1)", database=database)
    engine = await open_postgres(postgres_server.url(database))
    await engine.writes.commit([Put("a", b"1")])
    await engine.close()


async def test_open_refuses_a_newer_schema__that_has_left_this_code_behind(postgres_server: PostgresServer) -> None:
    database = await prepared(postgres_server)
    newer = len(migrations()) + 1
    postgres_server.execute(f"INSERT INTO vskill.schema_step VALUES ({newer}, {newer})", database=database)
    error = await refusal_of(postgres_server.url(database))
    assert isinstance(error, DatabaseFromFuture)
    assert "newer" in error.message


async def test_open_refuses_another_encoding_and_says_what_to_do(postgres_server: PostgresServer) -> None:
    postgres_server.execute("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    error = await refusal_of(postgres_server.url("latin"))
    assert isinstance(error, EngineRefused)
    assert "ENCODING 'UTF8'" in error.message


async def test_open_refuses_a_server_that_forgets(postgres_server: PostgresServer) -> None:
    database = postgres_server.create_database()
    postgres_server.execute(f"ALTER DATABASE {database} SET synchronous_commit = off")
    error = await refusal_of(postgres_server.url(database))
    assert isinstance(error, EngineRefused)
    assert "synchronous_commit" in error.message


async def test_open_refuses_a_wrong_password_and_does_not_tell_it(postgres_server: PostgresServer) -> None:
    postgres_server.execute("CREATE ROLE guarded LOGIN PASSWORD 'right'")
    postgres_server.require_password("guarded")
    url = postgres_server.url().replace("postgres@", "guarded:wr0ng@")
    error = await refusal_of(url)
    assert isinstance(error, EngineRefused)
    assert "password" in error.message
    assert "wr0ng" not in error.message


@pytest.mark.parametrize(
    "url",
    [
        "",
        "sqlite:///file",
        "postgresql://127.0.0.1:notaport/db",
        "postgresql://u@127.0.0.1:5432/db?sslmode=whatever",
        "postgresql://[::1/db",
    ],
)
async def test_open_refuses__what_is_no_address(url: str) -> None:
    assert isinstance(await refusal_of(url), EngineRefused)


async def test_open_does_not_tell_the_password__of_a_url_that_it_cannot_read() -> None:
    error = await refusal_of("postgresql://user:secret/word@127.0.0.1/db")
    assert isinstance(error, EngineRefused)
    assert "secret" not in str(error)


async def test_open_refuses_a_database_that_is_not_there(postgres_server: PostgresServer) -> None:
    error = await refusal_of(postgres_server.url("nowhere"))
    assert isinstance(error, EngineRefused)
    assert "nowhere" in error.message


async def test_open_says_that_nobody_answers__where_no_server_is(unused_tcp_port: int) -> None:
    error = await refusal_of(f"postgresql://postgres@127.0.0.1:{unused_tcp_port}/registry")
    assert isinstance(error, StoreUnavailable)
    assert "127.0.0.1/registry" in error.message


async def test_open_refuses__a_pool_that_is_too_small_or_a_schema_that_is_no_name(postgres_database: str) -> None:
    assert isinstance(await refusal_of(postgres_database, pool_size=3), InvalidSettings)
    assert isinstance(await refusal_of(postgres_database, schema='a"b'), InvalidSettings)


def test_server_is_refused__when_it_is_too_old() -> None:
    assert "13 or newer" in (find_refusal(major_version=12, encoding="UTF8", synchronous_commit="on") or "")
    assert find_refusal(major_version=13, encoding="UTF8", synchronous_commit="on") is None


async def prepared(server: PostgresServer) -> str:
    """The name of a database that has the schema."""
    database = server.create_database()
    await (await open_postgres(server.url(database))).close()
    return database
