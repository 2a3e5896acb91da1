"""What the operator does by commands lands in the audit log, one entry a commit, under the operator's name."""

from __future__ import annotations

from tests.acceptance.running import inside
from tests.admin.test_acting import client_of, read_entries
from vskill_platform.domain.ids import MessageId
from vskill_platform.ports.commit import Bury
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.testing.submissions import submit
from vskill_platform.web.app import create_control_app

ADMIN = "/api/v1/admin"


async def bury_all(env: WorkerEnv) -> list[MessageId]:
    """Make dead letters of all that waits."""
    messages = await env.queue.receive("submissions", max_messages=10, lease_s=60)
    for message in messages:
        await env.writes.commit([Bury(message.lease, "hopeless")])
    return [message.id for message in messages]


async def test_dead_letter_sent_back_and_another_dropped_are_told__each_by_its_own_commit(env: WorkerEnv) -> None:
    await inside(env, lambda: submit("one"))
    await inside(env, lambda: submit("two"))
    back, gone = await bury_all(env)
    async with client_of(create_control_app(env)) as operator:
        listed = (await operator.get(f"{ADMIN}/dead-letters")).json()["messages"]
        assert [letter["id"] for letter in listed] == [back, gone]
        requeued = await operator.post(
            f"{ADMIN}/submissions/requeue", json={"ids": [back, back, "msg_x"], "reason": "It is back"}
        )
        dropped = await operator.post(f"{ADMIN}/dead-letters/drop", json={"ids": [gone, "msg_x"], "reason": "Deleted"})
    counts = {name: requeued.json()[name] for name in ("requeued", "done", "skipped", "failed", "total")}
    assert counts == {"requeued": 1, "done": 1, "skipped": 0, "failed": 1, "total": 2}
    assert (dropped.json()["done"], dropped.json()["skipped"], dropped.json()["total"]) == (1, 1, 2)
    requeue, drop = await read_entries(env)
    assert (requeue.act, requeue.subject, requeue.actor, requeue.touched) == (
        "queue.requeue",
        back,
        "operator",
        (back,),
    )
    assert (drop.act, drop.subject, drop.actor) == ("queue.drop", gone, "operator")
    # Its submission still waits for it: the sweep would send it again, so both go in one commit.
    assert gone in drop.touched
    assert [key for key in drop.touched if key.startswith("sub:")]


async def test_block_is_told_with_what_it_stopped(env: WorkerEnv) -> None:
    stopped = (await inside(env, lambda: submit("bad"))).id
    async with client_of(create_control_app(env)) as operator:
        body = {"skillName": "bad", "reason": "It steals keys"}
        blocked = (await operator.post(f"{ADMIN}/blocklist", json=body)).json()
        listed = (await operator.get(f"{ADMIN}/blocklist")).json()
        assert [item["key"] for item in listed] == [blocked["key"]]
        again = await operator.post(f"{ADMIN}/blocklist/remove", json={"key": blocked["key"], "reason": "It was fine"})
    assert blocked["submissions"] == again.json()["submissions"] == [stopped]
    acts = [entry.act for entry in await read_entries(env)]
    assert (acts[0], acts[-1]) == ("blocklist.add", "blocklist.remove")
    assert {entry.subject for entry in await read_entries(env)} == {blocked["key"]}


async def test_old_addresses_are_gone(env: WorkerEnv) -> None:
    async with client_of(create_control_app(env)) as operator:
        for path in ("/control/stuck", "/control/skills"):
            assert (await operator.get(path)).status_code == 404, path
