"""Two web processes behind nginx, restarted one after the other under load: nothing is lost, and nothing comes twice."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.acceptance.process_group import ProcessGroup, Running, process_group
from tests.deploy.following import Asker, Follower, make_client
from tests.deploy.nginx_server import HOST, Front, running_nginx
from tests.faults.figures import FIGURE
from vskill_platform.engines.postgres import open_postgres
from vskill_platform.testing.ports import free_port
from vskill_platform.testing.waits import eventually

ASKERS = 4
FOLLOWERS = 6


@pytest.fixture
def group(postgres_url: str, tmp_path: Path) -> Iterator[ProcessGroup]:
    with process_group(postgres_url, tmp_path / "data", VSKILL_PLATFORM_TRUSTED_PROXIES=HOST) as started:
        yield started


@pytest.mark.parametrize("rounds", [1, pytest.param(4, marks=pytest.mark.faults)])
async def test_rolling_restart_loses_no_request_and_no_event(
    group: ProcessGroup, postgres_url: str, tmp_path: Path, record_property: pytest.fixture, rounds: int
) -> None:
    ports = [free_port(), free_port()]
    with ThreadPoolExecutor(2) as pool:
        webs = list(pool.map(lambda port: group.start("web", "--port", str(port)), ports))
    (tmp_path / "nginx").mkdir()
    with running_nginx(tmp_path / "nginx", upstreams=[f"{HOST}:{port}" for port in ports]) as front:
        askers, followers = await _restart_under_load(front, group, webs, ports, rounds)
    logged = await _logged(postgres_url)
    acknowledged = [identity for asker in askers for identity in asker.acknowledged]
    assert [loss for asker in askers for loss in asker.lost] == []
    assert sorted(acknowledged) == sorted(subject for _, subject in logged)
    for follower in followers:
        told = [(sequence, json.loads(data)["id"]) for sequence, data in follower.seen]
        assert told == logged
        assert (follower.resets, follower.refused) == (0, [])
        assert follower.streams > 1
    record_property(
        FIGURE,
        f"rolling restart: {2 * rounds} restarts, {sum(sum(asker.answers.values()) for asker in askers)} requests, 0 lost; "
        f"{len(logged)} events to {FOLLOWERS} readers over {sum(one.streams for one in followers)} streams, 0 lost or double",
    )


async def _restart_under_load(
    front: Front, group: ProcessGroup, webs: list[Running], ports: list[int], rounds: int
) -> tuple[list[Asker], list[Follower]]:
    stopping = asyncio.Event()
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(make_client(front.address, front.trust)) for _ in range(ASKERS)]
        askers = [Asker(client, number, stopping) for number, client in enumerate(clients)]
        followers = [
            Follower(await stack.enter_async_context(make_client(front.address, front.trust))) for _ in range(FOLLOWERS)
        ]
        following = [asyncio.create_task(follower.run()) for follower in followers]
        for follower in followers:
            await follower.is_open.wait()
        asking = [asyncio.create_task(asker.run()) for asker in askers]
        for _ in range(rounds):
            for place, port in enumerate(ports):
                webs[place] = await asyncio.to_thread(_restart, group, webs[place], port)
        stopping.set()
        await asyncio.gather(*asking)
        count = sum(len(asker.acknowledged) for asker in askers)
        for follower in followers:
            await eventually(lambda follower=follower: len(follower.seen) >= count, what="all events came")
        for task in following:
            task.cancel()
        await asyncio.gather(*following, return_exceptions=True)
    return askers, followers


def _restart(group: ProcessGroup, web: Running, port: int) -> Running:
    assert web.stop() == 0
    return group.start("web", "--port", str(port))


async def _logged(url: str) -> list[tuple[int, str]]:
    """Every event of a submission, as the log has them."""
    engine = await open_postgres(url)
    try:
        found, after = [], 0
        while (page := await engine.events.read(after)).events:
            found += [(event.sequence, event.subject) for event in page.events]
            after = page.last
        return found
    finally:
        await engine.close()
