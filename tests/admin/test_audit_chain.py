"""The chain of the audit log: whatever is changed, removed, swapped or cut off shows, and the number of the entry is told."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest

from vskill_platform.domain.audit import AUDIT_HEAD_KEY, Act, AuditEntry, AuditHead, audit_key, seal
from vskill_platform.engines.postgres import open_postgres
from vskill_platform.ports.clock import SystemClock
from vskill_platform.ports.commit import ABSENT, Delete, Put
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.stores.audit import run_audited
from vskill_platform.stores.audit_log import AuditFilter, Verification, iter_entries, page_entries, verify_log
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.envs import make_env
from vskill_platform.worker_context import current_env, request_env_storage

ENTRIES = 12


async def append(env: WorkerEnv, number: int, *, actor: str = "ada", act: str = "queue.pause") -> None:
    wanted = Act(
        act=act,
        subject=f"thing-{number}",
        reason="Why not",
        actor=actor,
        actor_id=f"user_{actor}",
        role="R",
        via="session",
    )

    async def write() -> None:
        await current_env("writes").writes.commit([Put(f"thing:{actor}:{number}", b"x", if_version=ABSENT)])

    await request_env_storage.run(env, lambda: run_audited(wanted, write))


async def fill(env: WorkerEnv, count: int = ENTRIES) -> None:
    for number in range(1, count + 1):
        await append(env, number)


async def verify(env: WorkerEnv) -> Verification:
    return await request_env_storage.run(env, verify_log)


async def value_of(env: WorkerEnv, key: str) -> bytes:
    entry = await env.kv.get(key)
    assert entry is not None
    return entry.value


async def fault_after(env: WorkerEnv, *operations: Put | Delete) -> tuple[int, str]:
    await env.writes.commit(list(operations))
    found = (await verify(env)).fault
    assert found is not None, "nobody noticed"
    return found.number, found.text


async def test_chain_is_whole__as_it_was_written(env: WorkerEnv) -> None:
    assert (await verify(env)).fault is None
    await fill(env)
    whole = await verify(env)
    assert (whole.fault, whole.entries, whole.head.number) == (None, ENTRIES, ENTRIES)


async def test_every_flipped_byte_of_every_entry_shows__with_its_number(env: WorkerEnv) -> None:
    await fill(env, 3)
    for number in (1, 2, 3):
        sound = await value_of(env, audit_key(number))
        for place in range(len(sound)):
            flipped = bytearray(sound)
            flipped[place] ^= 1
            found, _ = await fault_after(env, Put(audit_key(number), bytes(flipped)))
            assert found in (number, number + 1), (place, bytes(flipped))
            assert found == number or place >= sound.index(b'"hash"'), (place, bytes(flipped))
        await env.writes.commit([Put(audit_key(number), sound)])
    assert (await verify(env)).fault is None


async def test_every_flipped_byte_of_the_end_shows(env: WorkerEnv) -> None:
    await fill(env, 3)
    sound = await value_of(env, AUDIT_HEAD_KEY)
    for place in range(len(sound)):
        flipped = bytearray(sound)
        flipped[place] ^= 1
        await fault_after(env, Put(AUDIT_HEAD_KEY, bytes(flipped)))


@pytest.mark.parametrize("number", [1, 5, ENTRIES])
async def test_rewritten_entry_shows__also_when_its_own_hash_is_made_anew(env: WorkerEnv, number: int) -> None:
    await fill(env)
    entry = msgspec.json.decode(await value_of(env, audit_key(number)), type=AuditEntry)
    forged = msgspec.structs.replace(entry, reason="Nothing to see here")
    assert (await fault_after(env, Put(audit_key(number), msgspec.json.encode(forged))))[0] == number
    found, _ = await fault_after(env, Put(audit_key(number), msgspec.json.encode(seal(forged))))
    assert found == min(number + 1, ENTRIES)


async def test_removed_entry_shows(env: WorkerEnv) -> None:
    await fill(env)
    assert await fault_after(env, Delete(audit_key(5))) == (5, "Entry 5 is missing.")


async def test_swapped_pair_shows(env: WorkerEnv) -> None:
    await fill(env)
    fifth, sixth = await value_of(env, audit_key(5)), await value_of(env, audit_key(6))
    number, text = await fault_after(env, Put(audit_key(5), sixth), Put(audit_key(6), fifth))
    assert (number, text) == (5, "Entry 5 is not there: entry 6 stands in its place.")


async def test_end_that_is_cut_off_shows__and_so_does_an_entry_beyond_it(env: WorkerEnv) -> None:
    await fill(env)
    last, head = await value_of(env, audit_key(ENTRIES)), await value_of(env, AUDIT_HEAD_KEY)
    assert (await fault_after(env, Delete(audit_key(ENTRIES))))[0] == ENTRIES
    await env.writes.commit([Put(audit_key(ENTRIES), last)])
    before = msgspec.json.decode(await value_of(env, audit_key(ENTRIES - 1)))
    early = AuditHead(number=ENTRIES - 1, hash=before["hash"])
    assert (await fault_after(env, Put(AUDIT_HEAD_KEY, msgspec.json.encode(early))))[0] == ENTRIES
    assert (await fault_after(env, Delete(AUDIT_HEAD_KEY)))[0] == 1
    await env.writes.commit([Put(AUDIT_HEAD_KEY, head)])
    assert (await verify(env)).fault is None


async def test_log_is_read_from_the_newest_back__and_by_who_what_and_when(env: WorkerEnv) -> None:
    clock = env.clock
    assert isinstance(clock, FakeClock)
    for number in range(1, 8):
        await append(
            env, number, actor="ada" if number % 2 else "bea", act="review.approve" if number > 3 else "queue.pause"
        )
        clock.shift(3 * 3600)

    async def ask(wanted: AuditFilter, before: int | None = None, limit: int = 2) -> tuple[list[int], int | None]:
        page = await request_env_storage.run(env, lambda: page_entries(wanted, before=before, limit=limit))
        return [entry.number for entry in page.entries], page.before

    assert await ask(AuditFilter()) == ([7, 6], 6)
    assert await ask(AuditFilter(), before=6) == ([5, 4], 4)
    assert await ask(AuditFilter(), before=2) == ([1], None)
    assert await ask(AuditFilter(actor="bea"), limit=9) == ([6, 4, 2], None)
    assert await ask(AuditFilter(actor="user_bea", act="review"), limit=9) == ([6, 4], None)
    assert await ask(AuditFilter(subject="thing-3"), limit=9) == ([3], None)
    assert await ask(AuditFilter(subject="thing:ada:3"), limit=9) == ([3], None)
    at_ms = clock.now_ms() - 5 * 3 * 3600 * 1000
    assert await ask(AuditFilter(since_ms=at_ms, until_ms=at_ms + 1), limit=9) == ([3], None)

    async def everything() -> list[int]:
        return [entry.number async for chunk in iter_entries(AuditFilter(actor="ada"), after=1) for entry in chunk]

    assert await request_env_storage.run(env, everything) == [3, 5, 7]


async def test_two_processes_on_postgresql_append_one_chain__and_lose_nothing(
    postgres_url: str, tmp_path: Path
) -> None:
    each = 40
    engines = [await open_postgres(postgres_url, clock=SystemClock()) for _ in range(2)]
    envs = [make_env(engine, clock=SystemClock(), folder=tmp_path) for engine in engines]
    before = (await verify(envs[0])).entries

    async def act_often(env: WorkerEnv, actor: str) -> None:
        await asyncio.gather(*(append(env, number, actor=actor) for number in range(each)))

    await asyncio.gather(*(act_often(env, name) for env, name in zip(envs, ("ada", "bea"), strict=True)))
    for env in envs:
        whole = await verify(env)
        assert (whole.fault, whole.entries) == (None, before + 2 * each)
    found = await request_env_storage.run(envs[0], lambda: page_entries(AuditFilter(), limit=2 * each))
    subjects = {(entry.actor, entry.subject) for entry in found.entries}
    assert subjects == {(name, f"thing-{number}") for name in ("ada", "bea") for number in range(each)}
    for engine in engines:
        await engine.close()
