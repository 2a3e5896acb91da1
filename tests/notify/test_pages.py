"""Alerts and webhooks on the panel and in its API."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any, cast

import httpx
import msgspec
import pytest

from tests.notify.post_office import post_office
from tests.notify.receiver import Receiver
from vskill_platform.domain.access import Role
from vskill_platform.domain.publisher import Publisher, PublisherKind
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.domain.webhook import handle_of, publisher_owner
from vskill_platform.notify.machine import report_machine
from vskill_platform.notify.watching import watch_registry
from vskill_platform.notify.webhooks import BY_HAND_PER_HOUR
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.stores.pause import pause_queue
from vskill_platform.stores.publishers import make_publisher, putting_publisher
from vskill_platform.stores.webhooks import list_webhooks
from vskill_platform.testing.accounts import in_request, make_account, make_session, make_token, sign_in
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.git_server import serve_application
from vskill_platform.testing.submissions import submit
from vskill_platform.web.app import create_web_app
from vskill_platform.worker_context import run_with_worker_env

WEBHOOKS = "/api/v1/admin/webhooks"
SECRET = re.compile(r"whsec_[A-Za-z0-9+/=]{44}")


@pytest.fixture
async def client(env: WorkerEnv) -> AsyncIterator[httpx.AsyncClient]:
    """Somebody who has signed in as a super admin."""
    transport = httpx.ASGITransport(app=cast("Any", create_web_app(env)), client=("192.0.2.1", 1))
    async with httpx.AsyncClient(transport=transport, base_url="https://registry") as opened:
        sign_in(opened, await make_session(env, await make_account(env, "ada", Role.SUPER_ADMIN)))
        yield opened


async def post(client: httpx.AsyncClient, path: str, **fields: object) -> httpx.Response:
    return await client.post(path, json={"reason": "a test", **fields})


async def alert_of_a_pause(env: WorkerEnv, clock: FakeClock) -> None:
    """An open alert, by a pause that is older than it may be."""
    await run_with_worker_env(env, lambda: pause_queue(reason="<b>maintenance</b>", seconds=86_400))
    clock.shift(env.settings.alert_pause_s)
    await run_with_worker_env(env, lambda: report_machine(host="alpha"))
    await run_with_worker_env(env, watch_registry)


async def test_alert_is_shown_and_acknowledged__with_a_word_in_the_audit_log(
    env: WorkerEnv, client: httpx.AsyncClient, clock: FakeClock
) -> None:
    before = (await client.get("/admin/alerts")).text
    assert "Nothing is wrong" in before
    await alert_of_a_pause(env, clock)
    sign_in(client, await make_session(env, await make_account(env, "eve", Role.SUPER_ADMIN)))
    page = await client.get("/admin/alerts")
    assert page.status_code == 200
    assert "The queue has been paused for 6 hours." in page.text
    assert "alpha" in page.text
    done = await post(client, "/api/v1/admin/alerts/acknowledge", id="paused_long", reason="Until the disk is swapped.")
    assert (done.status_code, done.json()["alert"]["acknowledgedBy"]) == (200, "eve")
    listed = (await client.get("/api/v1/admin/alerts")).json()
    assert (listed["open"], listed["alerts"][0]["note"]) == (1, "Until the disk is swapped.")
    assert "Until the disk is swapped." in (await client.get("/admin/alerts")).text
    again = await post(client, "/api/v1/admin/alerts/acknowledge", id="disk_nearly_full")
    assert (again.status_code, again.json()["code"]) == (404, "not_found")


async def test_webhook_is_made_tried_rotated_switched_off_and_removed__and_its_secret_told_once(
    env: WorkerEnv, client: httpx.AsyncClient, clock: FakeClock
) -> None:
    receiver = Receiver(statuses=[500, 204], text=b"<script>alert(1)</script>")
    async with serve_application(receiver) as address, post_office(env) as office:
        made = (await post(client, WEBHOOKS, url=f"{address}/in", kinds=["alert.*"], description="Chat")).json()
        own = f"{WEBHOOKS}/{made['id']}"
        assert SECRET.fullmatch(made["secret"])
        assert (await post(client, f"{own}/test")).status_code == 200
        await office.deliver_all()
        page = await client.get(f"/admin/webhooks/{made['id']}")
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page.text
        (delivery,) = (await client.get(f"{own}/deliveries")).json()["deliveries"]
        assert (delivery["status"], delivery["last"]["status"], delivery["tries"]) == ("pending", 500, 1)
        assert (await post(client, f"{own}/deliveries/{delivery['number']}/redeliver")).status_code == 200
        await office.send_due()
        receiver.received[1].check(made["secret"], now_s=clock.now_ms() / 1000)
        rotated = (await post(client, f"{own}/rotate")).json()
        assert rotated["secret"] != made["secret"]
        off = await post(client, f"{own}/change", isEnabled=False)
        assert off.json()["webhook"]["isEnabled"] is False
        assert (await post(client, f"{own}/test")).json()["code"] == "invalid_input"
        shown = [
            (await client.get(path)).text for path in ("/admin/webhooks", f"/admin/webhooks/{made['id']}", WEBHOOKS)
        ]
        assert all(address in text and not SECRET.search(text) for text in shown)
        assert (await post(client, f"{own}/remove")).status_code == 200
        assert (await client.get(f"/admin/webhooks/{made['id']}")).status_code == 404
        acts = ["create", "test", "redeliver", "rotate", "change", "remove"]
        assert await audited(env) == [f"webhooks.{act}" for act in acts]


async def audited(env: WorkerEnv) -> list[str]:
    """What the audit log tells, in order."""
    keys = (await env.kv.list("audit:")).keys
    return [str(msgspec.json.decode(await value(env, key))["act"]) for key in keys]


async def test_secret_is_nowhere_but_in_its_own_record(env: WorkerEnv, client: httpx.AsyncClient) -> None:
    made = (await post(client, WEBHOOKS, url="https://hooks.example.com/", kinds=["*"])).json()
    page = await env.kv.list("", limit=1000)
    holding = [key for key in page.keys if made["secret"].encode() in (await value(env, key))]
    assert holding == [f"webhook-secret:{made['id']}"]


async def value(env: WorkerEnv, key: str) -> bytes:
    entry = await env.kv.get(key)
    return b"" if entry is None else entry.value


REFUSED: list[tuple[dict[str, object], str]] = [
    ({"url": "https://hooks.example.com/", "kinds": []}, "invalid_input"),
    ({"url": "https://hooks.example.com/", "kinds": ["skill.eaten"]}, "invalid_input"),
    ({"url": "https://a:b@hooks.example.com/", "kinds": ["*"]}, "address_forbidden"),
    ({"url": "https://hooks.example.com/", "kinds": ["*"], "reason": " "}, "invalid_input"),
]


async def test_webhook_is_refused_in_words__when_it_cannot_be(client: httpx.AsyncClient) -> None:
    answers = [(await post(client, WEBHOOKS, **fields)).json() for fields, _ in REFUSED]
    assert [answer.get("code") for answer in answers] == [code for _, code in REFUSED]
    assert all(answer["detail"] for answer in answers)
    assert (await client.get(WEBHOOKS)).json() == {"webhooks": []}


async def test_webhooks_are_for_super_admins__and_alerts_for_the_panel(
    env: WorkerEnv, client: httpx.AsyncClient
) -> None:
    for role in (Role.SUBMITTER, Role.REVIEWER, Role.AUDITOR):
        sign_in(client, await make_session(env, await make_account(env, role.value.lower(), role)))
        sees = 403 if role is Role.SUBMITTER else 200
        assert (await client.get("/api/v1/admin/alerts")).status_code == sees
        assert (await client.get("/admin/webhooks")).status_code == 403
        assert (await client.get(WEBHOOKS)).status_code == 403
        assert (await post(client, "/api/v1/admin/alerts/acknowledge", id="stuck")).status_code == 403


async def test_publisher_is_told_of_its_own__and_of_nothing_else(
    env: WorkerEnv, client: httpx.AsyncClient, clock: FakeClock
) -> None:
    grace, stranger = await make_account(env, "grace"), await make_account(env, "mallory")

    async def claim() -> None:
        publisher = make_publisher("acme", kind=PublisherKind.ORGANISATION, place="github.com/acme", owner=grace.id)
        await env.writes.commit(putting_publisher(publisher, found=None))

    await in_request(env, claim)
    client.headers.pop("Cookie")
    own = "/api/v1/publishers/acme/webhooks"
    client.headers["Authorization"] = f"Bearer {await make_token(env, stranger)}"
    assert (await client.get(own)).status_code == 403
    client.headers["Authorization"] = f"Bearer {await make_token(env, grace)}"
    receiver = Receiver()
    async with serve_application(receiver) as address, post_office(env) as office:
        operators = await office.create(f"{address}/operator", "alert.*")
        assert (await client.post(own, json={"url": address, "kinds": ["alert.*"]})).json()["code"] == "invalid_input"
        made = (await client.post(own, json={"url": f"{address}/acme", "kinds": ["*"]})).json()
        assert SECRET.fullmatch(made["secret"])
        assert [one["id"] for one in (await client.get(own)).json()["webhooks"]] == [made["id"]]
        stolen = await client.get(f"{own}/{operators.webhook.id}/deliveries")
        assert stolen.status_code == 404
        for repo_url in ("https://github.com/acme/skills", "https://github.com/other/skills"):
            await run_with_worker_env(env, lambda repo_url=repo_url: submit("demo", repo_url=repo_url))  # type: ignore[misc]
        await office.emit("queue.paused", "alert.opened", "skill.withdrawn")
        await office.deliver_all()
        mine = [got for got in receiver.received if got.path == "/acme"]
        assert [got.kind for got in mine] == ["submission.created"]
        assert b"github.com/acme/skills" in mine[0].body
        answers = [(await client.post(f"{own}/{made['id']}/test")).status_code for _ in range(BY_HAND_PER_HOUR + 1)]
        assert answers == [200] * BY_HAND_PER_HOUR + [429]
        assert (await client.put(f"{own}/{made['id']}", json={"isEnabled": False})).status_code == 200
        assert (await client.delete(f"{own}/{made['id']}")).status_code == 200
        assert (await client.get(own)).json() == {"webhooks": []}


async def test_webhooks_of_a_handle_are_not_those_of_who_claims_it_next(env: WorkerEnv, clock: FakeClock) -> None:
    first = make_publisher_at(clock)
    clock.shift(1)
    second = make_publisher_at(clock)
    async with post_office(env) as office:
        await office.create("https://hooks.example.com/", "skill.*", owner=publisher_owner(first))
    of_second = await in_request(env, lambda: list_webhooks(owner=publisher_owner(second)))
    assert (handle_of(publisher_owner(first)), of_second) == ("acme", [])


def make_publisher_at(clock: FakeClock) -> Publisher:
    now = iso_from_ms(clock.now_ms())
    return Publisher(
        handle="acme",
        kind=PublisherKind.PERSON,
        places=("github.com/acme",),
        members=(),
        created_at=now,
        updated_at=now,
    )


async def test_metrics_count_open_alerts(env: WorkerEnv, clock: FakeClock) -> None:
    transport = httpx.ASGITransport(app=cast("Any", create_web_app(env)), client=("127.0.0.1", 1))
    await alert_of_a_pause(env, clock)
    async with httpx.AsyncClient(transport=transport, base_url="http://registry") as local:
        text = (await local.get("/metrics")).text
    assert 'vskill_alerts_open{severity="warning"} 1.0' in text
    assert 'vskill_alerts_open{severity="critical"} 0.0' in text
