"""Starts the load in a process of its own, kills it with SIGKILL at a random moment, and looks at what is left."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import IO

import apsw
import msgspec

from tests.faults.checker import Deed, Done, Journal, Sighting, Verdict, Write, judge
from tests.faults.load_child import QUEUE, Mode, term_of
from vskill_platform.domain.catalog import SUBMISSIONS
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.engines.sqlite import SqliteEngine, open_sqlite
from vskill_platform.ports.catalog import MAX_CATALOG_PAGE, CatalogQuery
from vskill_platform.ports.clock import SystemClock

CHILD = Path(__file__).with_name("load_child.py")
FIRST_ACK_LIMIT_S = 30.0
EARLIEST_S, LATEST_S = 0.05, 0.6
_STATUSES = (MessageStatus.WAITING, MessageStatus.DELAYED, MessageStatus.LEASED, MessageStatus.DEAD)


def load_and_kill(path: Path, journal: Journal, *, turn: int, moments: random.Random, mode: Mode = Mode.HONEST) -> None:
    """One turn: start, wait for the first acknowledgement, wait a random while, kill. The journal gets what was said."""
    errors = path.with_name(f"child-{turn}.log")
    command = [sys.executable, str(CHILD), str(path), str(turn), mode]
    with errors.open("wb") as log, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log) as child:
        assert child.stdout is not None
        lines: list[bytes] = []
        has_begun = threading.Event()
        listener = threading.Thread(target=_listen, args=(child.stdout, lines, has_begun))
        listener.start()
        begun = has_begun.wait(FIRST_ACK_LIMIT_S)
        time.sleep(moments.uniform(EARLIEST_S, LATEST_S))
        child.kill()
        listener.join()
    if not begun or child.returncode >= 0:
        raise RuntimeError(f"the load ended by itself ({child.returncode}): {errors.read_text()}")
    for line in lines:
        _note(line.decode(), journal)


def _listen(pipe: IO[bytes], lines: list[bytes], has_begun: threading.Event) -> None:
    for line in pipe:
        lines.append(line)
        if line.startswith(b"ok"):
            has_begun.set()


def _note(line: str, journal: Journal) -> None:
    match line.split():
        case ["try", *words]:
            journal.attempted.add(_deed(words))
        case ["ok", *words, version]:
            journal.acknowledged[_deed(words)] = int(version)
        case _:
            raise ValueError(f"the load said '{line}'")


def _deed(words: list[str]) -> Deed:
    match words:
        case ["write", item, number]:
            return Write(item, int(number))
        case ["done", item]:
            return Done(item)
        case _:
            raise ValueError(f"the load did '{words}'")


def judge_file(path: Path, journal: Journal) -> Verdict:
    """Open the file as the next process does, look at everything in it, and judge."""
    seen = asyncio.run(_look(path))
    seen.damage = [line for line in _check_integrity(path) if line != "ok"]
    return judge(journal, seen)


def _check_integrity(path: Path) -> list[str]:
    connection = apsw.Connection(str(path))
    try:
        return [line for (line,) in connection.execute("PRAGMA integrity_check")]
    finally:
        connection.close()


async def _look(path: Path) -> Sighting:
    engine = await open_sqlite(path, clock=SystemClock())
    try:
        seen = Sighting()
        await _look_at_keys(engine, seen)
        await _look_at_catalog(engine, seen)
        await _look_at_events(engine, seen)
        await _look_at_queue(engine, seen)
        return seen
    finally:
        await engine.close()


async def _look_at_keys(engine: SqliteEngine, seen: Sighting) -> None:
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


async def _look_at_catalog(engine: SqliteEngine, seen: Sighting) -> None:
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


async def _look_at_events(engine: SqliteEngine, seen: Sighting) -> None:
    after = 0
    while True:
        page = await engine.events.read(after)
        for event in page.events:
            seen.events.setdefault(event.subject, []).append(int(event.data))
        if not page.events:
            return
        after = page.last


async def _look_at_queue(engine: SqliteEngine, seen: Sighting) -> None:
    for status in _STATUSES:
        cursor: str | None = None
        while True:
            page = await engine.queue.peek(QUEUE, status=status, cursor=cursor, limit=1000)
            seen.queued.update(info.body.decode() for info in page.messages)
            cursor = page.cursor
            if page.complete:
                break
