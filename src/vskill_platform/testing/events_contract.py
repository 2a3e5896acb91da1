"""What every engine's event log must do: the sentences of `ports.events` as tests, to be inherited.

The module that inherits `EventsContract` provides `clock`, a FakeClock, and `engine`, an engine that was opened with it,
fresh for each test. Nothing in here may know which engine it has.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence

import pytest

from vskill_platform.domain.errors import Conflict, EngineClosed, InvalidInput
from vskill_platform.domain.ids import MessageId
from vskill_platform.ports.commit import ABSENT, Emit, Put, Send
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.events import MAX_EVENTS_PAGE, Event, EventPage
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.waits import LIMIT_S, check_asleep, finish, in_background


async def emit(engine: Engine, *subjects: str) -> None:
    """Append one event for each subject, in one commit."""
    await engine.writes.commit([Emit("skill.published", subject, b"{}") for subject in subjects])


async def read_all(engine: Engine, *, after: int = 0, limit: int = MAX_EVENTS_PAGE) -> list[Event]:
    """Page by page to the end of the log, as a reader that is not behind."""
    found: list[Event] = []
    while True:
        page = await engine.events.read(after, limit=limit)
        assert not page.reset
        assert len(page.events) <= limit
        if not page.events:
            return found
        assert page.last > after, "the log does not go on"
        found += page.events
        after = page.last


def subjects_of(events: Sequence[Event]) -> list[str]:
    """The events' subjects, in order."""
    return [event.subject for event in events]


class ReadingContract:
    """Order, cursors, limits and waiting."""

    async def test_log_is_empty__before_any_event(self, engine: Engine) -> None:
        assert await engine.events.last_sequence() == 0
        assert await engine.events.read(0) == EventPage([], 0, reset=False)

    async def test_event_keeps_what_was_emitted__and_when(self, engine: Engine, clock: FakeClock) -> None:
        await clock.advance(7)
        await engine.writes.commit([Emit("skill.published", "größe/skill", b"\x00\xff")])
        (event,) = (await engine.events.read(0)).events
        assert event == (event.sequence, clock.now_ms(), "skill.published", "größe/skill", b"\x00\xff")

    async def test_events_come_in_the_order_of_their_commits__with_sequences_that_grow(self, engine: Engine) -> None:
        for subject in ("c", "a", "b"):
            await emit(engine, subject)
        events = (await engine.events.read(0)).events
        assert subjects_of(events) == ["c", "a", "b"]
        assert 0 < events[0].sequence < events[1].sequence < events[2].sequence

    async def test_events_of_one_commit_come_in_the_order_of_its_operations__among_others(self, engine: Engine) -> None:
        await engine.writes.commit([Emit("k", "c", b""), Put("key", b""), Emit("k", "a", b""), Emit("other", "b", b"")])
        assert subjects_of((await engine.events.read(0)).events) == ["c", "a", "b"]

    async def test_events_of_one_commit_stand_together__among_parallel_commits(self, engine: Engine) -> None:
        commits = [[f"{number}.{part}" for part in range(3)] for number in range(50)]
        await asyncio.gather(*(emit(engine, *subjects) for subjects in commits))
        told = subjects_of(await read_all(engine))
        groups = [told[start : start + 3] for start in range(0, len(told), 3)]
        assert sorted(groups) == sorted(commits)

    async def test_failed_commit_leaves_no_event__and_the_log_whole(self, engine: Engine) -> None:
        await engine.writes.commit([Put("key", b"")])
        with pytest.raises(Conflict):
            await engine.writes.commit([Emit("k", "never", b""), Put("key", b"", if_version=ABSENT)])
        await emit(engine, "a")
        assert subjects_of((await engine.events.read(0)).events) == ["a"]

    async def test_read_begins_behind_the_cursor__of_the_reader(self, engine: Engine) -> None:
        await emit(engine, "a", "b", "c")
        first, second, third = (await engine.events.read(0)).events
        assert (await engine.events.read(first.sequence)).events == [second, third]
        assert (await engine.events.read(second.sequence)).events == [third]

    async def test_last_is_the_cursor_to_come_back_with__with_events_and_without(self, engine: Engine) -> None:
        await emit(engine, "a", "b")
        page = await engine.events.read(0)
        assert page.last == page.events[-1].sequence
        assert await engine.events.read(page.last) == EventPage([], page.last, reset=False)
        await emit(engine, "c")
        assert subjects_of((await engine.events.read(page.last)).events) == ["c"]

    async def test_read_stops_at_the_limit__and_goes_on_from_last(self, engine: Engine) -> None:
        names = [f"e{number}" for number in range(7)]
        await emit(engine, *names)
        page = await engine.events.read(0, limit=3)
        assert (subjects_of(page.events), page.last) == (names[:3], page.events[-1].sequence)
        assert subjects_of(await read_all(engine, limit=3)) == names

    async def test_read_gives_the_largest_page__without_a_limit(self, engine: Engine) -> None:
        names = [f"e{number}" for number in range(MAX_EVENTS_PAGE + 1)]
        await emit(engine, *names)
        assert subjects_of((await engine.events.read(0)).events) == names[:-1]

    @pytest.mark.parametrize("limit", [-1, 0, MAX_EVENTS_PAGE + 1])
    async def test_read_refuses__a_bad_limit(self, engine: Engine, limit: int) -> None:
        with pytest.raises(InvalidInput):
            await engine.events.read(0, limit=limit)

    async def test_readers_do_not_disturb_each_other__with_cursors_of_their_own(self, engine: Engine) -> None:
        await emit(engine, "a", "b")
        assert subjects_of((await engine.events.read(0)).events) == ["a", "b"]
        assert subjects_of((await engine.events.read(0)).events) == ["a", "b"]

    async def test_last_sequence_is_the_newest_event__where_a_new_reader_begins(self, engine: Engine) -> None:
        await emit(engine, "old", "older")
        after = await engine.events.last_sequence()
        assert after == (await engine.events.read(0)).events[-1].sequence
        await emit(engine, "new")
        assert subjects_of((await engine.events.read(after)).events) == ["new"]

    async def test_reader_misses_nothing__while_many_write(self, engine: Engine) -> None:
        names = [f"e{number}" for number in range(120)]
        told: list[Event] = []

        async def follow() -> None:
            after = 0
            while len(told) < len(names):
                page = await engine.events.read(after, limit=7, wait_s=60)
                assert not page.reset
                told.extend(page.events)
                after = page.last

        async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as group:
            group.create_task(follow())
            for name in names:
                group.create_task(emit(engine, name))
        assert sorted(subjects_of(told)) == sorted(names)
        assert told == await read_all(engine)

    async def test_read_returns_at_once__where_it_need_not_wait(self, engine: Engine) -> None:
        await emit(engine, "a")
        async with asyncio.timeout(LIMIT_S):
            assert subjects_of((await engine.events.read(0, wait_s=60)).events) == ["a"]

    async def test_read_returns_nothing__when_its_wait_is_over(self, engine: Engine, clock: FakeClock) -> None:
        await emit(engine, "a")
        last = await engine.events.last_sequence()
        async with in_background(clock, engine.events.read(last, wait_s=60)) as task:
            await clock.advance(59)
            await check_asleep(clock, task)
            await clock.advance(1)
            assert await finish(task) == EventPage([], last, reset=False)

    async def test_read_wakes__by_a_commit_of_another_task(self, engine: Engine, clock: FakeClock) -> None:
        async with in_background(clock, engine.events.read(0, wait_s=60)) as task:
            await emit(engine, "a", "b")
            page = await finish(task)
        assert (subjects_of(page.events), page.last) == (["a", "b"], page.events[-1].sequence)

    async def test_every_reader_wakes__that_waits(self, engine: Engine, clock: FakeClock) -> None:
        async with (
            in_background(clock, engine.events.read(0, wait_s=60)) as first,
            in_background(clock, engine.events.read(0, wait_s=60)) as second,
        ):
            await emit(engine, "a")
            assert subjects_of((await finish(first)).events) == ["a"]
            assert subjects_of((await finish(second)).events) == ["a"]

    async def test_read_goes_on_waiting__when_a_commit_has_no_event(self, engine: Engine, clock: FakeClock) -> None:
        async with in_background(clock, engine.events.read(0, wait_s=60)) as task:
            await engine.writes.commit([Put("key", b"")])
            await clock.advance(59)
            await check_asleep(clock, task)

    async def test_read_goes_on_waiting__when_a_commit_with_an_event_fails(
        self, engine: Engine, clock: FakeClock
    ) -> None:
        await engine.writes.commit([Send("queue", MessageId("a"), b"")])
        async with in_background(clock, engine.events.read(0, wait_s=60)) as task:
            with pytest.raises(Conflict):
                await engine.writes.commit([Emit("k", "never", b""), Send("queue", MessageId("a"), b"")])
            await clock.advance(59)
            await check_asleep(clock, task)

    async def test_read_waits__after_a_commit_with_an_event_failed(self, engine: Engine, clock: FakeClock) -> None:
        await engine.writes.commit([Send("queue", MessageId("a"), b"")])
        with pytest.raises(Conflict):
            await engine.writes.commit([Emit("k", "never", b""), Send("queue", MessageId("a"), b"")])
        async with in_background(clock, engine.events.read(0, wait_s=60)) as task:
            await emit(engine, "a")
            assert subjects_of((await finish(task)).events) == ["a"]

    async def test_read_loses_nothing__when_it_is_cancelled(self, engine: Engine, clock: FakeClock) -> None:
        async with in_background(clock, engine.events.read(0, wait_s=60)) as task:
            task.cancel()
            await emit(engine, "a")
            with pytest.raises(asyncio.CancelledError):
                await finish(task)
        assert subjects_of((await engine.events.read(0)).events) == ["a"]

    async def test_read_loses_nothing__when_it_is_cancelled_as_an_event_comes(
        self, engine: Engine, clock: FakeClock
    ) -> None:
        async with in_background(clock, engine.events.read(0, wait_s=60)) as task:
            await emit(engine, "a")
            task.cancel()
        assert subjects_of((await engine.events.read(0, wait_s=60)).events) == ["a"]

    async def test_events_refuse__after_the_engine_was_closed(self, engine: Engine) -> None:
        await engine.close()
        calls: list[Coroutine[object, object, object]] = [
            engine.events.read(0),
            engine.events.read(0, wait_s=60),
            engine.events.last_sequence(),
            engine.events.trim(before_ms=0),
        ]
        async with asyncio.timeout(LIMIT_S):
            answers = await asyncio.gather(*calls, return_exceptions=True)
        assert [type(answer) for answer in answers] == [EngineClosed] * len(calls)

    async def test_waiting_read_is_refused__when_the_engine_is_closed(self, engine: Engine, clock: FakeClock) -> None:
        async with in_background(clock, engine.events.read(0, wait_s=60)) as task:
            await engine.close()
            with pytest.raises(EngineClosed):
                await finish(task)


class TrimmingContract:
    """What is forgotten, what is kept, and how a reader learns of it."""

    async def test_trim_forgets_events_older_than_the_moment__and_says_how_many(
        self, engine: Engine, clock: FakeClock
    ) -> None:
        await emit(engine, "a", "b")
        await clock.advance(1)
        moment_ms = clock.now_ms()
        await emit(engine, "c", "d")
        after = (await engine.events.read(0)).events[1].sequence
        assert await engine.events.trim(before_ms=moment_ms) == 2
        assert subjects_of((await engine.events.read(after)).events) == ["c", "d"]
        assert await engine.events.trim(before_ms=moment_ms) == 0

    async def test_trim_keeps_the_newest__however_old(self, engine: Engine, clock: FakeClock) -> None:
        await emit(engine, "a", "b", "c")
        last = await engine.events.last_sequence()
        await clock.advance(3600)
        assert await engine.events.trim(before_ms=clock.now_ms()) == 2
        assert await engine.events.last_sequence() == last
        assert subjects_of((await engine.events.read(last - 1)).events) == ["c"]

    async def test_trim_forgets_nothing__of_an_empty_log(self, engine: Engine, clock: FakeClock) -> None:
        assert await engine.events.trim(before_ms=clock.now_ms() + 1) == 0
        assert await engine.events.read(0) == EventPage([], 0, reset=False)

    async def test_sequences_are_not_used_again__after_a_trim(self, engine: Engine, clock: FakeClock) -> None:
        await emit(engine, "a", "b")
        last = await engine.events.last_sequence()
        await clock.advance(1)
        await engine.events.trim(before_ms=clock.now_ms())
        await emit(engine, "c")
        page = await engine.events.read(last)
        assert subjects_of(page.events) == ["c"]
        assert page.events[0].sequence > last

    async def test_read_resets__for_a_cursor_older_than_what_is_kept(self, engine: Engine, clock: FakeClock) -> None:
        newest = await self._trim_to_the_newest(engine, clock)
        assert await engine.events.read(0) == EventPage([], newest, reset=True)
        assert await engine.events.read(newest - 2) == EventPage([], newest, reset=True)

    async def test_read_does_not_reset__for_a_cursor_that_missed_nothing(
        self, engine: Engine, clock: FakeClock
    ) -> None:
        newest = await self._trim_to_the_newest(engine, clock)
        page = await engine.events.read(newest - 1)
        assert (subjects_of(page.events), page.reset) == (["c"], False)
        assert await engine.events.read(newest) == EventPage([], newest, reset=False)

    @pytest.mark.parametrize("beyond", [1, 1000, 2**62])
    async def test_read_resets__for_a_cursor_beyond_the_end(self, engine: Engine, beyond: int) -> None:
        await emit(engine, "a", "b")
        newest = await engine.events.last_sequence()
        assert await engine.events.read(newest + beyond) == EventPage([], newest, reset=True)

    async def test_read_resets__for_any_cursor_but_zero_in_an_empty_log(self, engine: Engine) -> None:
        assert await engine.events.read(5) == EventPage([], 0, reset=True)

    @pytest.mark.parametrize("after", [-1, -1000])
    async def test_read_resets__for_a_negative_cursor(self, engine: Engine, after: int) -> None:
        assert await engine.events.read(after) == EventPage([], 0, reset=True)
        await emit(engine, "a")
        newest = await engine.events.last_sequence()
        assert await engine.events.read(after) == EventPage([], newest, reset=True)

    @pytest.mark.parametrize("after", [-1, 0, 1000])
    async def test_read_resets_at_once__where_it_would_wait(self, engine: Engine, clock: FakeClock, after: int) -> None:
        newest = await self._trim_to_the_newest(engine, clock)
        async with asyncio.timeout(LIMIT_S):
            assert await engine.events.read(after, wait_s=60) == EventPage([], newest, reset=True)

    async def test_reader_goes_on_from_last__after_a_reset(self, engine: Engine, clock: FakeClock) -> None:
        await self._trim_to_the_newest(engine, clock)
        page = await engine.events.read(0)
        assert page.reset
        await emit(engine, "d")
        page = await engine.events.read(page.last)
        assert (subjects_of(page.events), page.reset) == (["d"], False)

    async def test_waiting_reader_misses_nothing__when_the_log_is_trimmed(
        self, engine: Engine, clock: FakeClock
    ) -> None:
        await emit(engine, "a", "b")
        last = await engine.events.last_sequence()
        async with in_background(clock, engine.events.read(last, wait_s=60)) as task:
            await clock.advance(1)
            await engine.events.trim(before_ms=clock.now_ms())
            await emit(engine, "c")
            page = await finish(task)
        assert (subjects_of(page.events), page.reset) == (["c"], False)

    async def _trim_to_the_newest(self, engine: Engine, clock: FakeClock) -> int:
        """A log of three events, "a", "b" and "c", of which only the last is kept; gives its sequence."""
        await emit(engine, "a", "b", "c")
        await clock.advance(1)
        assert await engine.events.trim(before_ms=clock.now_ms()) == 2
        return await engine.events.last_sequence()


class EventsContract(ReadingContract, TrimmingContract):
    """The whole contract of `ports.events.Events`."""
