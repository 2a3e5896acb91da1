"""Webhooks from the event log to a receiver: once an event, signed, tried again with growing delays, and given up in the end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import msgspec
import pytest

from tests.notify.post_office import PostOffice, post_office
from tests.notify.receiver import Receiver
from vskill_platform.domain.webhook import DELAYS_S, MOST_TRIES, DeliveryStatus, next_delay_s
from vskill_platform.notify.watching import watch_registry
from vskill_platform.notify.webhooks import change_webhook, delete_webhook, redeliver, rotate_secret, send_test
from vskill_platform.ports.commit import Emit, Put
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.stores.pause import pause_queue
from vskill_platform.stores.webhooks import CURSOR_KEY, OVERLAP_S, get_webhook, list_health
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.git_server import serve_application
from vskill_platform.testing.submissions import submit
from vskill_platform.testing.waits import eventually
from vskill_platform.worker_context import run_with_worker_env


@pytest.fixture
async def office(env: WorkerEnv) -> AsyncIterator[PostOffice]:
    async with post_office(env) as opened:
        yield opened


@pytest.fixture
def receiver() -> Receiver:
    return Receiver()


@pytest.fixture
async def address(receiver: Receiver) -> AsyncIterator[str]:
    async with serve_application(receiver) as served:
        yield served


async def test_event_comes_signed_and_public__once_for_each_receiver(
    office: PostOffice, receiver: Receiver, address: str, clock: FakeClock
) -> None:
    made = [await office.create(f"{address}/hook?n={number}", "queue.paused") for number in range(2)]
    await office.emit("queue.paused", "queue.resumed")
    await office.deliver_all()
    await office.deliver_all()
    assert sorted(got.path for got in receiver.received) == ["/hook?n=0", "/hook?n=1"]
    for got in receiver.received:
        secret = made[int(got.path[-1])].secret
        assert got.check(secret, now_s=clock.now_ms() / 1000) == got.id
        assert msgspec.json.decode(got.body) == {
            "id": got.id,
            "type": "queue.paused",
            "at": "2026-02-21T10:00:00.000Z",
            "data": {"reason": "because", "at": "2026-02-21T10:00:00.000Z"},
        }
        assert got.headers["content-type"] == "application/json"
    (delivery,) = await office.deliveries(made[0].webhook.id)
    assert (delivery.status, delivery.tries, delivery.last and delivery.last.status) == ("delivered", 1, 204)


async def test_receiver_gets_nothing_from_before_it_was_made(
    office: PostOffice, receiver: Receiver, address: str
) -> None:
    await office.emit("queue.paused")
    await office.create(address)
    await office.emit("queue.resumed")
    await office.deliver_all()
    assert [got.kind for got in receiver.received] == ["queue.resumed"]


async def test_failed_delivery_comes_again_by_the_same_id__with_growing_delays_until_it_is_given_up(
    office: PostOffice, receiver: Receiver, address: str, clock: FakeClock
) -> None:
    receiver.statuses = [500]
    made = await office.create(address)
    await office.emit("queue.paused")
    await office.deliver_all()
    for delay_s in DELAYS_S:
        clock.shift(delay_s - 1)
        assert await office.send_due() == 0, f"tried again before {delay_s} s"
        clock.shift(1 + delay_s * 0.2)
        assert await office.send_due() == 1
    clock.shift(30 * 86_400)
    assert await office.send_due() == 0
    assert len(receiver.received) == MOST_TRIES
    assert len({got.id for got in receiver.received}) == 1
    assert len({got.headers["webhook-timestamp"] for got in receiver.received}) == MOST_TRIES
    assert len({got.body for got in receiver.received}) == 1
    assert await office.deliveries(made.webhook.id) == [], "what has ended is kept for a while only"


async def test_delivery_that_is_given_up_is_shown__and_can_be_sent_again(
    office: PostOffice, receiver: Receiver, address: str, clock: FakeClock
) -> None:
    receiver.statuses = [500] * MOST_TRIES + [204]
    receiver.text = b"no room\x1b[2J"
    made = await office.create(address)
    await office.emit("queue.paused")
    await office.deliver_all()
    for delay_s in DELAYS_S:
        clock.shift(delay_s * 1.2)
        await office.send_due()
    (given_up,) = await office.deliveries(made.webhook.id)
    assert given_up.status is DeliveryStatus.GIVEN_UP
    assert given_up.last is not None
    assert (given_up.last.status, given_up.last.excerpt) == (500, "no room\\x1b[2J")
    await run_with_worker_env(office.env, lambda: redeliver(made.webhook.id, given_up.number))
    assert await office.send_due() == 1
    assert receiver.received[-1].id == given_up.id
    assert (await office.deliveries(made.webhook.id))[0].status is DeliveryStatus.DELIVERED


def test_delays_are_spread_by_name__and_never_shorter_than_asked() -> None:
    found = {next_delay_s(1, identity=f"delivery-{number}") for number in range(100)}
    assert len(found) > 50
    assert all(delay is not None and 5 <= delay <= 6 for delay in found)
    assert next_delay_s(MOST_TRIES, identity="x") is None


async def test_slow_receiver_delays_no_other(office: PostOffice, receiver: Receiver, address: str) -> None:
    slow = Receiver(gate=asyncio.Event())
    async with serve_application(slow) as slow_address:
        await office.create(slow_address, "queue.paused")
        await office.create(address, "queue.paused")
        await office.emit(*["queue.paused"] * 30)
        await office.follow()

        async def quick_has_all() -> bool:
            await run_with_worker_env(office.env, office.lanes.start_due)
            return len(receiver.received) == 30

        await eventually(quick_has_all, what="the quick receiver has everything")
        assert slow.waiting <= 4, "a slow receiver has no more than its lane"
        assert slow.gate is not None
        slow.gate.set()
        await asyncio.wait(office.lanes.running)
        await office.deliver_all()
        assert len({got.id for got in slow.received}) == 30


async def test_redirect_is_not_followed__and_is_a_failure(office: PostOffice, receiver: Receiver, address: str) -> None:
    elsewhere = Receiver()
    async with serve_application(elsewhere) as target:
        receiver.statuses, receiver.location = [307], target
        made = await office.create(address)
        await office.emit("queue.paused")
        await office.deliver_all()
    (delivery,) = await office.deliveries(made.webhook.id)
    assert delivery.last is not None
    assert (delivery.status, delivery.last.status) == (DeliveryStatus.PENDING, 307)
    assert elsewhere.received == []


async def test_two_secrets_sign__for_as_long_as_they_overlap(
    office: PostOffice, receiver: Receiver, address: str, clock: FakeClock
) -> None:
    made = await office.create(address)
    rotated = await run_with_worker_env(office.env, lambda: rotate_secret(made.webhook.id))
    assert rotated.secret != made.secret
    await office.emit("queue.paused")
    await office.deliver_all()
    for secret in (made.secret, rotated.secret):
        receiver.received[0].check(secret, now_s=clock.now_ms() / 1000)
    clock.shift(OVERLAP_S)
    await office.emit("queue.paused")
    await office.deliver_all()
    assert receiver.received[1].headers["webhook-signature"].count("v1,") == 1
    receiver.received[1].check(rotated.secret, now_s=clock.now_ms() / 1000)


async def test_receiver_is_switched_off__after_days_of_nothing_but_failures(
    office: PostOffice, receiver: Receiver, address: str, clock: FakeClock
) -> None:
    receiver.statuses = [204, 500]
    made = await office.create(address)

    async def fail_once() -> None:
        await office.emit("queue.paused")
        await office.deliver_all()

    await fail_once()
    await fail_once()
    clock.shift(office.env.settings.webhook_disable_after_s - 1)
    await fail_once()
    found = await run_with_worker_env(office.env, lambda: get_webhook(made.webhook.id))
    assert found.webhook.is_enabled
    clock.shift(1)
    await fail_once()
    found = await run_with_worker_env(office.env, lambda: get_webhook(made.webhook.id))
    assert not found.webhook.is_enabled
    assert "Nothing has been taken since" in found.webhook.disabled_because
    sent = len(receiver.received)
    await fail_once()
    assert len(receiver.received) == sent, "a receiver that is off is sent nothing"
    await run_with_worker_env(office.env, lambda: change_webhook(made.webhook.id, is_enabled=True))
    receiver.statuses = [204]
    await fail_once()
    assert len(receiver.received) == sent + 1
    health = await run_with_worker_env(office.env, list_health)
    assert health[made.webhook.id].failing_since is None


async def test_test_message_comes__and_says_what_it_is(office: PostOffice, receiver: Receiver, address: str) -> None:
    made = await office.create(address, "alert.*")
    await run_with_worker_env(office.env, lambda: send_test(made.webhook.id))
    await office.send_due()
    assert [got.kind for got in receiver.received] == ["webhook.test"]


async def test_alert_goes_to_the_operator__with_what_to_do(
    office: PostOffice, receiver: Receiver, address: str, clock: FakeClock
) -> None:
    impatient = replace(office.env, settings=msgspec.structs.replace(office.env.settings, alert_pause_s=60))
    await office.create(address, "alert.*")
    await run_with_worker_env(impatient, lambda: pause_queue(reason="maintenance"))
    clock.shift(61)
    await run_with_worker_env(impatient, watch_registry)
    await office.deliver_all()
    (got,) = receiver.received
    told = msgspec.json.decode(got.body)
    assert (told["type"], told["data"]["code"]) == ("alert.opened", "paused_long")
    assert told["data"]["advice"]


async def test_submission_comes_as_the_stream_tells_it(office: PostOffice, receiver: Receiver, address: str) -> None:
    await office.create(address, "submission.*")
    submission = await run_with_worker_env(office.env, lambda: submit("demo"))
    await office.deliver_all()
    told = msgspec.json.decode(receiver.received[0].body)
    assert (told["type"], told["data"]["id"], told["data"]["category"]) == (
        "submission.created",
        submission.id,
        "active",
    )


async def test_claim_runs_out_and_the_delivery_comes_again_by_its_id__when_its_sender_died_with_it(
    office: PostOffice, address: str, clock: FakeClock, receiver: Receiver
) -> None:
    receiver.gate = gate = asyncio.Event()
    made = await office.create(address)
    await office.emit("queue.paused")
    await office.follow()
    await run_with_worker_env(office.env, office.lanes.start_due)
    await eventually(lambda: receiver.waiting == 1, what="the first sender waits for its answer")
    for task in office.lanes.running:
        task.cancel()
    await asyncio.wait(office.lanes.running)
    receiver.gate = None
    gate.set()
    assert await office.send_due() == 0, "a claim stands for a while"
    clock.shift(2 * office.env.settings.webhook_time_limit_s + 1)
    assert await office.send_due() == 1
    assert len({got.id for got in receiver.received}) == 1
    (delivery,) = await office.deliveries(made.webhook.id)
    assert (delivery.status, delivery.tries) == (DeliveryStatus.DELIVERED, 2)


async def test_two_senders_send_once__when_both_see_it_due(
    office: PostOffice, receiver: Receiver, address: str
) -> None:
    await office.create(address)
    await office.emit(*["queue.paused"] * 4)
    async with post_office(office.env) as other:
        assert {await office.follow(), await other.follow()} == {(4, 4), (0, 0)}
        await asyncio.gather(office.send_due(), other.send_due())
    assert len(receiver.received) == len({got.id for got in receiver.received}) == 4


async def test_cursor_is_there_only_while_somebody_listens(
    office: PostOffice, receiver: Receiver, address: str
) -> None:
    assert await office.follow() is None
    made = await office.create(address)
    await office.emit("queue.paused")
    await run_with_worker_env(office.env, lambda: delete_webhook(made.webhook.id))
    assert await office.env.kv.get(CURSOR_KEY) is None
    assert await office.follow() is None
    again = await office.create(address)
    await office.emit("queue.resumed")
    await office.deliver_all()
    assert [got.kind for got in receiver.received] == ["queue.resumed"]
    assert [delivery.kind for delivery in await office.deliveries(again.webhook.id)] == ["queue.resumed"]


async def test_deliveries_of_a_removed_receiver_are_dropped__when_they_come_up(
    office: PostOffice, receiver: Receiver, address: str
) -> None:
    made, _ = await office.create(address), await office.create(address, "alert.*")
    await office.emit("queue.paused")
    await office.follow()
    await run_with_worker_env(office.env, lambda: delete_webhook(made.webhook.id))
    await office.send_due()
    assert (receiver.received, await office.deliveries(made.webhook.id)) == ([], [])


async def test_events_and_receivers_that_cannot_be_read_keep_nobody_waiting(
    office: PostOffice, receiver: Receiver, address: str
) -> None:
    await office.create(address)
    await office.env.writes.commit([Put("webhook:wh_broken", b"broken"), Emit("alert.opened", "x", b"broken")])
    await office.emit("queue.paused")
    await office.deliver_all()
    assert [got.kind for got in receiver.received] == ["queue.paused"]


async def test_delivery_that_cannot_be_read_is_set_aside__and_keeps_nobody_waiting(
    office: PostOffice, receiver: Receiver, address: str, clock: FakeClock
) -> None:
    made = await office.create(address)
    key = f"webhook-delivery:{made.webhook.id}:0000"
    await office.env.writes.commit([Put(key, b"broken", due_ms=clock.now_ms())])
    await office.emit("queue.paused")
    await office.deliver_all()
    assert len(receiver.received) == 1
    entry = await office.env.kv.get(key)
    assert entry is not None
    assert entry.value == b"broken"
