"""What an engine that reads in bulk, scans or has a due index must do, to be inherited by its test module."""

from __future__ import annotations

import asyncio

import pytest

from vskill_platform.domain.errors import EngineClosed, InvalidCursor, InvalidInput, InvalidKey
from vskill_platform.ports.commit import Delete, Put
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.kv import (
    Entry,
)
from vskill_platform.testing.builders import (
    collect_due,
    collect_scan,
    error_of,
    numbered_keys,
    put_due,
    put_keys,
    read_value,
)
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.kv_samples import (
    BAD_KEYS,
    BAD_LIMITS,
    BAD_PREFIXES,
    COUNTS,
    DISTINCT_KEYS,
    ENDS,
    FIRST_AFTER_SURROGATES,
    GARBAGE_CURSORS,
    LAST_POINT,
    LONGEST_KEYS,
    ORDERED_KEYS,
    PREFIXES,
    bulk_get_of,
    due_index_of,
    keys_around,
    outcome_of,
    scan_of,
    unexpected,
    value_of,
)


class BulkGetContract:
    """Reading many keys in one round trip."""

    async def test_get_many_gives_entries_in_the_order_of_the_keys(self, engine: Engine) -> None:
        version = (await engine.writes.commit([Put("a", b"1"), Put("b", b"2"), Put("c", b"3")])).version
        found = await bulk_get_of(engine).get_many(["c", "a", "b"])
        assert list(found) == [Entry(b"3", version), Entry(b"1", version), Entry(b"2", version)]

    async def test_get_many_gives_none__when_a_key_is_absent(self, engine: Engine) -> None:
        version = (await engine.writes.commit([Put("b", b"2")])).version
        assert list(await bulk_get_of(engine).get_many(["a", "b", "c"])) == [None, Entry(b"2", version), None]

    async def test_get_many_gives_nothing__when_no_key_is_named(self, engine: Engine) -> None:
        assert list(await bulk_get_of(engine).get_many([])) == []

    async def test_get_many_answers_each_time__when_a_key_comes_twice(self, engine: Engine) -> None:
        version = (await engine.writes.commit([Put("a", b"1")])).version
        found = await bulk_get_of(engine).get_many(["a", "x", "a", "x", "a"])
        assert list(found) == [Entry(b"1", version), None, Entry(b"1", version), None, Entry(b"1", version)]

    async def test_get_many_gives_the_error_in_its_place__when_a_text_cannot_be_a_key(self, engine: Engine) -> None:
        version = (await engine.writes.commit([Put("a", b"1")])).version
        bad = list(BAD_KEYS.values())
        found = await bulk_get_of(engine).get_many(["a", *bad, "x", *bad, "a"])
        assert [type(outcome) for outcome in found[1:-1]] == [
            *[InvalidKey] * len(bad),
            type(None),
            *[InvalidKey] * len(bad),
        ]
        assert found[0] == found[-1] == Entry(b"1", version)

    async def test_get_many_does_not_raise__when_every_key_is_bad(self, engine: Engine) -> None:
        found = await bulk_get_of(engine).get_many(list(BAD_KEYS.values()))
        assert [type(outcome) for outcome in found] == [InvalidKey] * len(BAD_KEYS)

    async def test_get_many_reads_any_number_of_keys(self, engine: Engine) -> None:
        keys = numbered_keys(5000, prefix="p:")
        await put_keys(engine, keys[::2])
        found = await bulk_get_of(engine).get_many([*keys, *keys])
        expected = [key.encode() if position % 2 == 0 else None for position, key in enumerate(keys)]
        assert [value_of(outcome) for outcome in found] == [*expected, *expected]

    async def test_get_many_tells_keys_apart_by_every_byte(self, engine: Engine) -> None:
        keys = [*DISTINCT_KEYS, *(key for key in ORDERED_KEYS if key not in DISTINCT_KEYS), *LONGEST_KEYS]
        await put_keys(engine, keys)
        found = await bulk_get_of(engine).get_many(keys)
        assert [value_of(outcome) for outcome in found] == [key.encode() for key in keys]

    async def test_get_many_gives_none__when_an_entry_has_expired(self, engine: Engine, clock: FakeClock) -> None:
        await engine.writes.commit([Put("a", b"1", ttl_s=10), Put("b", b"2")])
        clock.shift(10)
        assert [value_of(outcome) for outcome in await bulk_get_of(engine).get_many(["a", "b"])] == [None, b"2"]

    async def test_get_many_sees_every_commit_acknowledged_before(self, engine: Engine) -> None:
        for number in range(20):
            version = (await engine.writes.commit([Put("a", b"1"), Put(f"n:{number}", b"2")])).version
            found = await bulk_get_of(engine).get_many(["a", f"n:{number}"])
            assert list(found) == [Entry(b"1", version), Entry(b"2", version)]

    async def test_get_many_raises_engine_closed__when_nothing_can_be_read(self, engine: Engine) -> None:
        await engine.close()
        with pytest.raises(EngineClosed):
            await bulk_get_of(engine).get_many(["a", "b"])


class ScanContract:
    """Reading keys with their values in one pass. That excluded keys are not even read is for an engine's own tests."""

    async def test_scan_gives_every_pair_exactly_once_in_order(self, engine: Engine) -> None:
        keys = {count: numbered_keys(count, prefix=f"p{count}:") for count in COUNTS}
        await put_keys(engine, ["p", "p1", "p;", *(key for group in keys.values() for key in group)])
        for count in COUNTS:
            assert await collect_scan(scan_of(engine), f"p{count}:") == [(key, key.encode()) for key in keys[count]]

    async def test_scan_orders_keys_by_their_bytes(self, engine: Engine) -> None:
        await put_keys(engine, reversed(ORDERED_KEYS))
        assert [key for key, _ in await collect_scan(scan_of(engine), "")] == list(ORDERED_KEYS)

    async def test_scan_gives_keys_that_begin_with_the_prefix(self, engine: Engine) -> None:
        keys = keys_around(PREFIXES)
        await put_keys(engine, keys)
        for prefix in PREFIXES:
            found = [key for key, _ in await collect_scan(scan_of(engine), prefix)]
            assert found == [key for key in keys if key.startswith(prefix)]

    async def test_scan_gives_keys_of_512_bytes(self, engine: Engine) -> None:
        await put_keys(engine, LONGEST_KEYS)
        assert [key for key, _ in await collect_scan(scan_of(engine), "")] == list(LONGEST_KEYS)

    async def test_scan_is_empty_or_refused__when_no_key_can_begin_with_the_prefix(self, engine: Engine) -> None:
        await put_keys(engine, ["a", "b", FIRST_AFTER_SURROGATES])
        outcomes = {name: await outcome_of(collect_scan(scan_of(engine), text)) for name, text in BAD_PREFIXES.items()}
        assert unexpected(outcomes) == []

    async def test_scan_leaves_nothing_out_or_refuses__when_no_key_can_begin_with_exclude(self, engine: Engine) -> None:
        await put_keys(engine, ["a", "b", FIRST_AFTER_SURROGATES])
        everything = await collect_scan(scan_of(engine), "")
        for exclude in BAD_PREFIXES.values():
            outcome = await outcome_of(collect_scan(scan_of(engine), "", exclude=exclude))
            assert outcome in (everything, InvalidKey, InvalidInput)

    async def test_scan_leaves_out_what_begins_with_exclude(self, engine: Engine) -> None:
        under = ["p:", "p:a:1", "p:a:2", "p:b", "p:b:1", "p:b:2", "p:b:22", "p:c:1", *(f"p:{end}" for end in ENDS)]
        await put_keys(engine, [*under, "o", "p", "q:1"])
        excluded = [*under, "p:b:3", "p:a", "p:x", "p", "", "q:", "x", LAST_POINT]
        for exclude in excluded:
            found = [key for key, _ in await collect_scan(scan_of(engine), "p:", exclude=exclude)]
            assert found == [key for key in under if not key.startswith(exclude)]

    async def test_scan_leaves_out_what_begins_with_exclude__when_that_is_most_of_the_store(
        self, engine: Engine
    ) -> None:
        first, last = numbered_keys(1200, prefix="p:a"), numbered_keys(1200, prefix="p:z")
        await put_keys(engine, [*first, *numbered_keys(5000, prefix="p:m"), *last])
        assert [key for key, _ in await collect_scan(scan_of(engine), "p:", exclude="p:m")] == [*first, *last]

    async def test_scan_gives_bounded_chunks(self, engine: Engine) -> None:
        longest: list[int] = []
        for count in (4000, 8000):
            await put_keys(engine, numbered_keys(count, prefix="p:"))
            longest.append(max([len(chunk) async for chunk in scan_of(engine).scan("p:")]))
        assert longest[0] < 4000
        assert longest[0] == longest[1]

    async def test_scan_leaves_out_entries_that_have_expired(self, engine: Engine, clock: FakeClock) -> None:
        keys = numbered_keys(3000, prefix="p:")
        await put_keys(engine, keys)
        await put_keys(engine, [*keys[:1500], *keys[2000::3]], ttl_s=10)
        clock.shift(10)
        expected = sorted({*keys[1500:]} - {*keys[2000::3]})
        assert [key for key, _ in await collect_scan(scan_of(engine), "p:")] == expected

    async def test_scan_gives_the_keys_that_stay__when_others_come_and_go_between_chunks(self, engine: Engine) -> None:
        keys = numbered_keys(4000, prefix="p:")
        await put_keys(engine, keys)
        found: list[str] = []
        goes: set[str] = set()
        async for chunk in scan_of(engine).scan("p:"):
            found.extend(key for key, _ in chunk)
            if len(found) > 3000:
                continue
            going = {key for key in (keys[0], found[-1], *keys[len(found) + 5 : len(found) + 8]) if key not in goes}
            goes |= going
            await engine.writes.commit([*(Delete(key) for key in going), Put(f"{found[-1]}+", b"new")])
        stays = [key for key in keys if key not in goes]
        assert sorted({*found} & {*stays}) == stays
        assert found == sorted(set(found))

    async def test_scan_gives_chunks_of_one_moment__when_a_writer_is_at_work(self, engine: Engine) -> None:
        keys = numbered_keys(50, prefix="p:")
        is_done = asyncio.Event()

        async def write() -> None:
            for number in range(60):
                await engine.writes.commit([Put(key, str(number).encode()) for key in keys])
            is_done.set()

        async def read() -> None:
            while not is_done.is_set():
                async for chunk in scan_of(engine).scan("p:"):
                    assert len({value for _, value in chunk}) == 1
                await asyncio.sleep(0)

        await asyncio.gather(write(), read())

    async def test_scan_sees_every_commit_acknowledged_before(self, engine: Engine) -> None:
        for number in range(20):
            await engine.writes.commit([Put(f"p:{number:02d}", b"1")])
            assert len(await collect_scan(scan_of(engine), "p:")) == number + 1

    async def test_scan_raises_engine_closed__when_the_store_cannot_be_read(self, engine: Engine) -> None:
        await engine.close()
        with pytest.raises(EngineClosed):
            await collect_scan(scan_of(engine), "")

    async def test_scan_raises_engine_closed__when_the_engine_is_closed_between_chunks(self, engine: Engine) -> None:
        await put_keys(engine, numbered_keys(4000, prefix="p:"))
        with pytest.raises(EngineClosed):
            async for _ in scan_of(engine).scan("p:"):
                await engine.close()


class DueIndexContract:
    """Finding what is due without reading what is not."""

    async def test_list_due_orders_by_due_then_key(self, engine: Engine) -> None:
        await put_due(engine, {"p:d": 30, "p:b": 10, "p:c": 20, "p:a": 20, "p:é": 20, "p:😀": 20, "p:\uffff": 20})
        found = await collect_due(due_index_of(engine), "p:", before_ms=100)
        assert [entry.key for entry in found] == ["p:b", "p:a", "p:c", "p:é", "p:\uffff", "p:😀", "p:d"]

    async def test_list_due_gives_due_value_and_version(self, engine: Engine) -> None:
        version = (await engine.writes.commit([Put("p:a", b"1", due_ms=10)])).version
        (found,) = await collect_due(due_index_of(engine), "p:", before_ms=10)
        assert found == ("p:a", 10, Entry(b"1", version))

    async def test_list_due_includes_its_horizon(self, engine: Engine) -> None:
        await put_due(engine, {"p:a": 10, "p:b": 11, "p:c": 12})
        horizons = (9, 10, 11, 12, 2**53)
        assert [len(await collect_due(due_index_of(engine), "p:", before_ms=before)) for before in horizons] == [
            0,
            1,
            2,
            3,
            3,
        ]

    async def test_list_due_goes_by_the_moment_it_is_given__when_the_clock_says_another(
        self, engine: Engine, clock: FakeClock
    ) -> None:
        now_ms = clock.now_ms()
        await put_due(engine, {"p:past": now_ms - 1, "p:future": now_ms + 1000, "p:zero": 0, "p:before 1970": -5})
        found = await collect_due(due_index_of(engine), "p:", before_ms=now_ms + 1000)
        assert [entry.key for entry in found] == ["p:before 1970", "p:zero", "p:past", "p:future"]

    async def test_list_due_gives_only_keys_under_the_prefix(self, engine: Engine) -> None:
        await put_due(engine, dict.fromkeys(["o", "p", "p:a", "p:b", f"p:{LAST_POINT}", "p;", "q"], 10))
        found = await collect_due(due_index_of(engine), "p:", before_ms=10, limit=1)
        assert [entry.key for entry in found] == ["p:a", "p:b", f"p:{LAST_POINT}"]

    async def test_list_due_is_empty_or_refused__when_no_key_can_begin_with_the_prefix(self, engine: Engine) -> None:
        await put_due(engine, dict.fromkeys(["a", "b", FIRST_AFTER_SURROGATES], 10))
        outcomes = {
            name: await outcome_of(collect_due(due_index_of(engine), prefix, before_ms=10))
            for name, prefix in BAD_PREFIXES.items()
        }
        assert unexpected(outcomes) == []

    async def test_list_due_gives_keys_of_512_bytes(self, engine: Engine) -> None:
        await put_due(engine, dict.fromkeys(LONGEST_KEYS, 10))
        assert [entry.key for entry in await collect_due(due_index_of(engine), "", before_ms=10)] == list(LONGEST_KEYS)

    async def test_list_due_gives_every_entry_exactly_once(self, engine: Engine) -> None:
        keys = {count: numbered_keys(count, prefix=f"p{count}:") for count in COUNTS}
        for group in keys.values():
            await put_due(engine, {key: position // 7 for position, key in enumerate(group)})
        for count in COUNTS:
            found = await collect_due(due_index_of(engine), f"p{count}:", before_ms=10_000)
            assert [entry.key for entry in found] == keys[count]

    async def test_list_due_gives_every_entry_exactly_once__when_pages_are_small(self, engine: Engine) -> None:
        keys = numbered_keys(7, prefix="p:")
        await put_due(engine, {**{key: position // 3 for position, key in enumerate(keys)}, "q": 0, "p:later": 50})
        for limit in (1, 2, 3, 6, 7, 1000):
            found = await collect_due(due_index_of(engine), "p:", before_ms=40, limit=limit)
            assert [entry.key for entry in found] == keys

    async def test_list_due_leaves_out_entries_without_a_due(self, engine: Engine) -> None:
        await put_due(engine, {"p:a": None, "p:b": 10})
        assert [entry.key for entry in await collect_due(due_index_of(engine), "p:", before_ms=10)] == ["p:b"]

    async def test_list_due_forgets_an_entry__when_it_is_written_without_a_due(self, engine: Engine) -> None:
        await put_due(engine, {"p:a": 10, "p:b": 10})
        await put_due(engine, {"p:a": None})
        assert [entry.key for entry in await collect_due(due_index_of(engine), "p:", before_ms=10)] == ["p:b"]
        assert await read_value(engine, "p:a") == b"p:a"

    async def test_list_due_forgets_an_entry__when_it_is_deleted(self, engine: Engine) -> None:
        await put_due(engine, {"p:a": 10, "p:b": 10})
        await engine.writes.commit([Delete("p:a")])
        assert [entry.key for entry in await collect_due(due_index_of(engine), "p:", before_ms=10)] == ["p:b"]
        await put_due(engine, {"p:a": None})
        assert [entry.key for entry in await collect_due(due_index_of(engine), "p:", before_ms=10)] == ["p:b"]

    async def test_list_due_gives_an_entry_once__when_it_was_written_with_another_due(self, engine: Engine) -> None:
        for due_ms in (10, 5, 25):
            await put_due(engine, {"p:a": due_ms})
            found = await collect_due(due_index_of(engine), "p:", before_ms=100)
            assert [(entry.key, entry.due_ms) for entry in found] == [("p:a", due_ms)]

    async def test_list_due_leaves_out_entries_that_have_expired(self, engine: Engine, clock: FakeClock) -> None:
        for number in range(9):
            await engine.writes.commit([Put(f"p:{number}", b"", due_ms=10, ttl_s=5 if number % 3 else None)])
        clock.shift(5)
        for limit in (1, 2, 1000):
            found = await collect_due(due_index_of(engine), "p:", before_ms=10, limit=limit)
            assert [entry.key for entry in found] == ["p:0", "p:3", "p:6"]

    async def test_list_due_does_not_give_an_entry_again__when_it_is_re_armed_past_the_horizon(
        self, engine: Engine
    ) -> None:
        keys = numbered_keys(6, prefix="p:")
        await put_due(engine, {key: 10 + position for position, key in enumerate(keys)})
        page = await due_index_of(engine).list_due("p:", before_ms=100, limit=2)
        await put_due(engine, {keys[0]: 101, keys[1]: 500, keys[4]: 101})
        rest = await collect_due(due_index_of(engine), "p:", before_ms=100, cursor=page.cursor, limit=2)
        assert [entry.key for entry in page.entries] == keys[:2]
        assert [entry.key for entry in rest] == [keys[2], keys[3], keys[5]]

    async def test_list_due_gives_the_others_once__when_an_entry_is_re_armed_within_the_horizon(
        self, engine: Engine
    ) -> None:
        keys = numbered_keys(6, prefix="p:")
        await put_due(engine, {key: 10 + position for position, key in enumerate(keys)})
        page = await due_index_of(engine).list_due("p:", before_ms=100, limit=2)
        await put_due(engine, {keys[0]: 50})
        rest = await collect_due(due_index_of(engine), "p:", before_ms=100, cursor=page.cursor, limit=2)
        assert [entry.key for entry in rest if entry.key != keys[0]] == keys[2:]

    async def test_list_due_goes_on__when_what_it_gave_was_deleted(self, engine: Engine) -> None:
        keys = numbered_keys(6, prefix="p:")
        await put_due(engine, dict.fromkeys(keys, 10))
        page = await due_index_of(engine).list_due("p:", before_ms=10, limit=2)
        await engine.writes.commit([Delete(entry.key) for entry in page.entries])
        rest = await collect_due(due_index_of(engine), "p:", before_ms=10, cursor=page.cursor, limit=2)
        assert [entry.key for entry in rest] == keys[2:]

    async def test_list_due_raises_invalid_input__when_the_limit_is_out_of_range(self, engine: Engine) -> None:
        kv = due_index_of(engine)
        raised = {limit: await error_of(kv.list_due("p:", before_ms=10, limit=limit)) for limit in BAD_LIMITS}
        assert raised == dict.fromkeys(BAD_LIMITS, InvalidInput)

    async def test_list_due_raises_invalid_cursor__when_the_cursor_is_garbage(self, engine: Engine) -> None:
        kv = due_index_of(engine)
        raised = {
            name: await error_of(kv.list_due("p:", before_ms=10, cursor=cursor, limit=10))
            for name, cursor in GARBAGE_CURSORS.items()
        }
        assert raised == dict.fromkeys(GARBAGE_CURSORS, InvalidCursor)

    async def test_list_due_raises_invalid_cursor__when_another_listing_gave_it(self, engine: Engine) -> None:
        await put_due(engine, {"p:a": 10, "p:b": 10, "due:p:a": 10, "due:p:b": 10})
        due = await due_index_of(engine).list_due("p:", before_ms=10, limit=1)
        plain = await engine.kv.list("due:p:", limit=1)
        for prefix, cursor in (("p", due.cursor), ("", due.cursor), ("p:", plain.cursor)):
            assert cursor is not None
            with pytest.raises(InvalidCursor):
                await due_index_of(engine).list_due(prefix, before_ms=10, cursor=cursor, limit=1)
        with pytest.raises(InvalidCursor):
            await engine.kv.list("due:p:", cursor=due.cursor)

    async def test_list_due_sees_every_commit_acknowledged_before(self, engine: Engine) -> None:
        for number in range(20):
            await put_due(engine, {f"p:{number:02d}": 10})
            assert len(await collect_due(due_index_of(engine), "p:", before_ms=10)) == number + 1

    async def test_list_due_raises_engine_closed__when_the_store_cannot_be_read(self, engine: Engine) -> None:
        await engine.close()
        with pytest.raises(EngineClosed):
            await due_index_of(engine).list_due("", before_ms=10, limit=1)
