"""What every engine must do when a registry moves: list everything of one moment, and write it again as it was.

The module that inherits these provides `clock`, a FakeClock, and `engine`, an engine that was opened with it, fresh for each
test, with four attempts for a message. Nothing in here may know which engine it has.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import TypeVar

import pytest

from vskill_platform.domain.delivery import LAPSED_ERROR
from vskill_platform.domain.errors import Conflict, EngineClosed, InvalidInput, InvalidKey
from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.ports.commit import Ack, Add, Bury, Delete, Emit, Operation, Put, Restore, Retry, Send
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.events import Event
from vskill_platform.ports.inventory import Inventory, KeptEntry, KeptMessage, KeptRow
from vskill_platform.ports.kv import DueIndex
from vskill_platform.testing.builders import (
    LEASE_S,
    QUEUE,
    collect_due,
    error_of,
    lease_messages,
    numbered_keys,
    put_keys,
    read_value,
    send_messages,
)
from vskill_platform.testing.clock import FakeClock

T = TypeVar("T")


async def gather_rows(chunks: AsyncIterator[Sequence[T]]) -> list[T]:
    """Every row of a listing."""
    return [row async for chunk in chunks for row in chunk]


async def list_everything(engine: Engine) -> list[KeptRow]:
    """All rows of an inventory taken now: entries, messages, events."""
    async with engine.inventory() as inventory:
        return await rows_of(inventory)


async def rows_of(inventory: Inventory) -> list[KeptRow]:
    """All rows of an inventory: entries, messages, events."""
    entries, messages = await gather_rows(inventory.entries()), await gather_rows(inventory.messages())
    return [*entries, *messages, *await gather_rows(inventory.events())]


def kept_message(
    identity: str,
    *,
    status: MessageStatus = MessageStatus.WAITING,
    queue: str = QUEUE,
    body: bytes | None = None,
    priority: int = 0,
    attempts: int = 0,
    sent_ms: int = 7,
    ready_ms: int | None = None,
    error: str | None = None,
    is_suspect: bool = False,
) -> KeptMessage:
    """A message to restore; its body is its id."""
    content = identity.encode() if body is None else body
    return KeptMessage(
        MessageId(identity), queue, content, priority, status, attempts, sent_ms, ready_ms, error, is_suspect
    )


async def restore(engine: Engine, *rows: KeptRow) -> None:
    """Restore rows in one commit."""
    await engine.writes.commit([Restore(row) for row in rows])


class InventoryContract:
    """Everything, once, of one moment."""

    async def test_inventory_of_an_empty_engine_is_empty(self, engine: Engine) -> None:
        assert await list_everything(engine) == []

    async def test_entries_come_in_the_order_of_their_bytes__with_expiry_and_due(
        self, engine: Engine, clock: FakeClock
    ) -> None:
        now_ms = clock.now_ms()
        puts = [Put("z", b"\x00\xff"), Put("a:b", b"", due_ms=-5), Put("名", "技能".encode(), ttl_s=60)]
        await engine.writes.commit([*puts, Put("\U0001f600", b"1"), Put("\ufb01", b"2"), Add("n", {"x": 3})])
        async with engine.inventory() as inventory:
            entries = await gather_rows(inventory.entries())
        assert entries == [
            KeptEntry("a:b", b"", None, -5),
            KeptEntry("n", b'{"x":3}', None, None),
            KeptEntry("z", b"\x00\xff", None, None),
            KeptEntry("名", "技能".encode(), now_ms + 60_000, None),
            KeptEntry("\ufb01", b"2", None, None),
            KeptEntry("\U0001f600", b"1", None, None),
        ]

    async def test_entries_leave_out_what_has_expired__before_any_purge(self, engine: Engine, clock: FakeClock) -> None:
        await put_keys(engine, ["gone"], ttl_s=1)
        await put_keys(engine, ["there"], ttl_s=9)
        await clock.advance(1)
        assert [row.key for row in await list_everything(engine) if isinstance(row, KeptEntry)] == ["there"]

    async def test_entries_are_all_there__when_there_are_many_and_large_ones(self, engine: Engine) -> None:
        keys = numbered_keys(2500, prefix="many:")
        await put_keys(engine, keys)
        await engine.writes.commit([Put(f"large:{number}", bytes(3 * 1024 * 1024)) for number in range(3)])
        async with engine.inventory() as inventory:
            chunks = [chunk async for chunk in inventory.entries()]
        assert [row.key for chunk in chunks for row in chunk] == ["large:0", "large:1", "large:2", *keys]
        assert max(len(chunk) for chunk in chunks) <= 1000

    async def test_messages_come_in_the_order_they_were_sent__from_every_queue_in_every_state(
        self, engine: Engine, clock: FakeClock
    ) -> None:
        sent_ms = clock.now_ms()
        dead, retried, leased = await lease_messages(engine, ["dead", "retried", "leased"])
        await engine.writes.commit([Bury(dead, "hopeless"), Retry(retried, "later", delay_s=30)])
        other = Send("other", MessageId("first"), b"\xff", priority=9)
        await engine.writes.commit([other, Send(QUEUE, MessageId("late"), b"", delay_s=90)])
        messages = [row for row in await list_everything(engine) if isinstance(row, KeptMessage)]
        assert messages == [
            kept_message("dead", status=MessageStatus.DEAD, attempts=1, error="hopeless", sent_ms=sent_ms),
            kept_message(
                "retried",
                status=MessageStatus.DELAYED,
                attempts=1,
                error="later",
                ready_ms=sent_ms + 30_000,
                sent_ms=sent_ms,
            ),
            kept_message("leased", status=MessageStatus.LEASED, attempts=1, sent_ms=sent_ms),
            kept_message("first", queue="other", body=b"\xff", priority=9, sent_ms=sent_ms),
            kept_message("late", status=MessageStatus.DELAYED, body=b"", ready_ms=sent_ms + 90_000, sent_ms=sent_ms),
        ]
        await engine.writes.commit([Ack(leased)])

    async def test_messages_are_as_time_has_made_them__whether_or_not_anyone_looked(
        self, engine: Engine, clock: FakeClock
    ) -> None:
        await lease_messages(engine, ["lapsed"])
        await send_messages(engine, ["delayed"], delay_s=1)
        await clock.advance(LEASE_S + 1)
        lapsed, delayed = [row for row in await list_everything(engine) if isinstance(row, KeptMessage)]
        assert (lapsed.status, lapsed.attempts, lapsed.is_suspect) == (MessageStatus.WAITING, 1, True)
        assert lapsed.error == LAPSED_ERROR
        assert (delayed.status, delayed.ready_ms) == (MessageStatus.WAITING, None)

    async def test_events_begin_with_the_oldest_that_is_kept__after_a_trim(
        self, engine: Engine, clock: FakeClock
    ) -> None:
        await engine.writes.commit([Emit("old", "a", b"1")])
        await clock.advance(10)
        await engine.writes.commit([Emit("new", "b", b"\xff"), Emit("new", "c", b"3")])
        await engine.events.trim(before_ms=clock.now_ms())
        events = [row for row in await list_everything(engine) if isinstance(row, Event)]
        last = await engine.events.last_sequence()
        now_ms = clock.now_ms()
        assert events == [Event(last - 1, now_ms, "new", "b", b"\xff"), Event(last, now_ms, "new", "c", b"3")]

    async def test_inventory_is_of_one_moment__whatever_is_committed_while_it_is_read(self, engine: Engine) -> None:
        keys = numbered_keys(2000, prefix="k:")
        await put_keys(engine, keys)
        await send_messages(engine, ["m"])
        await engine.writes.commit([Emit("k", "s", b"")])
        before = await list_everything(engine)
        async with engine.inventory() as inventory:
            await engine.writes.commit([Delete(key) for key in keys[1:]])
            await engine.writes.commit([Put("k:zzz", b""), Put(keys[0], b"changed"), Emit("k", "later", b"")])
            await send_messages(engine, ["n"])
            during = await rows_of(inventory)
            again = await rows_of(inventory)
        assert during == before
        assert again == before
        assert await list_everything(engine) != before

    async def test_inventory_is_refused__after_close(self, engine: Engine) -> None:
        await engine.close()
        with pytest.raises(EngineClosed):
            await list_everything(engine)


class RestoreContract:
    """Rows of an inventory, written as they were."""

    async def test_restored_rows_are_listed_as_they_were(self, engine: Engine, clock: FakeClock) -> None:
        now_ms = clock.now_ms()
        rows: list[KeptRow] = [
            KeptEntry("a", b"\x00", None, None),
            KeptEntry("b", "名".encode(), now_ms + 1500, -3),
            kept_message("m1", priority=-2, attempts=3, error="名", is_suspect=True),
            kept_message("m2", status=MessageStatus.DELAYED, ready_ms=now_ms + 500, queue="other"),
            kept_message("m3", status=MessageStatus.DEAD, attempts=4, error="hopeless"),
            Event(7, 1, "k", "s", b"\xff"),
            Event(9, 1, "k", "", b""),
        ]
        await restore(engine, *rows)
        assert await list_everything(engine) == rows

    async def test_restored_key_expires_at_its_moment__and_is_due_at_its_own(
        self, engine: Engine, clock: FakeClock
    ) -> None:
        now_ms = clock.now_ms()
        await restore(engine, KeptEntry("a", b"1", now_ms + 2000, now_ms), KeptEntry("past", b"", now_ms, None))
        assert await read_value(engine, "past") is None
        if isinstance(engine.kv, DueIndex):
            assert [entry.key for entry in await collect_due(engine.kv, "", before_ms=now_ms)] == ["a"]
        await clock.advance(1.999)
        assert await read_value(engine, "a") == b"1"
        await clock.advance(0.001)
        assert await read_value(engine, "a") is None

    async def test_restored_key_takes_the_place_of_what_was_there__with_a_version_of_its_own(
        self, engine: Engine
    ) -> None:
        before = await engine.writes.commit([Put("a", b"1", ttl_s=5, due_ms=1)])
        after = await engine.writes.commit([Restore(KeptEntry("a", b"2", None, None))])
        assert after.version > before.version
        assert await engine.kv.get("a") == (b"2", after.version)

    async def test_restored_messages_are_delivered_in_their_order__with_attempts_that_go_on(
        self, engine: Engine, clock: FakeClock
    ) -> None:
        later = kept_message("later", status=MessageStatus.DELAYED, ready_ms=clock.now_ms() + 1000, attempts=1)
        await restore(engine, kept_message("b"), kept_message("a", attempts=2), kept_message("c", priority=1), later)
        await restore(engine, kept_message("dead", status=MessageStatus.DEAD, attempts=4))
        messages = await engine.queue.receive(QUEUE, max_messages=9, lease_s=LEASE_S)
        assert [(message.id, message.attempts) for message in messages] == [("c", 1), ("b", 1), ("a", 3)]
        await clock.advance(1)
        assert [message.id for message in await engine.queue.receive(QUEUE, max_messages=9, lease_s=1)] == ["later"]
        assert await engine.queue.requeue([MessageId("dead")]) == ["dead"]

    async def test_restored_suspect_comes_alone(self, engine: Engine) -> None:
        await restore(engine, kept_message("bad", is_suspect=True, attempts=1), kept_message("good"))
        assert [message.id for message in await engine.queue.receive(QUEUE, max_messages=9, lease_s=1)] == ["bad"]

    async def test_restored_delay_that_is_over_is_no_delay(self, engine: Engine, clock: FakeClock) -> None:
        over = kept_message("m", status=MessageStatus.DELAYED, ready_ms=clock.now_ms() - 1)
        await restore(engine, over)
        assert (await engine.queue.stats(QUEUE)).waiting == 1
        assert len(await engine.queue.receive(QUEUE, max_messages=1, lease_s=1)) == 1

    async def test_restored_message_that_exists_is_a_conflict__and_nothing_is_written(self, engine: Engine) -> None:
        await send_messages(engine, ["m"])
        before = await list_everything(engine)
        with pytest.raises(Conflict):
            await restore(engine, KeptEntry("a", b"", None, None), kept_message("m"))
        with pytest.raises(Conflict):
            await restore(engine, kept_message("n"), kept_message("n"))
        assert await list_everything(engine) == before

    async def test_restored_events_keep_their_sequence__and_what_is_emitted_comes_after(
        self, engine: Engine, clock: FakeClock
    ) -> None:
        await restore(engine, Event(41, 5, "k", "a", b"1"), Event(50, 6, "k", "b", b"2"))
        await engine.writes.commit([Emit("k", "c", b"3")])
        page = await engine.events.read(40)
        assert [(event.subject, event.at_ms) for event in page.events] == [("a", 5), ("b", 6), ("c", clock.now_ms())]
        assert [event.sequence for event in page.events[:2]] == [41, 50]
        assert page.events[2].sequence > 50
        assert (await engine.events.read(0)).reset
        assert [event.subject for event in (await engine.events.read(45)).events] == ["b", "c"]
        assert await engine.events.last_sequence() == page.last

    async def test_restored_event_that_does_not_follow_the_log_is_a_conflict(self, engine: Engine) -> None:
        await restore(engine, Event(5, 0, "k", "a", b""))
        before = await list_everything(engine)
        for sequence in (4, 5):
            with pytest.raises(Conflict):
                await restore(engine, KeptEntry("x", b"", None, None), Event(sequence, 0, "k", "b", b""))
        with pytest.raises(Conflict):
            await restore(engine, Event(7, 0, "k", "b", b""), Event(6, 0, "k", "c", b""))
        assert await list_everything(engine) == before

    async def test_rows_that_no_engine_holds_are_refused(self, engine: Engine) -> None:
        refused: dict[str, KeptRow] = {
            "leased": kept_message("m", status=MessageStatus.LEASED),
            "gone": kept_message("m", status=MessageStatus.GONE),
            "delayed for ever": kept_message("m", status=MessageStatus.DELAYED),
            "waiting with a delay": kept_message("m", ready_ms=1),
            "too large a number": kept_message("m", priority=2**63),
            "no text": Event(1, 0, "\ud800", "", b""),
        }
        outcomes = {name: await error_of(restore(engine, row)) for name, row in refused.items()}
        assert outcomes == dict.fromkeys(refused, InvalidInput)
        assert await error_of(restore(engine, KeptEntry("", b"", None, None))) is InvalidKey
        twice: list[Operation] = [Put("a", b""), Restore(KeptEntry("a", b"", None, None))]
        assert await error_of(engine.writes.commit(twice)) is InvalidInput
        assert await list_everything(engine) == []
