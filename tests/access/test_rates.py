"""Rates by token, then account, then address: exact for as many as come at once, and by whom a trusted proxy names."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import httpx
import pytest

from tests.access.conftest import client_of
from vskill_platform.app.listening import address_of, listen_for, open_listener
from vskill_platform.domain.access import Scope
from vskill_platform.engines.memory import open_memory
from vskill_platform.engines.postgres import open_postgres
from vskill_platform.engines.sqlite import open_sqlite
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.settings import Settings
from vskill_platform.testing.accounts import make_account, make_session, make_token, sign_in
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.envs import make_env
from vskill_platform.web.app import create_web_app
from vskill_platform.web.surface.rate_limits import ACCOUNT_TIMES

SUBMISSIONS = "/api/v1/submissions"
WRONG = {"repoUrl": "nonsense"}
LIMIT = 10


@asynccontextmanager
async def clients_of(
    processes: list[WorkerEnv], headers: Sequence[dict[str, str]], *, addresses: int
) -> AsyncIterator[list[httpx.AsyncClient]]:
    """A hundred clients, at the processes, with the headers and from the addresses in turns."""
    apps = [create_web_app(env) for env in processes]
    async with AsyncExitStack() as stack:
        opened = []
        for number in range(100):
            address = f"192.0.2.{number % addresses}"
            client = await stack.enter_async_context(client_of(apps[number % len(apps)], address=address))
            client.headers.update(headers[number % len(headers)])
            opened.append(client)
        yield opened


async def count_let_in(clients: list[httpx.AsyncClient]) -> int:
    """How many of a request by each, all at once, were not told to wait."""
    answers = await asyncio.gather(*(client.post(SUBMISSIONS, json=WRONG) for client in clients))
    counts = Counter(answer.status_code for answer in answers)
    assert set(counts) == {422, 429}, counts
    return counts[422]


class ExactRates:
    """The same for every engine: `processes` are the envs of all web processes of a registry."""

    async def test_rate_is_exact__for_a_hundred_clients_of_one_address(self, processes: list[WorkerEnv]) -> None:
        async with clients_of(processes, [{}], addresses=1) as clients:
            assert await count_let_in(clients) == LIMIT

    async def test_rate_is_exact__for_a_hundred_clients_with_one_token_and_many_addresses(
        self, processes: list[WorkerEnv]
    ) -> None:
        account = await make_account(processes[0], "robot")
        bearer = {"Authorization": f"Bearer {await make_token(processes[0], account, Scope.SUBMIT)}"}
        async with clients_of(processes, [bearer], addresses=100) as clients:
            assert await count_let_in(clients) == LIMIT

    async def test_rate_is_exact__for_a_hundred_clients_with_ten_tokens_of_one_account(
        self, processes: list[WorkerEnv]
    ) -> None:
        account = await make_account(processes[0], "robots")
        bearers = [{"Authorization": f"Bearer {await make_token(processes[0], account)}"} for _ in range(10)]
        async with clients_of(processes, bearers, addresses=100) as clients:
            assert await count_let_in(clients) == LIMIT * ACCOUNT_TIMES


class TestOnSqlite(ExactRates):
    @pytest.fixture
    async def processes(self, clock: FakeClock, tmp_path: Path) -> AsyncIterator[list[WorkerEnv]]:
        engine = await open_sqlite(tmp_path / "registry.db", clock=clock, synchronous="OFF")
        yield [make_env(engine, clock=clock, folder=tmp_path, submissions_per_hour=LIMIT)]
        await engine.close()


class TestOnPostgres(ExactRates):
    @pytest.fixture
    async def processes(self, clock: FakeClock, tmp_path: Path, postgres_url: str) -> AsyncIterator[list[WorkerEnv]]:
        engines = [await open_postgres(postgres_url, clock=clock) for _ in range(2)]
        yield [make_env(engine, clock=clock, folder=tmp_path, submissions_per_hour=LIMIT) for engine in engines]
        for engine in engines:
            await engine.close()


async def test_caller_is_counted_by_token_then_account_then_address(clock: FakeClock, tmp_path: Path) -> None:
    engine = await open_memory(clock=clock)
    env = make_env(engine, clock=clock, folder=tmp_path, submissions_per_hour=1)
    account = await make_account(env, "sue")
    bearer = {"Authorization": f"Bearer {await make_token(env, account)}"}
    app = create_web_app(env)

    async def send(client: httpx.AsyncClient, headers: dict[str, str]) -> tuple[int, str]:
        answer = await client.post(SUBMISSIONS, json=WRONG, headers=headers)
        return answer.status_code, answer.json()["detail"]

    async with client_of(app) as stranger, client_of(app) as signed_in:
        assert (await send(stranger, {}))[0] == 422
        told = await send(stranger, {})
        assert (told[0], "1 submissions an hour are allowed from one address" in told[1]) == (429, True)
        assert (await send(stranger, bearer))[0] == 422
        told = await send(stranger, bearer)
        assert (told[0], "by one API token" in told[1]) == (429, True)
        sign_in(signed_in, await make_session(env, account))
        left = [(await send(signed_in, {}))[0] for _ in range(ACCOUNT_TIMES)]
        assert left == [422] * (ACCOUNT_TIMES - 1) + [429]
        wrong = {"Authorization": "Bearer nonsense"}
        assert (await send(stranger, wrong))[0] == 429, "who shows what is worth nothing is counted by the address"
    await engine.close()


@pytest.mark.parametrize(("trusted", "let_in"), [("", 1), ("192.0.2.77", 1), ("127.0.0.1", 3)])
async def test_forwarded_addresses_are_believed__from_trusted_proxies_alone(
    clock: FakeClock, tmp_path: Path, trusted: str, let_in: int
) -> None:
    engine = await open_memory(clock=clock)
    env = make_env(engine, clock=clock, folder=tmp_path, submissions_per_hour=1)
    settings = Settings(trusted_proxies=trusted)
    listening = listen_for(create_web_app(env), open_listener("127.0.0.1", 0), settings=settings)
    serving = asyncio.create_task(listening.serve())
    statuses = []
    async with httpx.AsyncClient(base_url=address_of(listening.listener)) as client:
        for number in range(3):
            claimed = {"X-Forwarded-For": f"198.51.100.{number}"}
            statuses.append((await client.post(SUBMISSIONS, json=WRONG, headers=claimed)).status_code)
    assert statuses.count(422) == let_in
    listening.stop()
    await serving
    await engine.close()
