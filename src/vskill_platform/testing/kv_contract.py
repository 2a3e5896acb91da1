"""The suites for reading records: `KVContract` for every engine, the others for an engine that has the capability.

An engine's test module inherits a class and provides two fixtures: `clock`, a FakeClock, and `engine`, opened fresh with
that clock for each test. That a store which cannot be read raises instead of answering "absent" is shown here only for a
closed engine; an engine's own tests inject the other faults.
"""

from __future__ import annotations

import pytest

from vskill_platform.domain.errors import EngineClosed, InvalidCursor, InvalidInput, InvalidKey, ValueTooLarge
from vskill_platform.ports.commit import ABSENT, Delete, Put
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.kv import (
    MAX_VALUE_BYTES,
    Entry,
)
from vskill_platform.testing.builders import (
    collect_keys,
    error_of,
    numbered_keys,
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
    FIRST_AFTER_SURROGATES,
    GARBAGE_CURSORS,
    LONGEST_KEYS,
    ORDERED_KEYS,
    PREFIXES,
    keys_around,
    outcome_of,
    unexpected,
)


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
        keys = keys_around(PREFIXES)
        await put_keys(engine, keys)
        for prefix in PREFIXES:
            under = [key for key in keys if key.startswith(prefix)]
            assert await collect_keys(engine.kv, prefix) == under
            assert await collect_keys(engine.kv, prefix, limit=1) == under

    async def test_list_is_empty_or_refused__when_no_key_can_begin_with_the_prefix(self, engine: Engine) -> None:
        await put_keys(engine, ["a", "b", FIRST_AFTER_SURROGATES])
        outcomes = {name: await outcome_of(collect_keys(engine.kv, text)) for name, text in BAD_PREFIXES.items()}
        assert unexpected(outcomes) == []

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
