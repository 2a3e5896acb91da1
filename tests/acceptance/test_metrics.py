"""Metrics and the health of a process: facts are read from the store, counters are about the process, nothing is made up."""

from __future__ import annotations

import re

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.acceptance.running import QUEUE, inside, running_loop, send
from vskill_platform import metrics
from vskill_platform.app.metering import MeteredCommit
from vskill_platform.domain.errors import Conflict
from vskill_platform.domain.recovery import STUCK_THRESHOLD_MS
from vskill_platform.ports.commit import ABSENT, Put
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.stores.pause import pause_queue
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.submissions import submit
from vskill_platform.testing.waits import eventually
from vskill_platform.web.app import create_control_app, create_web_app
from vskill_platform.web.process_health import ProcessState, create_health_app
from vskill_platform.worker.pulse import Pulse


@pytest.fixture
def state() -> ProcessState:
    return ProcessState("worker", pulses=[Pulse(limit_s=60)])


def client_of(app: object, *, address: str = "127.0.0.1") -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app, client=(address, 1234))  # type: ignore[arg-type]
    return httpx.AsyncClient(transport=transport, base_url="http://process")


@pytest.fixture
def client(env: WorkerEnv, state: ProcessState) -> httpx.AsyncClient:
    return client_of(create_health_app(env, state))


async def samples(client: httpx.AsyncClient) -> dict[str, float]:
    answer = await client.get("/metrics")
    assert answer.status_code == 200
    families = text_string_to_metric_families(answer.text)
    found = [sample for family in families for sample in family.samples]
    return {f"{sample.name}{sorted(sample.labels.values())}": sample.value for sample in found}


def counted(name: str, **labels: str) -> float:
    return metrics.REGISTRY.get_sample_value(name, labels) or 0.0


async def test_metrics_tell_how_queue_and_submissions_stand(
    env: WorkerEnv, client: httpx.AsyncClient, clock: FakeClock
) -> None:
    await inside(env, lambda: submit("one"))
    await inside(env, lambda: submit("two"))
    await send(env, "delayed", delay_s=6000)
    clock.shift(STUCK_THRESHOLD_MS / 1000)
    await inside(env, lambda: submit("three"))
    told = await samples(client)
    assert told["vskill_store_readable[]"] == 1
    assert (told["vskill_queue_messages['waiting']"], told["vskill_queue_messages['delayed']"]) == (3, 1)
    assert told["vskill_queue_oldest_age_seconds[]"] == STUCK_THRESHOLD_MS / 1000
    assert (told["vskill_submissions['RECEIVED']"], told["vskill_submissions['PUBLISHED']"]) == (3, 0)
    assert (told["vskill_submissions_stuck[]"], told["vskill_queue_paused[]"]) == (2, 0)
    await inside(env, lambda: pause_queue(reason="maintenance"))
    assert (await samples(client))["vskill_queue_paused[]"] == 1


async def test_metrics_tell_no_zeros__when_the_store_cannot_be_read(engine: Engine, client: httpx.AsyncClient) -> None:
    await engine.close()
    told = await samples(client)
    assert told["vskill_store_readable[]"] == 0
    facts = {fact.name for fact in metrics.FACTS if fact is not metrics.READABLE}
    assert [name for name in told if name.partition("[")[0] in facts] == []


async def test_worker_counts_what_it_has_handled__by_outcome(env: WorkerEnv) -> None:
    before = counted("vskill_messages_total", outcome="processed")
    handled = counted("vskill_message_seconds_count")
    await inside(env, lambda: submit("one"))
    await inside(env, lambda: submit("two"))
    async with running_loop(env):

        async def is_empty() -> bool:
            stats = await env.queue.stats(QUEUE)
            return stats.waiting + stats.leased == 0

        await eventually(is_empty, what="the queue is empty")
    assert counted("vskill_messages_total", outcome="processed") - before == 2
    assert counted("vskill_message_seconds_count") - handled == 2
    assert counted("vskill_batches_in_work") == 0


async def test_commits_are_timed__by_how_they_end(env: WorkerEnv) -> None:
    writes = MeteredCommit(env.writes)
    before = {word: counted("vskill_commit_seconds_count", outcome=word) for word in ("committed", "conflict")}
    await writes.commit([Put("key", b"1", if_version=ABSENT)])
    with pytest.raises(Conflict):
        await writes.commit([Put("key", b"2", if_version=ABSENT)])
    after = {word: counted("vskill_commit_seconds_count", outcome=word) for word in before}
    assert {word: after[word] - before[word] for word in before} == {"committed": 1, "conflict": 1}


async def test_requests_are_counted_by_route__so_that_no_stranger_can_make_more_labels(env: WorkerEnv) -> None:
    client = client_of(create_web_app(env))
    route = {"method": "GET", "route": "/api/v1/submissions/{identity}", "status": "404"}
    nowhere = {"method": "GET", "route": "none", "status": "404"}
    before = [counted("vskill_http_requests_total", **labels) for labels in (route, nowhere)]
    for path in ("/api/v1/submissions/sub_1", "/api/v1/submissions/sub_2", "/nothing/1", "/nothing/2"):
        await client.get(path)
    after = [counted("vskill_http_requests_total", **labels) for labels in (route, nowhere)]
    assert [new - old for new, old in zip(after, before, strict=True)] == [2, 2]


async def test_metrics_are_for_the_operator__and_for_nobody_who_comes_from_elsewhere(env: WorkerEnv) -> None:
    public = create_web_app(env)
    assert (await client_of(public).get("/metrics")).status_code == 200
    assert (await client_of(public, address="::1").get("/metrics")).status_code == 200
    assert (await client_of(create_control_app(env)).get("/metrics")).status_code == 200
    for stranger in ("203.0.113.9", "10.0.0.7", "unix"):
        assert (await client_of(public, address=stranger).get("/metrics")).status_code == 404
    for name in ("X-Forwarded-For", "Forwarded", "Via", "X-Real-IP"):
        assert (await client_of(public).get("/metrics", headers={name: "127.0.0.1"})).status_code == 404


async def test_process_is_not_alive__when_its_loop_does_not_come_round(env: WorkerEnv) -> None:
    hanging, resting = Pulse(limit_s=-1), Pulse(limit_s=-1)
    resting.rest()
    for pulse, status in ((hanging, 503), (resting, 200), (Pulse(limit_s=60), 200)):
        client = client_of(create_health_app(env, ProcessState("worker", pulses=[Pulse(limit_s=60), pulse])))
        assert (await client.get("/healthz")).status_code == status
        assert (await client.get("/readyz")).status_code == status


async def test_process_is_not_ready__while_it_drains_or_cannot_read_its_store(
    engine: Engine, client: httpx.AsyncClient, state: ProcessState
) -> None:
    assert (await client.get("/readyz")).json()["status"] == "ready"
    state.is_draining = True
    assert ((await client.get("/readyz")).status_code, (await client.get("/healthz")).status_code) == (503, 200)
    state.is_draining = False
    await engine.close()
    assert ((await client.get("/readyz")).status_code, (await client.get("/healthz")).status_code) == (503, 200)


def test_metrics_have_names_of_one_family__and_say_what_they_mean() -> None:
    described = metrics.describe_metrics()
    names = [metric.name for metric in described]
    assert len(set(names)) == len(names) >= 20
    assert all(re.fullmatch(r"vskill_[a-z_]+", name) for name in names)
    assert all(metric.help.endswith(".") for metric in described)
