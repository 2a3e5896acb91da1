"""The suites for reading records: `KVContract` for every engine, the others for an engine that has the capability.

An engine's test module inherits a class and provides two fixtures: `clock`, a FakeClock, and `engine`, opened fresh with
that clock for each test. That a store which cannot be read raises instead of answering "absent" is shown here only for a
closed engine; an engine's own tests inject the other faults.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Iterable, Mapping

import pytest

from vskill_platform.domain.errors import EngineClosed, InvalidCursor, InvalidInput, InvalidKey, ValueTooLarge
from vskill_platform.ports.commit import ABSENT, Delete, Put
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.kv import (
    MAX_KEY_BYTES,
    MAX_PAGE_KEYS,
    MAX_VALUE_BYTES,
    BulkGet,
    DueIndex,
    Entry,
    Scan,
)
from vskill_platform.testing.builders import (
    collect_due,
    collect_keys,
    collect_scan,
    error_of,
    numbered_keys,
    put_due,
    put_keys,
    read_value,
)
from vskill_platform.testing.clock import FakeClock

LAST_BEFORE_SURROGATES = "\ud7ff"
FIRST_AFTER_SURROGATES = "\ue000"
LAST_POINT = "\U0010ffff"
ENDS = (LAST_BEFORE_SURROGATES, FIRST_AFTER_SURROGATES, LAST_POINT)
# In their order: characters of one, two and four bytes, and the last of all keys.
LONGEST_KEYS = tuple(char * (MAX_KEY_BYTES // len(char.encode())) for char in ("a", "é", "😀", LAST_POINT))
PREFIXES = (
    *("", "a", "A", "%", "_", "*", "[", "\\", "'", "é", "😀", "a:", "sub:"),
    *(f"{stem}{end}" for stem in ("", "a", LAST_BEFORE_SURROGATES, LAST_POINT) for end in ENDS),
)
BAD_KEYS = {
    "empty": "",
    "513 bytes": "a" * (MAX_KEY_BYTES + 1),
    "513 bytes in 257 characters": "é" * (MAX_KEY_BYTES // 2) + "a",
    "NUL": "\0",
    "NUL inside": "a\0b",
    "lone surrogate": "a\ud800",
}
BAD_PREFIXES = {name: key for name, key in BAD_KEYS.items() if key}
# Each is a key of its own, whatever a collation, a pattern language or a normaliser would make of it.
DISTINCT_KEYS = (
    "a",
    "A",
    "a ",
    " a",
    "é",
    "e\u0301",
    "ß",
    "ss",
    "%",
    "_",
    "*",
    "[a]",
    "?",
    "'",
    '"',
    "\\",
    "\n",
    "\ufeff",
)
ORDERED_KEYS = (
    "\x01",
    "\n",
    " ",
    "0",
    "A",
    "Z",
    "a",
    "a\x01",
    "aa",
    "b",
    "\x7f",
    "\x80",
    "é",
    "ÿ",
    "Ā",
    "\u07ff",
    "ࠀ",
    "日本",
    LAST_BEFORE_SURROGATES,
    FIRST_AFTER_SURROGATES,
    "\uffff",
    "𐀀",
    "😀",
    LAST_POINT,
    LAST_POINT * 2,
)
GARBAGE_CURSORS = {
    "empty": "",
    "words": "not a cursor",
    "NUL": "\0",
    "lone surrogate": "\ud800",
    "not ASCII": "日本語",
    "long": "A" * 100_000,
    "empty list": base64.urlsafe_b64encode(b"[]").decode(),
    "null": base64.urlsafe_b64encode(b"null").decode(),
    "wrong type inside": base64.urlsafe_b64encode(b'["p:", {"p:": 1}]').decode(),
    "deeply nested": base64.urlsafe_b64encode(b"[" * 100_000).decode(),
}
BAD_LIMITS = (0, -1, MAX_PAGE_KEYS + 1)
COUNTS = (0, 1, 999, 1000, 1001, 2500)


class KVContract:
    """What every engine can do: `get` and `list`, and what holds of every read."""

    async def test_get_returns_none__when_the_key_was_never_written(self, engine: Engine) -> None:
        assert await engine.kv.get("absent") is None

    async def test_get_returns_the_value_and_the_version_of_its_commit(self, engine: Engine) -> None:
        committed = await engine.writes.commit([Put("a", b"1"), Put("b", b"2")])
        assert await engine.kv.get("a") == Entry(b"1", committed.version)
        assert await engine.kv.get("b") == Entry(b"2", committed.version)

    async def test_get_returns_the_newest_value__when_a_key_is_written_again(self, engine: Engine) -> None:
        await engine.writes.commit([Put("a", b"1")])
        second = await engine.writes.commit([Put("a", b"2")])
        assert await engine.kv.get("a") == Entry(b"2", second.version)

    async def test_get_returns_none__when_the_key_was_deleted(self, engine: Engine) -> None:
        await engine.writes.commit([Put("a", b"1")])
        await engine.writes.commit([Delete("a")])
        assert await engine.kv.get("a") is None

    async def test_get_returns_the_bytes_unchanged(self, engine: Engine) -> None:
        for value in (b"", b"\0", b"\xff\xfe", bytes(range(256)), b"x" * 100_000):
            await engine.writes.commit([Put("a", value)])
            assert await read_value(engine, "a") == value

    async def test_value_is_stored_whole__when_it_has_25_mib(self, engine: Engine) -> None:
        value = bytes(MAX_VALUE_BYTES - 1) + b"x"
        await engine.writes.commit([Put("a", value)])
        assert await read_value(engine, "a") == value

    async def test_value_is_refused__when_it_has_one_byte_more(self, engine: Engine) -> None:
        with pytest.raises(ValueTooLarge):
            await engine.writes.commit([Put("a", bytes(MAX_VALUE_BYTES + 1))])
        assert await engine.kv.get("a") is None

    async def test_key_is_accepted__when_it_has_512_bytes(self, engine: Engine) -> None:
        await put_keys(engine, LONGEST_KEYS)
        assert [await read_value(engine, key) for key in LONGEST_KEYS] == [key.encode() for key in LONGEST_KEYS]
        assert [await collect_keys(engine.kv, key) for key in LONGEST_KEYS] == [[key] for key in LONGEST_KEYS]
        assert await collect_keys(engine.kv, "") == list(LONGEST_KEYS)

    async def test_get_raises_invalid_key__when_the_text_cannot_be_a_key(self, engine: Engine) -> None:
        raised = {name: await error_of(engine.kv.get(key)) for name, key in BAD_KEYS.items()}
        assert raised == dict.fromkeys(BAD_KEYS, InvalidKey)

    async def test_keys_are_told_apart_by_every_byte(self, engine: Engine) -> None:
        await put_keys(engine, DISTINCT_KEYS)
        assert [await read_value(engine, key) for key in DISTINCT_KEYS] == [key.encode() for key in DISTINCT_KEYS]
        assert sorted(await collect_keys(engine.kv, "")) == sorted(DISTINCT_KEYS)

    async def test_version_is_never_reused__when_a_key_goes_and_comes(self, engine: Engine, clock: FakeClock) -> None:
        versions: list[int] = []
        for _ in range(5):
            versions.append((await engine.writes.commit([Put("a", b"1", if_version=ABSENT)])).version)
            await engine.writes.commit([Delete("a")])
            versions.append((await engine.writes.commit([Put("a", b"1", ttl_s=1)])).version)
            clock.shift(2)
            await engine.writes.purge()
        assert versions == sorted(set(versions))

    async def test_entry_is_absent_to_get_and_list__when_its_ttl_has_passed(
        self, engine: Engine, clock: FakeClock
    ) -> None:
        await engine.writes.commit(
            [Put("p:short", b"1", ttl_s=10), Put("p:long", b"2", ttl_s=20), Put("p:plain", b"3")]
        )
        clock.shift(9.999)
        assert await collect_keys(engine.kv, "p:") == ["p:long", "p:plain", "p:short"]
        clock.shift(0.001)
        assert await engine.kv.get("p:short") is None
        assert await collect_keys(engine.kv, "p:") == ["p:long", "p:plain"]
        assert await read_value(engine, "p:long") == b"2"

    async def test_entry_stays__when_it_is_written_again_without_a_ttl(self, engine: Engine, clock: FakeClock) -> None:
        await engine.writes.commit([Put("a", b"1", ttl_s=10)])
        await engine.writes.commit([Put("a", b"2")])
        clock.shift(1000)
        assert await read_value(engine, "a") == b"2"
        assert await collect_keys(engine.kv, "") == ["a"]

    async def test_entry_comes_back__when_it_is_written_after_its_ttl(self, engine: Engine, clock: FakeClock) -> None:
        await engine.writes.commit([Put("a", b"1", ttl_s=10)])
        clock.shift(10)
        await engine.writes.commit([Put("a", b"2", ttl_s=10)])
        assert await read_value(engine, "a") == b"2"
        assert await collect_keys(engine.kv, "") == ["a"]

    async def test_read_sees_every_commit_acknowledged_before(self, engine: Engine) -> None:
        for number in range(20):
            value = str(number).encode()
            await engine.writes.commit([Put("a", value), Put(f"n:{number:02d}", value)])
            assert await read_value(engine, "a") == value
            assert len(await collect_keys(engine.kv, "n:")) == number + 1

    async def test_read_raises_engine_closed__when_the_store_cannot_be_read(self, engine: Engine) -> None:
        await engine.close()
        with pytest.raises(EngineClosed):
            await engine.kv.get("a")
        with pytest.raises(EngineClosed):
            await engine.kv.list("")

    async def test_list_orders_keys_by_their_bytes(self, engine: Engine) -> None:
        await put_keys(engine, reversed(ORDERED_KEYS))
        assert list(ORDERED_KEYS) == sorted(ORDERED_KEYS, key=str.encode)
        assert await collect_keys(engine.kv, "") == list(ORDERED_KEYS)
        assert await collect_keys(engine.kv, "", limit=1) == list(ORDERED_KEYS)

    async def test_list_returns_keys_that_begin_with_the_prefix(self, engine: Engine) -> None:
        keys = _keys_around(PREFIXES)
        await put_keys(engine, keys)
        for prefix in PREFIXES:
            under = [key for key in keys if key.startswith(prefix)]
            assert await collect_keys(engine.kv, prefix) == under
            assert await collect_keys(engine.kv, prefix, limit=1) == under

    async def test_list_is_empty_or_refused__when_no_key_can_begin_with_the_prefix(self, engine: Engine) -> None:
        await put_keys(engine, ["a", "b", FIRST_AFTER_SURROGATES])
        outcomes = {name: await _outcome(collect_keys(engine.kv, text)) for name, text in BAD_PREFIXES.items()}
        assert _unexpected(outcomes) == []

    async def test_list_gives_every_key_exactly_once(self, engine: Engine) -> None:
        keys = {count: numbered_keys(count, prefix=f"p{count}:") for count in COUNTS}
        await put_keys(engine, ["p", "p1", "p;", *(key for group in keys.values() for key in group)])
        assert {count: await collect_keys(engine.kv, f"p{count}:") for count in COUNTS} == keys

    async def test_list_gives_every_key_exactly_once__when_pages_are_small(self, engine: Engine) -> None:
        keys = numbered_keys(7, prefix="p:")
        await put_keys(engine, [*keys, "o", "q"])
        for limit in (1, 2, 3, 6, 7, 8, 1000):
            assert await collect_keys(engine.kv, "p:", limit=limit) == keys

    async def test_list_gives_at_most_1000_keys__when_no_limit_is_named(self, engine: Engine) -> None:
        keys = numbered_keys(1001, prefix="p:")
        await put_keys(engine, keys)
        page = await engine.kv.list("p:")
        assert page.keys == keys[:1000]
        assert not page.complete

    async def test_list_goes_on_with_its_cursor__when_the_limit_changes(self, engine: Engine) -> None:
        keys = numbered_keys(10, prefix="p:")
        await put_keys(engine, keys)
        page = await engine.kv.list("p:", limit=3)
        assert await collect_keys(engine.kv, "p:", cursor=page.cursor, limit=1000) == keys[3:]

    async def test_list_gives_every_live_key__when_others_among_them_have_expired(
        self, engine: Engine, clock: FakeClock
    ) -> None:
        keys = numbered_keys(60, prefix="p:")
        await put_keys(engine, keys)
        await put_keys(engine, [*keys[:20], *keys[25:40:2], *keys[50:]], ttl_s=1)
        clock.shift(1)
        live = [*keys[20:25], *keys[26:40:2], *keys[40:50]]
        for limit in (1, 2, 7, 1000):
            assert await collect_keys(engine.kv, "p:", limit=limit) == live

    async def test_list_raises_invalid_input__when_the_limit_is_out_of_range(self, engine: Engine) -> None:
        raised = {limit: await error_of(engine.kv.list("p:", limit=limit)) for limit in BAD_LIMITS}
        assert raised == dict.fromkeys(BAD_LIMITS, InvalidInput)

    async def test_list_raises_invalid_cursor__when_the_cursor_is_garbage(self, engine: Engine) -> None:
        raised = {name: await error_of(engine.kv.list("p:", cursor=text)) for name, text in GARBAGE_CURSORS.items()}
        assert raised == dict.fromkeys(GARBAGE_CURSORS, InvalidCursor)

    async def test_list_raises_invalid_cursor__when_another_prefix_gave_it(self, engine: Engine) -> None:
        await put_keys(engine, numbered_keys(3, prefix="p:"))
        cursor = (await engine.kv.list("p:", limit=1)).cursor
        others = ("", "p", "p:0", "q:")
        raised = {prefix: await error_of(engine.kv.list(prefix, cursor=cursor)) for prefix in others}
        assert raised == dict.fromkeys(others, InvalidCursor)

    async def test_list_raises_invalid_cursor__when_its_cursor_was_altered(self, engine: Engine) -> None:
        await put_keys(engine, numbered_keys(3, prefix="p:"))
        cursor = (await engine.kv.list("p:", limit=1)).cursor
        assert cursor is not None
        altered = {"cut": cursor[:-4], "lengthened": f"{cursor}!", "led in": f"!{cursor}", "doubled": cursor * 2}
        raised = {name: await error_of(engine.kv.list("p:", cursor=text)) for name, text in altered.items()}
        assert raised == dict.fromkeys(altered, InvalidCursor)

    async def test_list_gives_the_keys_that_stay__when_others_come_and_go_between_pages(self, engine: Engine) -> None:
        keys = numbered_keys(30, prefix="p:")
        await put_keys(engine, keys)
        goes = {keys[3], keys[4], keys[5], keys[20], keys[29]}
        page = await engine.kv.list("p:", limit=5)
        comes = [f"{keys[2]}+", f"{keys[4]}+", f"{keys[22]}+", "p:zzz"]
        await engine.writes.commit([*(Delete(key) for key in goes), *(Put(key, b"new") for key in comes)])
        rest = await collect_keys(engine.kv, "p:", cursor=page.cursor, limit=5)
        listed = [*page.keys, *rest]
        assert [key for key in listed if key in keys and key not in goes] == [key for key in keys if key not in goes]
        assert listed == sorted(set(listed))

    async def test_list_gives_a_key_once__when_it_is_written_again_between_pages(self, engine: Engine) -> None:
        keys = numbered_keys(9, prefix="p:")
        await put_keys(engine, keys)
        page = await engine.kv.list("p:", limit=4)
        await put_keys(engine, reversed(keys))
        assert [*page.keys, *await collect_keys(engine.kv, "p:", cursor=page.cursor, limit=4)] == keys

    async def test_list_ends__when_every_remaining_key_has_gone(self, engine: Engine) -> None:
        keys = numbered_keys(9, prefix="p:")
        await put_keys(engine, keys)
        page = await engine.kv.list("p:", limit=4)
        await engine.writes.commit([Delete(key) for key in keys])
        assert await collect_keys(engine.kv, "p:", cursor=page.cursor) == []


class BulkGetContract:
    """Reading many keys in one round trip."""

    async def test_get_many_gives_entries_in_the_order_of_the_keys(self, engine: Engine) -> None:
        version = (await engine.writes.commit([Put("a", b"1"), Put("b", b"2"), Put("c", b"3")])).version
        found = await _bulk(engine).get_many(["c", "a", "b"])
        assert list(found) == [Entry(b"3", version), Entry(b"1", version), Entry(b"2", version)]

    async def test_get_many_gives_none__when_a_key_is_absent(self, engine: Engine) -> None:
        version = (await engine.writes.commit([Put("b", b"2")])).version
        assert list(await _bulk(engine).get_many(["a", "b", "c"])) == [None, Entry(b"2", version), None]

    async def test_get_many_gives_nothing__when_no_key_is_named(self, engine: Engine) -> None:
        assert list(await _bulk(engine).get_many([])) == []

    async def test_get_many_answers_each_time__when_a_key_comes_twice(self, engine: Engine) -> None:
        version = (await engine.writes.commit([Put("a", b"1")])).version
        found = await _bulk(engine).get_many(["a", "x", "a", "x", "a"])
        assert list(found) == [Entry(b"1", version), None, Entry(b"1", version), None, Entry(b"1", version)]

    async def test_get_many_gives_the_error_in_its_place__when_a_text_cannot_be_a_key(self, engine: Engine) -> None:
        version = (await engine.writes.commit([Put("a", b"1")])).version
        bad = list(BAD_KEYS.values())
        found = await _bulk(engine).get_many(["a", *bad, "x", *bad, "a"])
        assert [type(outcome) for outcome in found[1:-1]] == [
            *[InvalidKey] * len(bad),
            type(None),
            *[InvalidKey] * len(bad),
        ]
        assert found[0] == found[-1] == Entry(b"1", version)

    async def test_get_many_does_not_raise__when_every_key_is_bad(self, engine: Engine) -> None:
        found = await _bulk(engine).get_many(list(BAD_KEYS.values()))
        assert [type(outcome) for outcome in found] == [InvalidKey] * len(BAD_KEYS)

    async def test_get_many_reads_any_number_of_keys(self, engine: Engine) -> None:
        keys = numbered_keys(5000, prefix="p:")
        await put_keys(engine, keys[::2])
        found = await _bulk(engine).get_many([*keys, *keys])
        expected = [key.encode() if position % 2 == 0 else None for position, key in enumerate(keys)]
        assert [_value(outcome) for outcome in found] == [*expected, *expected]

    async def test_get_many_tells_keys_apart_by_every_byte(self, engine: Engine) -> None:
        keys = [*DISTINCT_KEYS, *(key for key in ORDERED_KEYS if key not in DISTINCT_KEYS), *LONGEST_KEYS]
        await put_keys(engine, keys)
        found = await _bulk(engine).get_many(keys)
        assert [_value(outcome) for outcome in found] == [key.encode() for key in keys]

    async def test_get_many_gives_none__when_an_entry_has_expired(self, engine: Engine, clock: FakeClock) -> None:
        await engine.writes.commit([Put("a", b"1", ttl_s=10), Put("b", b"2")])
        clock.shift(10)
        assert [_value(outcome) for outcome in await _bulk(engine).get_many(["a", "b"])] == [None, b"2"]

    async def test_get_many_sees_every_commit_acknowledged_before(self, engine: Engine) -> None:
        for number in range(20):
            version = (await engine.writes.commit([Put("a", b"1"), Put(f"n:{number}", b"2")])).version
            found = await _bulk(engine).get_many(["a", f"n:{number}"])
            assert list(found) == [Entry(b"1", version), Entry(b"2", version)]

    async def test_get_many_raises_engine_closed__when_nothing_can_be_read(self, engine: Engine) -> None:
        await engine.close()
        with pytest.raises(EngineClosed):
            await _bulk(engine).get_many(["a", "b"])


class ScanContract:
    """Reading keys with their values in one pass. That excluded keys are not even read is for an engine's own tests."""

    async def test_scan_gives_every_pair_exactly_once_in_order(self, engine: Engine) -> None:
        keys = {count: numbered_keys(count, prefix=f"p{count}:") for count in COUNTS}
        await put_keys(engine, ["p", "p1", "p;", *(key for group in keys.values() for key in group)])
        for count in COUNTS:
            assert await collect_scan(_scan(engine), f"p{count}:") == [(key, key.encode()) for key in keys[count]]

    async def test_scan_orders_keys_by_their_bytes(self, engine: Engine) -> None:
        await put_keys(engine, reversed(ORDERED_KEYS))
        assert [key for key, _ in await collect_scan(_scan(engine), "")] == list(ORDERED_KEYS)

    async def test_scan_gives_keys_that_begin_with_the_prefix(self, engine: Engine) -> None:
        keys = _keys_around(PREFIXES)
        await put_keys(engine, keys)
        for prefix in PREFIXES:
            found = [key for key, _ in await collect_scan(_scan(engine), prefix)]
            assert found == [key for key in keys if key.startswith(prefix)]

    async def test_scan_gives_keys_of_512_bytes(self, engine: Engine) -> None:
        await put_keys(engine, LONGEST_KEYS)
        assert [key for key, _ in await collect_scan(_scan(engine), "")] == list(LONGEST_KEYS)

    async def test_scan_is_empty_or_refused__when_no_key_can_begin_with_the_prefix(self, engine: Engine) -> None:
        await put_keys(engine, ["a", "b", FIRST_AFTER_SURROGATES])
        outcomes = {name: await _outcome(collect_scan(_scan(engine), text)) for name, text in BAD_PREFIXES.items()}
        assert _unexpected(outcomes) == []

    async def test_scan_leaves_nothing_out_or_refuses__when_no_key_can_begin_with_exclude(self, engine: Engine) -> None:
        await put_keys(engine, ["a", "b", FIRST_AFTER_SURROGATES])
        everything = await collect_scan(_scan(engine), "")
        for exclude in BAD_PREFIXES.values():
            outcome = await _outcome(collect_scan(_scan(engine), "", exclude=exclude))
            assert outcome in (everything, InvalidKey, InvalidInput)

    async def test_scan_leaves_out_what_begins_with_exclude(self, engine: Engine) -> None:
        under = ["p:", "p:a:1", "p:a:2", "p:b", "p:b:1", "p:b:2", "p:b:22", "p:c:1", *(f"p:{end}" for end in ENDS)]
        await put_keys(engine, [*under, "o", "p", "q:1"])
        excluded = [*under, "p:b:3", "p:a", "p:x", "p", "", "q:", "x", LAST_POINT]
        for exclude in excluded:
            found = [key for key, _ in await collect_scan(_scan(engine), "p:", exclude=exclude)]
            assert found == [key for key in under if not key.startswith(exclude)]

    async def test_scan_leaves_out_what_begins_with_exclude__when_that_is_most_of_the_store(
        self, engine: Engine
    ) -> None:
        first, last = numbered_keys(1200, prefix="p:a"), numbered_keys(1200, prefix="p:z")
        await put_keys(engine, [*first, *numbered_keys(5000, prefix="p:m"), *last])
        assert [key for key, _ in await collect_scan(_scan(engine), "p:", exclude="p:m")] == [*first, *last]

    async def test_scan_gives_bounded_chunks(self, engine: Engine) -> None:
        longest: list[int] = []
        for count in (4000, 8000):
            await put_keys(engine, numbered_keys(count, prefix="p:"))
            longest.append(max([len(chunk) async for chunk in _scan(engine).scan("p:")]))
        assert longest[0] < 4000
        assert longest[0] == longest[1]

    async def test_scan_leaves_out_entries_that_have_expired(self, engine: Engine, clock: FakeClock) -> None:
        keys = numbered_keys(3000, prefix="p:")
        await put_keys(engine, keys)
        await put_keys(engine, [*keys[:1500], *keys[2000::3]], ttl_s=10)
        clock.shift(10)
        expected = sorted({*keys[1500:]} - {*keys[2000::3]})
        assert [key for key, _ in await collect_scan(_scan(engine), "p:")] == expected

    async def test_scan_gives_the_keys_that_stay__when_others_come_and_go_between_chunks(self, engine: Engine) -> None:
        keys = numbered_keys(4000, prefix="p:")
        await put_keys(engine, keys)
        found: list[str] = []
        goes: set[str] = set()
        async for chunk in _scan(engine).scan("p:"):
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
                async for chunk in _scan(engine).scan("p:"):
                    assert len({value for _, value in chunk}) == 1
                await asyncio.sleep(0)

        await asyncio.gather(write(), read())

    async def test_scan_sees_every_commit_acknowledged_before(self, engine: Engine) -> None:
        for number in range(20):
            await engine.writes.commit([Put(f"p:{number:02d}", b"1")])
            assert len(await collect_scan(_scan(engine), "p:")) == number + 1

    async def test_scan_raises_engine_closed__when_the_store_cannot_be_read(self, engine: Engine) -> None:
        await engine.close()
        with pytest.raises(EngineClosed):
            await collect_scan(_scan(engine), "")

    async def test_scan_raises_engine_closed__when_the_engine_is_closed_between_chunks(self, engine: Engine) -> None:
        await put_keys(engine, numbered_keys(4000, prefix="p:"))
        with pytest.raises(EngineClosed):
            async for _ in _scan(engine).scan("p:"):
                await engine.close()


class DueIndexContract:
    """Finding what is due without reading what is not."""

    async def test_list_due_orders_by_due_then_key(self, engine: Engine) -> None:
        await put_due(engine, {"p:d": 30, "p:b": 10, "p:c": 20, "p:a": 20, "p:é": 20, "p:😀": 20, "p:\uffff": 20})
        found = await collect_due(_due(engine), "p:", before_ms=100)
        assert [entry.key for entry in found] == ["p:b", "p:a", "p:c", "p:é", "p:\uffff", "p:😀", "p:d"]

    async def test_list_due_gives_due_value_and_version(self, engine: Engine) -> None:
        version = (await engine.writes.commit([Put("p:a", b"1", due_ms=10)])).version
        (found,) = await collect_due(_due(engine), "p:", before_ms=10)
        assert found == ("p:a", 10, Entry(b"1", version))

    async def test_list_due_includes_its_horizon(self, engine: Engine) -> None:
        await put_due(engine, {"p:a": 10, "p:b": 11, "p:c": 12})
        horizons = (9, 10, 11, 12, 2**53)
        assert [len(await collect_due(_due(engine), "p:", before_ms=before)) for before in horizons] == [0, 1, 2, 3, 3]

    async def test_list_due_goes_by_the_moment_it_is_given__when_the_clock_says_another(
        self, engine: Engine, clock: FakeClock
    ) -> None:
        now_ms = clock.now_ms()
        await put_due(engine, {"p:past": now_ms - 1, "p:future": now_ms + 1000, "p:zero": 0, "p:before 1970": -5})
        found = await collect_due(_due(engine), "p:", before_ms=now_ms + 1000)
        assert [entry.key for entry in found] == ["p:before 1970", "p:zero", "p:past", "p:future"]

    async def test_list_due_gives_only_keys_under_the_prefix(self, engine: Engine) -> None:
        await put_due(engine, dict.fromkeys(["o", "p", "p:a", "p:b", f"p:{LAST_POINT}", "p;", "q"], 10))
        found = await collect_due(_due(engine), "p:", before_ms=10, limit=1)
        assert [entry.key for entry in found] == ["p:a", "p:b", f"p:{LAST_POINT}"]

    async def test_list_due_is_empty_or_refused__when_no_key_can_begin_with_the_prefix(self, engine: Engine) -> None:
        await put_due(engine, dict.fromkeys(["a", "b", FIRST_AFTER_SURROGATES], 10))
        outcomes = {
            name: await _outcome(collect_due(_due(engine), prefix, before_ms=10))
            for name, prefix in BAD_PREFIXES.items()
        }
        assert _unexpected(outcomes) == []

    async def test_list_due_gives_keys_of_512_bytes(self, engine: Engine) -> None:
        await put_due(engine, dict.fromkeys(LONGEST_KEYS, 10))
        assert [entry.key for entry in await collect_due(_due(engine), "", before_ms=10)] == list(LONGEST_KEYS)

    async def test_list_due_gives_every_entry_exactly_once(self, engine: Engine) -> None:
        keys = {count: numbered_keys(count, prefix=f"p{count}:") for count in COUNTS}
        for group in keys.values():
            await put_due(engine, {key: position // 7 for position, key in enumerate(group)})
        for count in COUNTS:
            found = await collect_due(_due(engine), f"p{count}:", before_ms=10_000)
            assert [entry.key for entry in found] == keys[count]

    async def test_list_due_gives_every_entry_exactly_once__when_pages_are_small(self, engine: Engine) -> None:
        keys = numbered_keys(7, prefix="p:")
        await put_due(engine, {**{key: position // 3 for position, key in enumerate(keys)}, "q": 0, "p:later": 50})
        for limit in (1, 2, 3, 6, 7, 1000):
            found = await collect_due(_due(engine), "p:", before_ms=40, limit=limit)
            assert [entry.key for entry in found] == keys

    async def test_list_due_leaves_out_entries_without_a_due(self, engine: Engine) -> None:
        await put_due(engine, {"p:a": None, "p:b": 10})
        assert [entry.key for entry in await collect_due(_due(engine), "p:", before_ms=10)] == ["p:b"]

    async def test_list_due_forgets_an_entry__when_it_is_written_without_a_due(self, engine: Engine) -> None:
        await put_due(engine, {"p:a": 10, "p:b": 10})
        await put_due(engine, {"p:a": None})
        assert [entry.key for entry in await collect_due(_due(engine), "p:", before_ms=10)] == ["p:b"]
        assert await read_value(engine, "p:a") == b"p:a"

    async def test_list_due_forgets_an_entry__when_it_is_deleted(self, engine: Engine) -> None:
        await put_due(engine, {"p:a": 10, "p:b": 10})
        await engine.writes.commit([Delete("p:a")])
        assert [entry.key for entry in await collect_due(_due(engine), "p:", before_ms=10)] == ["p:b"]
        await put_due(engine, {"p:a": None})
        assert [entry.key for entry in await collect_due(_due(engine), "p:", before_ms=10)] == ["p:b"]

    async def test_list_due_gives_an_entry_once__when_it_was_written_with_another_due(self, engine: Engine) -> None:
        for due_ms in (10, 5, 25):
            await put_due(engine, {"p:a": due_ms})
            found = await collect_due(_due(engine), "p:", before_ms=100)
            assert [(entry.key, entry.due_ms) for entry in found] == [("p:a", due_ms)]

    async def test_list_due_leaves_out_entries_that_have_expired(self, engine: Engine, clock: FakeClock) -> None:
        for number in range(9):
            await engine.writes.commit([Put(f"p:{number}", b"", due_ms=10, ttl_s=5 if number % 3 else None)])
        clock.shift(5)
        for limit in (1, 2, 1000):
            found = await collect_due(_due(engine), "p:", before_ms=10, limit=limit)
            assert [entry.key for entry in found] == ["p:0", "p:3", "p:6"]

    async def test_list_due_does_not_give_an_entry_again__when_it_is_re_armed_past_the_horizon(
        self, engine: Engine
    ) -> None:
        keys = numbered_keys(6, prefix="p:")
        await put_due(engine, {key: 10 + position for position, key in enumerate(keys)})
        page = await _due(engine).list_due("p:", before_ms=100, limit=2)
        await put_due(engine, {keys[0]: 101, keys[1]: 500, keys[4]: 101})
        rest = await collect_due(_due(engine), "p:", before_ms=100, cursor=page.cursor, limit=2)
        assert [entry.key for entry in page.entries] == keys[:2]
        assert [entry.key for entry in rest] == [keys[2], keys[3], keys[5]]

    async def test_list_due_gives_the_others_once__when_an_entry_is_re_armed_within_the_horizon(
        self, engine: Engine
    ) -> None:
        keys = numbered_keys(6, prefix="p:")
        await put_due(engine, {key: 10 + position for position, key in enumerate(keys)})
        page = await _due(engine).list_due("p:", before_ms=100, limit=2)
        await put_due(engine, {keys[0]: 50})
        rest = await collect_due(_due(engine), "p:", before_ms=100, cursor=page.cursor, limit=2)
        assert [entry.key for entry in rest if entry.key != keys[0]] == keys[2:]

    async def test_list_due_goes_on__when_what_it_gave_was_deleted(self, engine: Engine) -> None:
        keys = numbered_keys(6, prefix="p:")
        await put_due(engine, dict.fromkeys(keys, 10))
        page = await _due(engine).list_due("p:", before_ms=10, limit=2)
        await engine.writes.commit([Delete(entry.key) for entry in page.entries])
        rest = await collect_due(_due(engine), "p:", before_ms=10, cursor=page.cursor, limit=2)
        assert [entry.key for entry in rest] == keys[2:]

    async def test_list_due_raises_invalid_input__when_the_limit_is_out_of_range(self, engine: Engine) -> None:
        kv = _due(engine)
        raised = {limit: await error_of(kv.list_due("p:", before_ms=10, limit=limit)) for limit in BAD_LIMITS}
        assert raised == dict.fromkeys(BAD_LIMITS, InvalidInput)

    async def test_list_due_raises_invalid_cursor__when_the_cursor_is_garbage(self, engine: Engine) -> None:
        kv = _due(engine)
        raised = {
            name: await error_of(kv.list_due("p:", before_ms=10, cursor=cursor, limit=10))
            for name, cursor in GARBAGE_CURSORS.items()
        }
        assert raised == dict.fromkeys(GARBAGE_CURSORS, InvalidCursor)

    async def test_list_due_raises_invalid_cursor__when_another_listing_gave_it(self, engine: Engine) -> None:
        await put_due(engine, {"p:a": 10, "p:b": 10, "due:p:a": 10, "due:p:b": 10})
        due = await _due(engine).list_due("p:", before_ms=10, limit=1)
        plain = await engine.kv.list("due:p:", limit=1)
        for prefix, cursor in (("p", due.cursor), ("", due.cursor), ("p:", plain.cursor)):
            assert cursor is not None
            with pytest.raises(InvalidCursor):
                await _due(engine).list_due(prefix, before_ms=10, cursor=cursor, limit=1)
        with pytest.raises(InvalidCursor):
            await engine.kv.list("due:p:", cursor=due.cursor)

    async def test_list_due_sees_every_commit_acknowledged_before(self, engine: Engine) -> None:
        for number in range(20):
            await put_due(engine, {f"p:{number:02d}": 10})
            assert len(await collect_due(_due(engine), "p:", before_ms=10)) == number + 1

    async def test_list_due_raises_engine_closed__when_the_store_cannot_be_read(self, engine: Engine) -> None:
        await engine.close()
        with pytest.raises(EngineClosed):
            await _due(engine).list_due("", before_ms=10, limit=1)


def _keys_around(prefixes: Iterable[str]) -> list[str]:
    """Keys that begin with each prefix, and keys just before and after them, in order."""
    keys: set[str] = set()
    for prefix in filter(None, prefixes):
        before = prefix[:-1] + _neighbour(prefix[-1], -1)
        after = prefix[:-1] + _neighbour(prefix[-1], +1)
        under = (prefix, f"{prefix}%", f"{prefix}a", f"{prefix}\u0301", f"{prefix}{LAST_POINT}")
        keys |= {*under, before, f"{before}{LAST_POINT}", after, f"x{prefix}"}
    return sorted(keys)


def _neighbour(char: str, step: int) -> str:
    """The character before or after, leaping over the surrogates; the last one is its own successor."""
    point = min(ord(char) + step, ord(LAST_POINT))
    return {0xD800: FIRST_AFTER_SURROGATES, 0xDFFF: LAST_BEFORE_SURROGATES}.get(point, chr(point))


async def _outcome(call: Awaitable[object]) -> object:
    """What a call returns, or the type of what it raises."""
    try:
        return await call
    except Exception as error:
        return type(error)


def _unexpected(outcomes: Mapping[str, object]) -> list[str]:
    """The names of those that neither found nothing nor refused."""
    return [name for name, outcome in outcomes.items() if outcome not in ([], InvalidKey, InvalidInput)]


def _bulk(engine: Engine) -> BulkGet:
    assert isinstance(engine.kv, BulkGet)
    return engine.kv


def _scan(engine: Engine) -> Scan:
    assert isinstance(engine.kv, Scan)
    return engine.kv


def _due(engine: Engine) -> DueIndex:
    assert isinstance(engine.kv, DueIndex)
    return engine.kv


def _value(outcome: object) -> bytes | None:
    """The value of an entry; None for anything else."""
    return outcome.value if isinstance(outcome, Entry) else None
