"""`kill -9` of PostgreSQL, postmaster and backends, under load: nothing acknowledged is lost, and everybody comes back alone."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.faults.checker import Journal, Verdict, judge
from tests.faults.children import Child, running
from tests.faults.engines import ENGINES, safe_server
from tests.faults.figures import Tell, spread
from tests.faults.fleet import SKILLS, fleet
from tests.faults.killing import CHILD, Store, note
from tests.faults.load_child import Mode
from tests.faults.looking import look_at

WORKERS = 2
ACKNOWLEDGED_FIRST = 30
LATEST_S = 0.7
MOST_CRASHES = 10


@dataclass
class StubbornLoad:
    """A process that loads a database of its own and takes no trouble for an answer; what it said, and what is there."""

    store: Store
    child: Child
    journal: Journal = field(default_factory=Journal)

    def hear_more(self) -> None:
        """Wait until the load gets on."""
        heard = len(self.child.lines)
        self.child.wait_for(lambda lines: sum(line.startswith("ok") for line in lines[heard:]) >= ACKNOWLEDGED_FIRST)

    async def end(self) -> Verdict:
        """Kill it and judge."""
        self.child.kill()
        for line in self.child.lines:
            note(line, self.journal)
        return judge(self.journal, await look_at(self.store))

    @property
    def figures(self) -> str:
        """How much was said."""
        journal = self.journal
        return f"{len(journal.acknowledged)} commits acknowledged, {len(journal.refused)} refused, {len(journal.unknown)} unknown"


@contextmanager
def stubborn_load(folder: Path, location: str, *, seen_by: str | None = None) -> Iterator[StubbornLoad]:
    """A load on a database, which a test may look at by another way."""
    arguments = ["postgres", location, "0", Mode.STUBBORN]
    with running(CHILD, arguments, log=folder / "load.log") as child:
        yield StubbornLoad(Store(ENGINES["postgres"], seen_by or location, folder), child)


async def crash_often(folder: Path, *, crashes: int, seed: int, tell: Tell) -> None:
    """Two databases on one server: one under a load of commits, and one with a registry whose processes nobody restarts."""
    chance = random.Random(seed)
    kind, server = ENGINES["postgres"], safe_server()
    back_s: list[float] = []
    with kind.make_store(folder) as location, kind.make_store(folder) as loaded:
        async with fleet(folder, kind, location) as ships:
            web = await ships.start("web")
            workers = [await ships.start() for _ in range(WORKERS)]
            with stubborn_load(folder, loaded) as load:
                for _ in range(crashes):
                    await asyncio.to_thread(load.hear_more)
                    for _ in range(WORKERS):
                        await ships.submit_by_web(web)
                    await asyncio.sleep(chance.uniform(0, LATEST_S))
                    server.kill()
                    server.start()
                    began = time.monotonic()
                    await ships.submit_by_web(web)
                    await ships.drain()
                    back_s.append(time.monotonic() - began)
                await asyncio.to_thread(load.hear_more)
                verdict = await load.end()
            assert verdict.faults == {}, f"seed {seed}"
            assert await ships.faults() == {}, f"seed {seed}"
            assert all(one.is_alive for one in (web, *workers))
    tell(
        f"kill -9 of PostgreSQL under load: {crashes} crashes, {load.figures}, 0 lost, 0 unexpected, 0 half, 0 refused and "
        f"there; {len(ships.submitted)} repositories acknowledged by web and {len(ships.submitted) * len(SKILLS)} skills "
        f"published once each by the same processes; from its restart until they had done all {spread(back_s)}"
    )


async def test_nothing_acknowledged_is_lost__when_postgresql_is_killed(tmp_path: Path, tell: Tell) -> None:
    await crash_often(tmp_path, crashes=1, seed=1, tell=tell)


@pytest.mark.faults
@pytest.mark.timeout(3600)
async def test_nothing_acknowledged_is_lost__when_postgresql_is_killed_20_times(tmp_path: Path, tell: Tell) -> None:
    await crash_often(tmp_path, crashes=20, seed=2, tell=tell)


async def test_crash_test_finds_fault__when_commits_do_not_wait_for_the_log(tmp_path: Path, tell: Tell) -> None:
    """The planted fault: synchronous_commit is set to off behind the back of an engine that would refuse to open so."""
    kind, server = ENGINES["postgres"], safe_server()
    for crash in range(1, MOST_CRASHES + 1):
        with kind.make_store(tmp_path) as location, stubborn_load(tmp_path, location) as load:
            await asyncio.to_thread(load.hear_more)
            database = location.rsplit("/", 1)[1]
            server.execute(f"ALTER DATABASE {database} SET synchronous_commit = off")
            server.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}'")
            await asyncio.to_thread(load.hear_more)
            server.kill()
            server.start()
            server.execute(f"ALTER DATABASE {database} RESET synchronous_commit")
            verdict = await load.end()
            if verdict.lost:
                lost = len(verdict.lost)
                tell(f"kill -9 of PostgreSQL, synchronous_commit off: crash {crash} lost {lost}; {load.figures}")
                return
    pytest.fail(f"{MOST_CRASHES} crashes and nothing lost")
