"""Opens a database as the next process does and looks at everything that is in it, through every port."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import apsw
import asyncpg
import msgspec

from tests.faults.checker import Done, Journal, Sighting, Verdict, Write, judge
from tests.faults.killing import Store
from tests.faults.load_child import QUEUE, term_of
from vskill_platform.domain.catalog import SUBMISSIONS
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.engines.sqlite import open_sqlite
from vskill_platform.ports.catalog import MAX_CATALOG_PAGE, CatalogQuery
from vskill_platform.ports.clock import SystemClock
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.events import Event
from vskill_platform.testing.waits import until

_OTHERS = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""
_STATUSES = (MessageStatus.WAITING, MessageStatus.DELAYED, MessageStatus.LEASED, MessageStatus.DEAD)


def judge_store(store: Store, journal: Journal) -> Verdict:
    """Open the store of a load that was killed, look at everything in it, and judge."""
    return judge(journal, asyncio.run(_look_when_alone(store)))


async def _look_when_alone(store: Store) -> Sighting:
    """A server goes on with what a killed client has sent it; until it has ended, one look would see two moments."""
    if store.kind.is_shared:
        connection = await asyncpg.connect(store.location)
        try:
            await until(lambda: _is_alone(connection), what="the server ends what was sent")
        finally:
            await connection.close()
    return await look_at(store)


async def _is_alone(connection: asyncpg.Connection) -> bool:
    others: int = await connection.fetchval(_OTHERS)
    return others == 0


async def look_at(store: Store) -> Sighting:
    """What a store holds, opened as the next process opens it."""
    if not store.kind.is_shared:
        return await look_at_file(Path(store.location))
    engine = await store.kind.open(store.location, SystemClock())
    try:
        return await look(engine)
    finally:
        await engine.close()


async def look_at_file(path: Path) -> Sighting:
    """What a file holds, and whether SQLite finds it sound."""
    engine = await open_sqlite(path, clock=SystemClock())
    try:
        seen = await look(engine)
    except Exception:
        damage = _check_integrity(path)
        if not damage:
            raise
        # What a broken file answers is anybody's guess, rows without values among others: it counts as holding nothing.
        return Sighting(damage=damage)
    finally:
        await engine.close()
    seen.damage += _check_integrity(path)
    return seen


async def look(engine: Engine) -> Sighting:
    """What an open engine holds."""
    seen = Sighting()
    await _look_at_keys(engine, seen)
    await _look_at_catalog(engine, seen)
    await _look_at_events(engine, seen)
    await _look_at_queue(engine, seen)
    return seen


def _check_integrity(path: Path) -> list[str]:
    """What SQLite finds wrong with a file."""
    connection = apsw.Connection(str(path))
    try:
        return [line for (line,) in connection.execute("PRAGMA integrity_check") if line != "ok"]
    except (apsw.CorruptError, apsw.NotADBError) as error:
        return [str(error)]
    finally:
        connection.close()


async def _look_at_keys(engine: Engine, seen: Sighting) -> None:
    keys = [key async for chunk in engine.kv.scan("") for key, _ in chunk]
    for key, entry in zip(keys, await engine.kv.get_many(keys), strict=True):
        if entry is None or isinstance(entry, Exception):
            seen.damage.append(f"{key}: {entry}")
            continue
        match key.split(":"):
            case ["rec", item]:
                seen.records[item] = int(entry.value)
            case ["hist", item, number]:
                seen.history.setdefault(item, []).append(int(number))
                seen.versions[Write(item, int(number))] = entry.version
            case ["done", item]:
                seen.effects[item] = msgspec.json.decode(entry.value)["times"]
                seen.versions[Done(item)] = entry.version


async def _look_at_catalog(engine: Engine, seen: Sighting) -> None:
    while True:
        query = CatalogQuery(SUBMISSIONS, sort="skill_name", limit=MAX_CATALOG_PAGE, offset=len(seen.rows))
        page = await engine.catalog.query(query)
        seen.rows.update((item, int(row)) for item, row in page.rows)
        if len(seen.rows) >= page.total or not page.rows:
            break
    for number, count in Counter(seen.rows.values()).items():
        found = (await engine.catalog.query(CatalogQuery(SUBMISSIONS, search=term_of(number)))).total
        if found != count:
            seen.damage.append(f"the search for {term_of(number)} finds {found} of {count}")


async def _look_at_events(engine: Engine, seen: Sighting) -> None:
    for event in await read_events(engine):
        seen.events.setdefault(event.subject, []).append(int(event.data))


async def read_events(engine: Engine) -> list[Event]:
    """Every event that there is."""
    events: list[Event] = []
    after = 0
    while True:
        page = await engine.events.read(after)
        events += page.events
        if not page.events:
            return events
        after = page.last


async def _look_at_queue(engine: Engine, seen: Sighting) -> None:
    for status in _STATUSES:
        cursor: str | None = None
        while True:
            page = await engine.queue.peek(QUEUE, status=status, cursor=cursor, limit=1000)
            seen.queued.update(info.body.decode() for info in page.messages)
            cursor = page.cursor
            if page.complete:
                break
