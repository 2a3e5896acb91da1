"""Health over HTTP: what is known is told, what cannot be known is 503."""

from __future__ import annotations

import io

import httpx
import pytest
from rich.console import Console

from tests.acceptance.running import inside, send
from vskill_platform.cli.health import health_table
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.stores.health import Health, QueueHealth
from vskill_platform.stores.pause import pause_queue
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.submissions import submit
from vskill_platform.web.app import create_web_app


@pytest.fixture
def client(env: WorkerEnv) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(create_web_app(env)), base_url="http://registry")


async def test_health_tells_how_queue_and_submissions_stand(
    env: WorkerEnv, client: httpx.AsyncClient, clock: FakeClock
) -> None:
    await inside(env, lambda: submit("demo"))
    await send(env, "delayed", delay_s=600)
    await inside(env, lambda: pause_queue(reason="maintenance"))
    clock.shift(5)
    answer = await client.get("/healthz")
    assert answer.status_code == 200
    health = answer.json()
    assert (health["queue"]["waiting"], health["queue"][MessageStatus.DELAYED]) == (1, 1)
    assert health["queue"]["oldestAgeMs"] == 5000
    assert health["queue"]["paused"]["reason"] == "maintenance"
    assert (health["submissions"]["active"], health["submissions"]["total"]) == (1, 1)
    assert answer.headers["cache-control"] == "no-store"


async def test_health_is_503_with_a_code__when_the_store_cannot_be_read(
    engine: Engine, client: httpx.AsyncClient
) -> None:
    await engine.close()
    answer = await client.get("/healthz")
    assert answer.status_code == 503
    assert (answer.json()["status"], answer.json()["code"]) == (503, "engine_closed")
    assert answer.headers["retry-after"] == "5"


async def test_unknown_path_is_404(client: httpx.AsyncClient) -> None:
    assert (await client.get("/nothing")).status_code == 404


def test_health_table_shows_the_trouble__when_the_disk_takes_no_writes() -> None:
    queue = QueueHealth(waiting=0, delayed=0, leased=0, dead=0, oldest_age_ms=None, paused=None)
    found = Health(status="degraded", version="1", queue=queue, submissions={}, trouble="disk_full: Make room.")
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(health_table(found, place="running"))
    assert "disk_full: Make room." in console.export_text()
