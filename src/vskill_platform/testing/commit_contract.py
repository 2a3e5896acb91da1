"""The suite for writing: `CommitContract`, and what an engine does when it is closed.

An engine's test module inherits the class and provides two fixtures: `clock`, a FakeClock, and `engine`, opened fresh with
that clock for each test. What a commit survives (a lost connection, a full disk, a killed process) is for an engine's own
tests, which can cause it.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest

from vskill_platform.domain.catalog import SKILLS
from vskill_platform.domain.delivery import MAX_ATTEMPTS
from vskill_platform.domain.errors import (
    CommitTooLarge,
    Conflict,
    EngineClosed,
    InvalidInput,
    InvalidKey,
    LeaseLost,
    MalformedRecord,
    MessageTooLarge,
    ValueTooLarge,
)
from vskill_platform.domain.ids import CommitId, MessageId
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.ports.catalog import CatalogQuery
from vskill_platform.ports.commit import (
    ABSENT,
    MAX_MESSAGE_BYTES,
    MAX_OPERATIONS,
    Ack,
    Add,
    Bury,
    Check,
    CheckIdle,
    Committed,
    Delete,
    Emit,
    Index,
    Lease,
    Operation,
    Put,
    Release,
    Retry,
    Send,
    Unindex,
)
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.kv import MAX_VALUE_BYTES, Entry
from vskill_platform.testing.builders import (
    LEASE_S,
    QUEUE,
    collect_keys,
    error_of,
    index_documents,
    lease_messages,
    numbered_keys,
    put_keys,
    read_value,
    send_messages,
    skill_document,
    take_snapshot,
)
from vskill_platform.testing.clock import FakeClock, run_ready_tasks

ONCE = CommitId("commit-1")
DAY_S = 24 * 3600
NO_COUNTERS = {
    "not JSON": b"not json",
    "nothing": b"",
    "a list": b"[1]",
    "a text": b'"1"',
    "a text inside": b'{"n": "1"}',
    "a fraction inside": b'{"n": 1.5}',
    "null inside": b'{"n": null}',
    "an object inside": b'{"n": {}}',
    "not UTF-8": b'{"\xff": 1}',
}
# What the types allow and a store may not be able to keep.
ODD_OPERATIONS: dict[str, Operation] = {
    "endless ttl": Put("odd", b"", ttl_s=math.inf),
    "ttl that is no number": Put("odd", b"", ttl_s=math.nan),
    "ttl of ages": Add("odd", {"n": 1}, ttl_s=1e300),
    "due beyond 64 bits": Put("odd", b"", due_ms=2**70),
    "endless delay": Send(QUEUE, MessageId("odd 1"), b"", delay_s=math.inf),
    "delay that is no number": Send(QUEUE, MessageId("odd 2"), b"", delay_s=math.nan),
    "priority beyond 64 bits": Send(QUEUE, MessageId("odd 3"), b"", priority=2**70),
    "message id that is no text": Send(QUEUE, MessageId("\ud800"), b""),
    "queue that is no text": Send("\ud800", MessageId("odd 4"), b""),
    "event that is no text": Emit("kind", "\ud800", b""),
    "field that is no text": Add("odd", {"\ud800": 1}),
}
FAILURES = {
    "put": Conflict,
    "delete": Conflict,
    "check": Conflict,
    "check idle": Conflict,
    "send": Conflict,
    "ack": LeaseLost,
    "retry": LeaseLost,
    "release": LeaseLost,
    "bury": LeaseLost,
    "add": MalformedRecord,
    "key twice": InvalidInput,
    "bad key": InvalidKey,
    "large value": ValueTooLarge,
    "large message": MessageTooLarge,
}
CLOSED_CALLS: dict[str, Callable[[Engine], Awaitable[object]]] = {
    "get": lambda engine: engine.kv.get("a"),
    "list": lambda engine: engine.kv.list(""),
    "commit": lambda engine: engine.writes.commit([Put("a", b"1")]),
    "empty commit": lambda engine: engine.writes.commit([]),
    "find_commit": lambda engine: engine.writes.find_commit(ONCE),
    "purge": lambda engine: engine.writes.purge(),
    "receive": lambda engine: engine.queue.receive(QUEUE, max_messages=1, lease_s=1),
    "exchange": lambda engine: engine.queue.exchange(QUEUE, [[Put("a", b"1")]], max_messages=1, lease_s=1),
    "wait_ready": lambda engine: engine.queue.wait_ready(QUEUE, wait_s=0),
    "extend": lambda engine: engine.queue.extend([Lease(MessageId("m"), 1)], lease_s=1),
    "stats": lambda engine: engine.queue.stats(QUEUE),
    "peek": lambda engine: engine.queue.peek(QUEUE, status=MessageStatus.WAITING),
    "find": lambda engine: engine.queue.find([MessageId("m")]),
    "requeue": lambda engine: engine.queue.requeue([MessageId("m")]),
    "drop": lambda engine: engine.queue.drop([MessageId("m")], reason="closed"),
    "query": lambda engine: engine.catalog.query(CatalogQuery(SKILLS)),
    "counts": lambda engine: engine.catalog.counts(SKILLS, "tier"),
    "read": lambda engine: engine.events.read(0),
    "last_sequence": lambda engine: engine.events.last_sequence(),
    "trim": lambda engine: engine.events.trim(before_ms=0),
    "take": lambda engine: engine.limiter.take("a", limit=1, window_s=1),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """An engine with something in it for every kind of operation to work on."""

    leases: list[Lease]
    held: Lease
    ids: list[str]

    def writes(self) -> list[Operation]:
        """One operation of every kind, all of which can be carried out."""
        acked, retried, released, buried = self.leases
        return [
            Put("stage:put", b"new"),
            Put("stage:due", b"new", due_ms=5),
            Delete("stage:delete"),
            Check("stage:absent", ABSENT),
            Add("stage:counter", {"n": 1}),
            Send(QUEUE, MessageId("sent"), b"sent"),
            Ack(acked),
            Retry(retried, "failed"),
            Release(released),
            Bury(buried, "hopeless"),
            CheckIdle(MessageId("waiting")),
            Index(skill_document("new", tier="certified")),
            Index(skill_document("old", tier="certified")),
            Unindex(SKILLS, "gone"),
            Emit("kind", "subject", b"data"),
        ]

    def failure(self, name: str) -> Operation:
        """An operation that cannot be carried out, with the error that FAILURES names."""
        stale = Lease(self.held.message_id, self.held.token + 1)
        failures: dict[str, Operation] = {
            "put": Put("stage:guard", b"new", if_version=ABSENT),
            "delete": Delete("stage:guard", if_version=ABSENT),
            "check": Check("stage:guard", ABSENT),
            "check idle": CheckIdle(self.held.message_id),
            "send": Send(QUEUE, MessageId("waiting"), b"again"),
            "ack": Ack(stale),
            "retry": Retry(stale, "failed"),
            "release": Release(stale),
            "bury": Bury(stale, "hopeless"),
            "add": Add("stage:guard", {"n": 1}),
            "key twice": Put("stage:put", b"twice"),
            "bad key": Delete("a\0b"),
            "large value": Put("stage:guard", bytes(MAX_VALUE_BYTES + 1)),
            "large message": Send(QUEUE, MessageId("large"), bytes(MAX_MESSAGE_BYTES + 1)),
        }
        return failures[name]


async def set_stage(engine: Engine) -> Stage:
    """Fill an empty engine."""
    leases = await lease_messages(engine, ["acked", "retried", "released", "buried", "held"])
    await send_messages(engine, ["waiting"])
    await put_keys(engine, ["stage:put", "stage:due", "stage:delete", "stage:guard"])
    await engine.writes.commit([Add("stage:counter", {"n": 1}), Emit("kind", "stage", b"set")])
    await index_documents(engine, [skill_document("old"), skill_document("gone")])
    ids = ["acked", "retried", "released", "buried", "held", "waiting", "sent", "large"]
    return Stage(leases=leases[:4], held=leases[4], ids=ids)


class CommitContract:
    """Atomic writes: order, conditions, atomicity, idempotence, limits; and closing."""

    async def test_commit_carries_out_every_kind_of_operation(self, engine: Engine) -> None:
        stage = await set_stage(engine)
        version = (await engine.writes.commit(stage.writes())).version
        after = await take_snapshot(engine, ids=stage.ids)
        assert after.entries["stage:put"] == after.entries["stage:due"] == Entry(b"new", version)
        assert after.entries["stage:counter"] == Entry(b'{"n":2}', version)
        assert "stage:delete" not in after.entries
        assert {id: message.status for id, message in after.messages.items()} == {
            "retried": MessageStatus.WAITING,
            "released": MessageStatus.WAITING,
            "buried": MessageStatus.DEAD,
            "held": MessageStatus.LEASED,
            "waiting": MessageStatus.WAITING,
            "sent": MessageStatus.WAITING,
        }
        assert {id for id, _ in after.documents.rows} == {"old", "new"}
        assert after.tiers == {"certified": 2}
        assert [event.subject for event in after.events.events] == ["stage", "subject"]

    @pytest.mark.parametrize("name", FAILURES)
    async def test_commit_writes_nothing__when_one_operation_fails_in_any_position(
        self, engine: Engine, name: str
    ) -> None:
        stage = await set_stage(engine)
        before = await take_snapshot(engine, ids=stage.ids)
        writes = stage.writes()
        for position in range(len(writes) + 1):
            with pytest.raises(FAILURES[name]) as caught:
                await engine.writes.commit([*writes[:position], stage.failure(name), *writes[position:]], id=ONCE)
            assert type(caught.value) is FAILURES[name]
            assert await take_snapshot(engine, ids=stage.ids) == before
            assert await engine.writes.find_commit(ONCE) is None
        await engine.writes.commit(writes, id=ONCE)

    @pytest.mark.parametrize("name", ODD_OPERATIONS)
    async def test_commit_is_refused_whole__when_an_operation_is_odd(self, engine: Engine, name: str) -> None:
        operations = [Put("before", b""), ODD_OPERATIONS[name], Put("after", b"")]
        assert await error_of(engine.writes.commit(operations)) is InvalidInput
        assert await collect_keys(engine.kv, "") == []

    async def test_commit_tells_nobody_of_its_event__when_it_fails(self, engine: Engine) -> None:
        await send_messages(engine, ["m"])
        with pytest.raises(Conflict):
            await engine.writes.commit([Emit("kind", "never", b""), Send(QUEUE, MessageId("m"), b"")])
        reader = asyncio.create_task(engine.events.read(0, wait_s=60))
        await run_ready_tasks()
        await engine.writes.commit([Emit("kind", "real", b"")])
        assert [event.subject for event in (await reader).events] == ["real"]

    async def test_commit_is_fine__when_it_is_empty(self, engine: Engine) -> None:
        first = await engine.writes.commit([])
        await engine.writes.commit([Put("a", b"1", if_version=ABSENT)])
        assert isinstance(first, Committed)
        assert await collect_keys(engine.kv, "") == ["a"]

    async def test_commit_returns_a_greater_version_each_time(self, engine: Engine) -> None:
        versions = [(await engine.writes.commit([Put("a", b"1")])).version for _ in range(10)]
        assert versions == sorted(set(versions))
        assert versions[0] > ABSENT

    async def test_commit_returns_versions_of_their_own__when_many_run_at_once(self, engine: Engine) -> None:
        commits = await asyncio.gather(*(engine.writes.commit([Put(f"k:{n}", b"")]) for n in range(64)))
        stored = [await engine.kv.get(f"k:{n}") for n in range(64)]
        assert [entry.version for entry in stored if entry is not None] == [commit.version for commit in commits]
        assert len({commit.version for commit in commits}) == 64

    async def test_commit_applies_operations_in_order(self, engine: Engine) -> None:
        await index_documents(engine, [skill_document("b")])
        await engine.writes.commit(
            [
                Index(skill_document("a", text="first")),
                Index(skill_document("a", text="second")),
                Unindex(SKILLS, "b"),
                Index(skill_document("b", text="again")),
                Index(skill_document("c")),
                Unindex(SKILLS, "c"),
                *(Send(QUEUE, MessageId(f"m{n}"), b"") for n in (2, 0, 1)),
                *(Emit("kind", f"e{n}", b"") for n in (2, 0, 1)),
            ]
        )
        page = await engine.catalog.query(CatalogQuery(SKILLS, descending=False))
        messages = await engine.queue.receive(QUEUE, max_messages=10, lease_s=LEASE_S)
        assert page.rows == [("a", b"a|second"), ("b", b"b|again")]
        assert [message.id for message in messages] == ["m2", "m0", "m1"]
        assert [event.subject for event in (await engine.events.read(0)).events] == ["e2", "e0", "e1"]

    # if_version and Check

    @pytest.mark.parametrize("state", ["never written", "deleted", "expired", "purged"])
    async def test_absent_is_met__when_the_key_is(self, engine: Engine, clock: FakeClock, state: str) -> None:
        await _make_absent(engine, clock, state=state)
        await engine.writes.commit([Check("a", ABSENT)])
        await engine.writes.commit([Delete("a", if_version=ABSENT)])
        await engine.writes.commit([Put("a", b"new", if_version=ABSENT)])
        assert await read_value(engine, "a") == b"new"

    @pytest.mark.parametrize("state", ["deleted", "expired", "purged", "written again"])
    async def test_old_version_is_not_met__when_the_key_has_gone(
        self, engine: Engine, clock: FakeClock, state: str
    ) -> None:
        version = await _make_absent(engine, clock, state=state)
        for operation in (Put("a", b"x", if_version=version), Delete("a", if_version=version), Check("a", version)):
            with pytest.raises(Conflict):
                await engine.writes.commit([operation])

    async def test_version_is_met__when_it_is_the_present_one(self, engine: Engine) -> None:
        first = await engine.writes.commit([Put("a", b"1")])
        await engine.writes.commit([Check("a", first.version), Put("b", b"1")])
        second = await engine.writes.commit([Put("a", b"2", if_version=first.version)])
        await engine.writes.commit([Delete("a", if_version=second.version)])
        assert await collect_keys(engine.kv, "") == ["b"]

    async def test_version_is_not_met__when_another_commit_came_first(self, engine: Engine) -> None:
        first = await engine.writes.commit([Put("a", b"1")])
        second = await engine.writes.commit([Put("a", b"1")])
        for version in (first.version, second.version + 1, ABSENT):
            for operation in (Put("a", b"x", if_version=version), Delete("a", if_version=version), Check("a", version)):
                with pytest.raises(Conflict):
                    await engine.writes.commit([operation])
        assert await engine.kv.get("a") == Entry(b"1", second.version)

    async def test_check_writes_nothing(self, engine: Engine) -> None:
        first = await engine.writes.commit([Put("a", b"1")])
        await engine.writes.commit([Check("a", first.version), Check("a", first.version), Check("b", ABSENT)])
        assert await engine.kv.get("a") == Entry(b"1", first.version)
        assert await engine.kv.get("b") is None

    async def test_delete_is_no_error__when_the_key_is_absent(self, engine: Engine) -> None:
        await engine.writes.commit([Delete("absent"), Put("a", b"1")])
        assert await collect_keys(engine.kv, "") == ["a"]

    async def test_unindex_is_no_error__when_the_document_is_absent(self, engine: Engine) -> None:
        await engine.writes.commit([Unindex(SKILLS, "absent"), Put("a", b"1")])
        assert await read_value(engine, "a") == b"1"

    async def test_conditions_are_judged_before_anything_is_written(self, engine: Engine) -> None:
        first = await engine.writes.commit([Put("a", b"1"), Put("b", b"1")])
        operations: list[Operation] = [Put("a", b"2"), Delete("b"), Put("c", b"1"), Add("d", {"n": 1})]
        checks: list[Operation] = [
            Check("a", first.version),
            Check("b", first.version),
            Check("c", ABSENT),
            Check("d", ABSENT),
        ]
        await engine.writes.commit([*operations, *checks])
        assert await collect_keys(engine.kv, "") == ["a", "c", "d"]

    async def test_conditions_do_not_see_the_commit_itself(self, engine: Engine) -> None:
        first = await engine.writes.commit([Put("a", b"1")])
        with pytest.raises(Conflict):
            await engine.writes.commit([Delete("a"), Check("a", ABSENT)])
        with pytest.raises(Conflict):
            await engine.writes.commit([Put("b", b"1"), Check("b", first.version + 1)])

    async def test_check_idle_is_judged_before_the_message_is_settled_or_sent(self, engine: Engine) -> None:
        (lease,) = await lease_messages(engine, ["m"])
        for settlement in (Ack(lease), Release(lease), Retry(lease, ""), Bury(lease, "")):
            with pytest.raises(Conflict):
                await engine.writes.commit([settlement, CheckIdle(MessageId("m"))])
        await engine.writes.commit([Send(QUEUE, MessageId("n"), b""), CheckIdle(MessageId("n"))])

    async def test_cas_loses_no_increment__when_64_run_at_once(self, engine: Engine) -> None:
        await asyncio.gather(*(_increment(engine, key="n") for _ in range(64)))
        assert await read_value(engine, "n") == b"64"

    # CheckIdle

    @pytest.mark.parametrize(
        "state", ["absent", "waiting", "delayed", "dead", "lapsed", "lapsed for good", "acked", "released"]
    )
    async def test_check_idle_is_met__when_nobody_works_on_the_message(
        self, engine: Engine, clock: FakeClock, state: str
    ) -> None:
        # Nothing may look at the message in between: the commit itself must see that the lease has lapsed.
        await _make_idle(engine, clock, state=state)
        await engine.writes.commit([CheckIdle(MessageId("m")), Put("a", b"1")])
        assert await read_value(engine, "a") == b"1"

    async def test_check_idle_writes_nothing(self, engine: Engine) -> None:
        await send_messages(engine, ["m"])
        before = await engine.queue.find([MessageId("m")])
        await engine.writes.commit([CheckIdle(MessageId("m")), CheckIdle(MessageId("absent"))])
        assert await engine.queue.find([MessageId("m"), MessageId("absent")]) == before

    async def test_check_idle_is_not_met__when_the_message_is_leased(self, engine: Engine, clock: FakeClock) -> None:
        await lease_messages(engine, ["m"], lease_s=10)
        clock.shift(9.999)
        with pytest.raises(Conflict):
            await engine.writes.commit([CheckIdle(MessageId("m")), Put("a", b"1")])
        assert await engine.kv.get("a") is None

    async def test_check_idle_is_not_met__when_the_lease_was_extended(self, engine: Engine, clock: FakeClock) -> None:
        leases = await lease_messages(engine, ["m"], lease_s=10)
        await engine.queue.extend(leases, lease_s=100)
        clock.shift(50)
        with pytest.raises(Conflict):
            await engine.writes.commit([CheckIdle(MessageId("m"))])

    # Leases

    async def test_settling_raises_lease_lost__when_the_lease_lapsed(self, engine: Engine, clock: FakeClock) -> None:
        (lease,) = await lease_messages(engine, ["m"], lease_s=10)
        clock.shift(10)
        await _assert_lost(engine, lease)

    async def test_settling_raises_lease_lost__when_another_took_over(self, engine: Engine, clock: FakeClock) -> None:
        (lease,) = await lease_messages(engine, ["m"], lease_s=10)
        clock.shift(11)
        (message,) = await engine.queue.receive(QUEUE, max_messages=1, lease_s=LEASE_S)
        await _assert_lost(engine, lease)
        await engine.writes.commit([Ack(message.lease), Put("a", b"1")])
        assert await read_value(engine, "a") == b"1"

    async def test_settling_raises_lease_lost__when_the_message_was_settled(self, engine: Engine) -> None:
        first, second = await lease_messages(engine, ["m", "n"])
        await engine.writes.commit([Ack(first), Release(second)])
        await _assert_lost(engine, first)
        await _assert_lost(engine, second)

    async def test_settling_raises_lease_lost__when_the_commit_settles_twice(self, engine: Engine) -> None:
        (lease,) = await lease_messages(engine, ["m"])
        with pytest.raises(LeaseLost):
            await engine.writes.commit([Put("a", b"1"), Release(lease), Ack(lease)])
        assert await engine.kv.get("a") is None
        await engine.writes.commit([Ack(lease)])

    # Send

    @pytest.mark.parametrize("state", ["waiting", "delayed", "dead", "lapsed", "leased"])
    async def test_send_raises_conflict__when_the_id_exists(self, engine: Engine, clock: FakeClock, state: str) -> None:
        await _make_idle(engine, clock, state=state)
        before = await engine.queue.find([MessageId("m")])
        with pytest.raises(Conflict):
            await engine.writes.commit([Put("a", b"1"), Send("another queue", MessageId("m"), b"new")])
        assert await engine.kv.get("a") is None
        assert await engine.queue.find([MessageId("m")]) == before

    async def test_send_raises_conflict__when_the_commit_sends_the_id_twice(self, engine: Engine) -> None:
        with pytest.raises(Conflict):
            await engine.writes.commit([Send(QUEUE, MessageId("m"), b"1"), Send("other", MessageId("m"), b"2")])
        assert await engine.queue.find([MessageId("m")]) == {}

    async def test_send_raises_conflict__when_the_commit_itself_acks_the_id(self, engine: Engine) -> None:
        (lease,) = await lease_messages(engine, ["m"])
        ack, send = Ack(lease), Send(QUEUE, MessageId("m"), b"new")
        assert await error_of(engine.writes.commit([send, ack])) is Conflict
        assert await error_of(engine.writes.commit([ack, send])) is Conflict

    async def test_send_is_fine__when_an_earlier_commit_acked_the_id(self, engine: Engine) -> None:
        (lease,) = await lease_messages(engine, ["m"])
        await engine.writes.commit([Ack(lease)])
        await send_messages(engine, ["m"])
        assert (await engine.queue.stats(QUEUE)).waiting == 1

    async def test_send_is_fine__when_the_message_has_128_kib(self, engine: Engine) -> None:
        body = b"x" * MAX_MESSAGE_BYTES
        await engine.writes.commit([Send(QUEUE, MessageId("m"), body)])
        (message,) = await engine.queue.receive(QUEUE, max_messages=1, lease_s=LEASE_S)
        assert message.body == body

    # Add

    async def test_add_starts_at_zero__when_the_counter_is_absent(self, engine: Engine) -> None:
        committed = await engine.writes.commit([Add("a", {"n": 3, "é": -1})])
        entry = await engine.kv.get("a")
        assert entry is not None
        assert json.loads(entry.value) == {"n": 3, "é": -1}
        assert entry.version == committed.version

    async def test_add_adds_to_each_field__when_the_counter_exists(self, engine: Engine) -> None:
        await engine.writes.commit([Put("a", b' {"n": 5, "kept": 1} ')])
        await engine.writes.commit([Add("a", {"n": -7, "new": 2})])
        await engine.writes.commit([Add("a", {"n": 1})])
        assert json.loads(await read_value(engine, "a") or b"") == {"n": -1, "kept": 1, "new": 2}

    async def test_add_raises_malformed_record__when_the_value_is_no_counter(self, engine: Engine) -> None:
        first = await engine.writes.commit([Put(f"k:{name}", value) for name, value in NO_COUNTERS.items()])
        raised = {
            name: await error_of(engine.writes.commit([Put("b", b"1"), Add(f"k:{name}", {"n": 1}), Put("c", b"1")]))
            for name in NO_COUNTERS
        }
        assert raised == dict.fromkeys(NO_COUNTERS, MalformedRecord)
        for name, value in NO_COUNTERS.items():
            assert await engine.kv.get(f"k:{name}") == Entry(value, first.version)
        assert len(await collect_keys(engine.kv, "")) == len(NO_COUNTERS)

    async def test_add_is_exact__when_the_numbers_are_large(self, engine: Engine) -> None:
        for amount in (2**53, 2**63 - 1, 2**63, -(2**63), 2**64, 10**30):
            await engine.writes.commit([Add(f"k:{amount}", {"n": amount})])
            await engine.writes.commit([Add(f"k:{amount}", {"n": -1})])
            assert json.loads(await read_value(engine, f"k:{amount}") or b"") == {"n": amount - 1}

    async def test_add_makes_the_counter_expire__when_it_has_a_ttl(self, engine: Engine, clock: FakeClock) -> None:
        await engine.writes.commit([Add("a", {"n": 5}, ttl_s=10)])
        clock.shift(9)
        await engine.writes.commit([Add("a", {"n": 1}, ttl_s=10)])
        clock.shift(9)
        assert await read_value(engine, "a") == b'{"n":6}'
        clock.shift(1)
        assert await engine.kv.get("a") is None
        await engine.writes.commit([Add("a", {"n": 2})])
        assert await read_value(engine, "a") == b'{"n":2}'

    async def test_add_loses_nothing__when_64_run_at_once(self, engine: Engine) -> None:
        await asyncio.gather(*(engine.writes.commit([Add("a", {"n": 1, f"of:{n % 4}": 1})]) for n in range(64)))
        expected = {"n": 64, "of:0": 16, "of:1": 16, "of:2": 16, "of:3": 16}
        assert json.loads(await read_value(engine, "a") or b"") == expected

    # Limits

    async def test_commit_raises_invalid_input__when_it_writes_a_key_twice(self, engine: Engine) -> None:
        writes: tuple[Operation, ...] = (Put("a", b"1"), Delete("a"), Add("a", {"n": 1}))
        for first, second in itertools.product(writes, repeat=2):
            with pytest.raises(InvalidInput):
                await engine.writes.commit([Put("b", b"1"), first, Put("c", b"1"), second])
        assert await collect_keys(engine.kv, "") == []

    async def test_commit_raises_invalid_key__when_an_operation_names_what_cannot_be_one(self, engine: Engine) -> None:
        for key in ("", "a" * 513, "a\0b", "\ud800"):
            operations: list[Operation] = [Put(key, b""), Delete(key), Check(key, ABSENT), Add(key, {"n": 1})]
            for operation in operations:
                with pytest.raises(InvalidKey):
                    await engine.writes.commit([Put("a", b"1"), operation])
        assert await collect_keys(engine.kv, "") == []

    async def test_commit_is_fine__when_it_has_10_000_operations(self, engine: Engine) -> None:
        keys = numbered_keys(MAX_OPERATIONS, prefix="k:")
        committed = await engine.writes.commit([Put(key, b"") for key in keys])
        assert await collect_keys(engine.kv, "k:") == keys
        assert await engine.kv.get(keys[-1]) == Entry(b"", committed.version)

    async def test_commit_raises_commit_too_large__when_it_has_10_001_operations(self, engine: Engine) -> None:
        keys = numbered_keys(MAX_OPERATIONS + 1, prefix="k:")
        with pytest.raises(CommitTooLarge):
            await engine.writes.commit([Put(key, b"") for key in keys])
        with pytest.raises(CommitTooLarge):
            await engine.writes.commit([Check("a", ABSENT)] * (MAX_OPERATIONS + 1))
        assert await collect_keys(engine.kv, "") == []

    # Commit ids

    async def test_commit_writes_nothing_and_returns_the_same__when_its_id_was_committed(self, engine: Engine) -> None:
        first = await engine.writes.commit([Add("a", {"n": 1}), Emit("kind", "subject", b"")], id=ONCE)
        await engine.writes.commit([Put("b", b"1")])
        others: list[list[Operation]] = [[Add("a", {"n": 1}), Emit("kind", "subject", b"")], [Put("c", b"1")], []]
        for operations in others:
            assert await engine.writes.commit(operations, id=ONCE) == first
        assert await collect_keys(engine.kv, "") == ["a", "b"]
        assert await engine.kv.get("a") == Entry(b'{"n":1}', first.version)
        assert len((await engine.events.read(0)).events) == 1

    async def test_commit_returns_the_same__when_its_conditions_would_no_longer_hold(self, engine: Engine) -> None:
        (lease,) = await lease_messages(engine, ["m"])
        operations: list[Operation] = [Put("a", b"1", if_version=ABSENT), Ack(lease), Send(QUEUE, MessageId("n"), b"")]
        first = await engine.writes.commit(operations, id=ONCE)
        assert await engine.writes.commit(operations, id=ONCE) == first

    async def test_commit_writes_once__when_the_same_id_is_committed_many_times_at_once(self, engine: Engine) -> None:
        commits = await asyncio.gather(*(engine.writes.commit([Add("a", {"n": 1})], id=ONCE) for _ in range(16)))
        assert len(set(commits)) == 1
        assert await read_value(engine, "a") == b'{"n":1}'

    async def test_find_commit_returns_what_the_commit_did(self, engine: Engine) -> None:
        committed = await engine.writes.commit([Put("a", b"1")], id=ONCE)
        empty = await engine.writes.commit([], id=CommitId("empty"))
        assert await engine.writes.find_commit(ONCE) == committed
        assert await engine.writes.find_commit(CommitId("empty")) == empty

    async def test_find_commit_returns_none__when_there_was_no_such_commit(self, engine: Engine) -> None:
        await engine.writes.commit([Put("a", b"1")])
        with pytest.raises(Conflict):
            await engine.writes.commit([Put("a", b"1", if_version=ABSENT)], id=ONCE)
        assert await engine.writes.find_commit(ONCE) is None

    async def test_commit_is_tried_afresh__when_one_with_its_id_failed(self, engine: Engine) -> None:
        first = await engine.writes.commit([Put("a", b"1")])
        with pytest.raises(Conflict):
            await engine.writes.commit([Put("a", b"2", if_version=ABSENT)], id=ONCE)
        await engine.writes.commit([Put("a", b"3", if_version=first.version)], id=ONCE)
        assert await read_value(engine, "a") == b"3"

    async def test_commit_id_is_kept_for_a_day(self, engine: Engine, clock: FakeClock) -> None:
        committed = await engine.writes.commit([Add("a", {"n": 1})], id=ONCE)
        clock.shift(DAY_S)
        await engine.writes.purge()
        assert await engine.writes.find_commit(ONCE) == committed
        assert await engine.writes.commit([Add("a", {"n": 1})], id=ONCE) == committed
        assert await read_value(engine, "a") == b'{"n":1}'

    # Purge

    async def test_purge_removes_what_has_expired_and_says_how_many(self, engine: Engine, clock: FakeClock) -> None:
        await put_keys(engine, ["a", "b", "c"], ttl_s=10)
        await put_keys(engine, ["d"], ttl_s=20)
        await put_keys(engine, ["e"])
        assert await engine.writes.purge() == 0
        clock.shift(10)
        before = await take_snapshot(engine)
        assert await engine.writes.purge() == 3
        assert await engine.writes.purge() == 0
        assert await take_snapshot(engine) == before
        assert sorted(before.entries) == ["d", "e"]

    async def test_purge_does_not_count__when_a_key_was_written_again_or_deleted(
        self, engine: Engine, clock: FakeClock
    ) -> None:
        await put_keys(engine, ["a", "b", "c"], ttl_s=10)
        clock.shift(10)
        await engine.writes.commit([Put("a", b"1"), Delete("b")])
        assert await engine.writes.purge() == 1
        assert await collect_keys(engine.kv, "") == ["a"]

    async def test_purge_removes_old_commit_ids_and_counts_them(self, engine: Engine, clock: FakeClock) -> None:
        for number in range(3):
            await engine.writes.commit([], id=CommitId(f"old-{number}"))
        clock.shift(365 * DAY_S)
        recent = await engine.writes.commit([], id=ONCE)
        assert await engine.writes.purge() == 3
        assert await engine.writes.find_commit(CommitId("old-0")) is None
        assert await engine.writes.find_commit(ONCE) == recent

    # Cancelling and closing

    async def test_commit_happens_whole_or_not__when_its_caller_is_cancelled(self, engine: Engine) -> None:
        for turns in range(12):
            keys = numbered_keys(5, prefix=f"{turns:02d}:")
            caller = asyncio.create_task(engine.writes.commit([Put(key, b"") for key in keys]))
            await run_ready_tasks(turns)
            caller.cancel()
            await asyncio.wait([caller])
            await engine.writes.commit([])
            assert await collect_keys(engine.kv, f"{turns:02d}:") in ([], keys)

    async def test_commit_happens_once__when_its_caller_was_cancelled_and_tries_again(self, engine: Engine) -> None:
        for turns in range(12):
            id = CommitId(f"commit-{turns}")
            caller = asyncio.create_task(engine.writes.commit([Add("n", {"n": 1})], id=id))
            await run_ready_tasks(turns)
            caller.cancel()
            await asyncio.wait([caller])
            await engine.writes.commit([Add("n", {"n": 1})], id=id)
        assert await read_value(engine, "n") == b'{"n":12}'

    async def test_close_finishes_what_was_handed_over(self, engine: Engine) -> None:
        commits = [[Put(key, b"") for key in numbered_keys(20, prefix=f"{number}:")] for number in range(400)]
        callers = [asyncio.create_task(engine.writes.commit(operations)) for operations in commits]
        await run_ready_tasks(1)
        await engine.close()
        assert len({committed.version for committed in await asyncio.gather(*callers)}) == 400

    async def test_every_call_raises_engine_closed__when_the_engine_was_closed(self, engine: Engine) -> None:
        await engine.close()
        raised = {name: await error_of(call(engine)) for name, call in CLOSED_CALLS.items()}
        assert raised == dict.fromkeys(CLOSED_CALLS, EngineClosed)

    async def test_close_is_fine__when_it_is_called_twice(self, engine: Engine) -> None:
        await engine.close()
        await engine.close()

    async def test_close_is_fine__when_it_is_called_twice_at_once(self, engine: Engine) -> None:
        await asyncio.gather(engine.close(), engine.close())
        with pytest.raises(EngineClosed):
            await engine.kv.get("a")


async def _make_absent(engine: Engine, clock: FakeClock, *, state: str) -> int:
    """Bring the key `a` into a state in which it is absent, or is not what it was; gives the version it had."""
    if state == "never written":
        return ABSENT
    version = (await engine.writes.commit([Put("a", b"old", ttl_s=10)])).version
    if state in ("deleted", "written again"):
        await engine.writes.commit([Delete("a")])
    if state == "written again":
        await engine.writes.commit([Put("a", b"old")])
    if state in ("expired", "purged"):
        clock.shift(10)
    if state == "purged":
        await engine.writes.purge()
    return version


async def _make_idle(engine: Engine, clock: FakeClock, *, state: str) -> None:
    """Bring the message `m` into a state; in all of them but `leased` it is idle."""
    if state == "absent":
        return
    if state in ("waiting", "delayed"):
        await send_messages(engine, ["m"], delay_s=100 if state == "delayed" else 0)
        return
    (lease,) = await lease_messages(engine, ["m"], lease_s=10)
    if state == "dead":
        await engine.writes.commit([Bury(lease, "hopeless")])
    if state == "acked":
        await engine.writes.commit([Ack(lease)])
    if state == "released":
        await engine.writes.commit([Release(lease)])
    if state.startswith("lapsed"):
        clock.shift(11)
    if state == "lapsed for good":
        for _ in range(MAX_ATTEMPTS - 1):
            await engine.queue.receive(QUEUE, max_messages=1, lease_s=10)
            clock.shift(11)


async def _assert_lost(engine: Engine, lease: Lease) -> None:
    """No settlement goes through with the lease. The first is tried before anything has looked at the message."""
    assert await error_of(engine.writes.commit([Put("lost", b"1"), Ack(lease)])) is LeaseLost
    before = await engine.queue.find([lease.message_id])
    for settlement in (Ack(lease), Retry(lease, "failed"), Release(lease), Bury(lease, "hopeless")):
        with pytest.raises(LeaseLost):
            await engine.writes.commit([Put("lost", b"1"), settlement])
    assert await engine.kv.get("lost") is None
    assert await engine.queue.find([lease.message_id]) == before


async def _increment(engine: Engine, *, key: str) -> None:
    """Read, add one, write if nobody else did; again until it succeeds."""
    for _ in range(10_000):
        entry = await engine.kv.get(key)
        number, version = (0, ABSENT) if entry is None else (int(entry.value), entry.version)
        try:
            await engine.writes.commit([Put(key, str(number + 1).encode(), if_version=version)])
        except Conflict:
            continue
        return
    raise AssertionError("The increment never got through.")
