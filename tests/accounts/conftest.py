"""An env over the memory engine with a clock that stands, and the public application over it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, cast

import httpx
import pytest
from argon2 import PasswordHasher

from tests.api.conftest import clock, engine, env  # noqa: F401  the same registry
from vskill_platform.accounts import passwords
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.web.app import create_web_app


@pytest.fixture(autouse=True)
def cheap_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Argon2 with the least memory and time: what is tested here is not its cost."""
    monkeypatch.setattr(passwords, "HASHER", PasswordHasher(time_cost=1, memory_cost=64, parallelism=1))


@pytest.fixture
async def client(env: WorkerEnv) -> AsyncIterator[httpx.AsyncClient]:  # noqa: F811  the fixture above
    transport = httpx.ASGITransport(app=cast("Any", create_web_app(env)), client=("192.0.2.1", 1))
    as_browsers_do = {"Sec-Fetch-Site": "same-origin"}
    async with httpx.AsyncClient(transport=transport, base_url="https://registry", headers=as_browsers_do) as opened:
        yield opened
