"""The database file and its folder: what the SQLite engine refuses, migrates, survives and never loses."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import apsw
import pytest

from vskill_platform.domain.catalog import COLLECTIONS
from vskill_platform.domain.errors import (
    DatabaseFromFuture,
    DatabaseNotOurs,
    DatabaseReadOnly,
    DataFolderOwned,
    DiskFull,
    EngineClosed,
    InvalidInput,
    StoreUnavailable,
)
from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.engines.blobs import BlobFolder
from vskill_platform.engines.ownership import find_owner
from vskill_platform.engines.sqlite import SqliteEngine, open_sqlite
from vskill_platform.engines.sqlite.schema import APPLICATION_ID, migrations
from vskill_platform.ports.clock import SystemClock
from vskill_platform.ports.commit import Emit, Put, Send
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.vfs import DiskHooks, hooked_vfs


@asynccontextmanager
async def opened(path: Path, **options: object) -> AsyncIterator[SqliteEngine]:
    engine = await open_sqlite(path, clock=SystemClock(), **options)  # type: ignore[arg-type]
    try:
        yield engine
    finally:
        await engine.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "registry.db"


async def test_file_that_is_no_database_is_refused__and_left_as_it_was(path: Path) -> None:
    path.write_bytes(b"my shopping list\n" * 1000)
    with pytest.raises(DatabaseNotOurs, match="is not a database"):
        await open_sqlite(path, clock=SystemClock())
    assert path.read_bytes() == b"my shopping list\n" * 1000
    assert find_owner(path.parent) is None


async def test_database_of_another_program_is_refused(path: Path) -> None:
    apsw.Connection(str(path)).execute("CREATE TABLE songs (title TEXT)")
    with pytest.raises(DatabaseNotOurs, match="another program"):
        await open_sqlite(path, clock=SystemClock())


async def test_database_from_the_future_is_refused__with_both_versions(path: Path) -> None:
    async with opened(path):
        pass
    apsw.Connection(str(path)).execute("PRAGMA user_version = 99")
    with pytest.raises(DatabaseFromFuture, match=f"has schema 99; this version knows up to {len(migrations())}"):
        await open_sqlite(path, clock=SystemClock())


@pytest.mark.parametrize("version", range(1, len(migrations())))
async def test_older_schema_is_migrated_forward__with_its_data(path: Path, version: int) -> None:
    old = apsw.Connection(str(path))
    for step in migrations()[:version]:
        old.execute(step)
    old.execute("INSERT INTO kv (key, version, value) VALUES ('kept', 1, x'6f6c64')")
    old.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    old.execute(f"PRAGMA user_version = {version}")
    old.close()
    async with opened(path) as engine:
        entry = await engine.kv.get("kept")
        assert entry is not None
        assert entry.value == b"old"
        assert (await engine.events.read(0)).events == []
    assert apsw.Connection(str(path)).pragma("user_version") == len(migrations())


async def test_step_that_fails_leaves_the_file_at_the_step_before(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = [*migrations(), "CREATE TABLE half (x); INSERT INTO nowhere VALUES (1);"]
    monkeypatch.setattr("vskill_platform.engines.sqlite.schema.migrations", lambda: broken)
    with pytest.raises(StoreUnavailable):
        await open_sqlite(path, clock=SystemClock())
    monkeypatch.undo()
    async with opened(path):
        pass
    tables = [name for (name,) in apsw.Connection(str(path)).execute("SELECT name FROM sqlite_schema")]
    assert "half" not in tables


def test_catalog_tables_have_the_columns_that_collections_declare(path: Path) -> None:
    connection = apsw.Connection(str(path))
    for step in migrations():
        connection.execute(step)
    for collection in COLLECTIONS.values():
        rows = connection.execute(f"SELECT name FROM pragma_table_info('catalog_{collection.name}')")
        expected = {"number", "id", "terms", "row", "weight", *collection.facets, *collection.sorts}
        assert {name for (name,) in rows} == expected


async def test_folder_of_a_running_process_is_refused__naming_it(path: Path) -> None:
    async with opened(path):
        assert find_owner(path.parent) == os.getpid()
        with pytest.raises(DataFolderOwned, match=f"belongs to process {os.getpid()}"):
            await open_sqlite(path, clock=SystemClock())
    assert find_owner(path.parent) is None
    async with opened(path):
        pass


def run_as_nobody(code: str, folder: Path) -> str:
    """Run code in a child; as a user without rights when we are root, because root may write anywhere."""
    prelude = "import os\nif os.getuid() == 0: os.setgid(65534); os.setuid(65534)\n"
    script = f"import asyncio\nfrom pathlib import Path\n{_IMPORTS}{prelude}{code}"
    done = subprocess.run(
        [sys.executable, "-c", script, str(folder)], capture_output=True, text=True, check=False, timeout=60
    )
    return done.stdout + done.stderr


_IMPORTS = """
import sys
import threading
from vskill_platform.engines.sqlite import open_sqlite
from vskill_platform.ports.clock import SystemClock
from vskill_platform.domain.errors import VskillError
"""
_OPEN = """
async def main():
    try:
        await open_sqlite(Path(sys.argv[1]) / "registry.db", clock=SystemClock())
    except VskillError as error:
        print(error.code)
asyncio.run(main())
"""


async def test_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o555)
    open_up(tmp_path)
    assert "database_read_only" in run_as_nobody(_OPEN, folder)


async def test_file_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    async with opened(folder / "registry.db"):
        pass
    (folder / "vskill-platform.lock").chmod(0o666)
    folder.chmod(0o777)
    (folder / "registry.db").chmod(0o444)
    open_up(tmp_path)
    assert "database_read_only" in run_as_nobody(_OPEN, folder)


def open_up(folder: Path) -> None:
    """Let any user reach the folder: pytest makes its own private."""
    for parent in [folder, *folder.parents][:3]:
        parent.chmod(0o755)


async def test_leases_of_a_dead_process_end_when_the_next_opens__the_attempt_counts(path: Path) -> None:
    async with opened(path) as engine:
        await engine.writes.commit([Send("q", MessageId("m"), b"{}")])
        await engine.queue.receive("q", max_messages=1, lease_s=86_400)
    for attempt in (2, 3, 4):
        async with opened(path) as engine:
            [message] = await engine.queue.receive("q", max_messages=1, lease_s=86_400)
            assert (message.attempts, message.is_suspect) == (attempt, True)
    async with opened(path) as engine:
        info = (await engine.queue.find([MessageId("m")]))[MessageId("m")]
        assert (info.status, info.attempts) == (MessageStatus.DEAD, 4)


@dataclass(slots=True)
class FullDisk(DiskHooks):
    """A disk that is full while the test says so."""

    is_full: bool = False

    def on_write(self, size: int) -> None:
        if self.is_full:
            raise apsw.FullError("planted")


async def test_full_disk_is_reported__and_nothing_acknowledged_is_lost(path: Path) -> None:
    hooks = FullDisk()
    with hooked_vfs(hooks) as vfs:
        async with opened(path, vfs=vfs) as engine:
            await engine.writes.commit([Put("before", b"x")])
            hooks.is_full = True
            attempts = [engine.writes.commit([Put(f"during:{n}", b"x" * 5000)]) for n in range(50)]
            outcomes = await asyncio.gather(*attempts, return_exceptions=True)
            assert [type(outcome) for outcome in outcomes] == [DiskFull] * 50
            assert await engine.kv.get("before") is not None
            hooks.is_full = False
            await engine.writes.commit([Put("after", b"x")])
    async with opened(path) as engine:
        assert (await engine.kv.list("")).keys == ["after", "before"]
    assert apsw.Connection(str(path)).pragma("integrity_check") == "ok"


@dataclass(slots=True)
class FailsAt(DiskHooks):
    """A disk that fails at the n-th write or sync, counted together, and works otherwise."""

    fails_at: int = 0
    calls: int = 0

    def on_write(self, size: int) -> None:
        self._count()

    def on_sync(self) -> None:
        self._count()

    def _count(self) -> None:
        self.calls += 1
        if self.calls == self.fails_at:
            raise apsw.IOError("planted")


async def test_failing_disk_call_is_refused_or_complete__whichever_call_it_is(tmp_path: Path) -> None:
    """Every n: what was acknowledged is there, what was refused is whole or absent, and the engine goes on."""
    for number in range(1, 40):
        path = tmp_path / str(number) / "registry.db"
        async with opened(path):
            pass
        hooks = FailsAt()
        acknowledged: list[int] = []
        with hooked_vfs(hooks) as vfs:
            async with opened(path, vfs=vfs) as engine:
                hooks.calls, hooks.fails_at = 0, number
                for commit in range(6):
                    try:
                        await engine.writes.commit([Put(f"a:{commit}", b"x" * 9000), Put(f"b:{commit}", b"x" * 9000)])
                    except StoreUnavailable:
                        continue
                    acknowledged.append(commit)
                hooks.fails_at = 0
                await engine.writes.commit([Put("after", b"x")])
        assert len(acknowledged) >= 5
        async with opened(path) as engine:
            whole = [int(key[2:]) for key in (await engine.kv.list("a:")).keys]
            assert whole == [int(key[2:]) for key in (await engine.kv.list("b:")).keys]
            assert set(acknowledged) <= set(whole)


async def test_commits_of_many_callers_share_a_sync(path: Path) -> None:
    hooks = DiskHooks()
    with hooked_vfs(hooks) as vfs:
        async with opened(path, vfs=vfs) as engine:
            before = hooks.syncs
            await asyncio.gather(*(engine.writes.commit([Put(f"k:{n}", b"x")]) for n in range(300)))
            assert hooks.syncs - before <= 300 / 8


async def test_acknowledgement_comes_after_the_sync(path: Path) -> None:
    """No caller hears of success before its commit is on disk; the planted order shows that the check can fail."""
    hooks = DiskHooks()
    with hooked_vfs(hooks) as vfs:
        async with opened(path, vfs=vfs) as engine:
            for number in range(20):
                before = hooks.syncs
                await engine.writes.commit([Put(f"k:{number}", b"x")])
                assert hooks.syncs > before
        async with opened(path, vfs=vfs, synchronous="NORMAL") as engine:
            await engine.writes.commit([Put("first", b"x")])  # the first write to a fresh log syncs its header
            before = hooks.syncs
            await engine.writes.commit([Put("unsynced", b"x")])
            assert hooks.syncs == before


async def test_job_that_breaks_fails_alone__its_group_is_committed(path: Path) -> None:
    async with opened(path) as engine:

        def broken(transaction: object) -> None:
            raise ZeroDivisionError("a bug")

        outcomes = await asyncio.gather(
            engine.writes.commit([Put("a", b"x")]),
            engine.writer.run(broken),
            engine.writes.commit([Put("b", b"x")]),
            return_exceptions=True,
        )
        assert [type(outcome).__name__ for outcome in outcomes] == ["Committed", "ZeroDivisionError", "Committed"]


async def test_value_that_the_file_cannot_hold_is_refused__as_the_callers_fault(path: Path) -> None:
    async with opened(path) as engine:
        with pytest.raises(InvalidInput):
            await engine.writes.commit([Put("a", b"x", due_ms=2**70)])
        with pytest.raises(InvalidInput):
            await engine.writes.commit([Send("q", MessageId("\ud800"), b"x")])


async def test_what_was_handed_over_before_close_is_committed(path: Path) -> None:
    engine = await open_sqlite(path, clock=SystemClock())
    handed_over = [asyncio.create_task(engine.writes.commit([Put(f"k:{n}", b"x")])) for n in range(100)]
    await asyncio.sleep(0)
    await engine.close()
    await asyncio.gather(*handed_over)
    with pytest.raises(EngineClosed):
        await engine.writes.commit([Put("late", b"x")])
    async with opened(path) as again:
        assert len((await again.kv.list("k:")).keys) == 100


@dataclass(slots=True)
class FullAtCommit(DiskHooks):
    """A disk that fills up when the writer writes its log."""

    is_full: bool = False

    def on_sync(self) -> None:
        if self.is_full:
            raise apsw.FullError("planted")


async def test_conflict_inside_a_group_that_failed_is_no_conflict(path: Path) -> None:
    """B loses to A's write, and then A's write never happens: B must not be told that somebody was first."""
    hooks = FullAtCommit()
    with hooked_vfs(hooks) as vfs:
        async with opened(path, vfs=vfs) as engine:
            hooks.is_full = True
            outcomes = await asyncio.gather(
                engine.writes.commit([Put("k", b"a", if_version=0)]),
                engine.writes.commit([Put("k", b"b", if_version=0)]),
                return_exceptions=True,
            )
            hooks.is_full = False
            assert [type(outcome) for outcome in outcomes] == [DiskFull, DiskFull]
            assert await engine.kv.get("k") is None


async def test_writer_goes_on__after_an_error_that_is_not_the_databases(path: Path) -> None:
    class Failing(SystemClock):
        is_broken = False

        def now_ms(self) -> int:
            if self.is_broken:
                raise MemoryError("planted")
            return super().now_ms()

    clock = Failing()
    engine = await open_sqlite(path, clock=clock)
    clock.is_broken = True
    with pytest.raises(StoreUnavailable):
        await engine.writes.commit([Put("a", b"x")])
    clock.is_broken = False
    await engine.writes.commit([Put("b", b"x")])
    assert (await engine.kv.list("")).keys == ["b"]
    await engine.close()


async def test_job_of_a_cancelled_caller_is_not_carried_out__while_it_stands_in_line(path: Path) -> None:
    async with opened(path) as engine:
        started, gate = threading.Event(), threading.Event()

        def hold(transaction: object) -> None:
            started.set()
            gate.wait(10)

        holding = asyncio.create_task(engine.writer.run(hold))
        await asyncio.to_thread(started.wait)
        waiting = asyncio.create_task(engine.writes.commit([Put("never", b"x")]))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        gate.set()
        await holding
        await engine.writes.commit([Put("after", b"x")])
        assert (await engine.kv.list("")).keys == ["after"]


async def test_everything_in_the_data_folder_is_its_users_alone(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    async with opened(folder / "registry.db") as engine:
        await engine.writes.commit([Put("k", b"x")])
        await BlobFolder(folder / "blobs", clock=SystemClock()).put(b"content")
        paths = [folder, *folder.rglob("*")]
        open_to_others = [str(path) for path in paths if path.name != ".lock" and path.stat().st_mode & 0o077]
    assert open_to_others == []


async def test_link_in_place_of_the_database_or_the_lock_is_refused(tmp_path: Path) -> None:
    real, other, victim = tmp_path / "real", tmp_path / "other", tmp_path / "precious"
    async with opened(real / "registry.db"):
        pass
    other.mkdir()
    (other / "registry.db").symlink_to(real / "registry.db")
    with pytest.raises(DatabaseNotOurs, match="symbolic link"):
        await open_sqlite(other / "registry.db", clock=SystemClock())
    victim.write_text("precious")
    (other / "vskill-platform.lock").unlink()
    (other / "vskill-platform.lock").symlink_to(victim)
    with pytest.raises(DatabaseReadOnly):
        await open_sqlite(other / "registry.db", clock=SystemClock())
    assert victim.read_text() == "precious"


async def test_database_of_another_program_is_left_as_it_was(path: Path) -> None:
    foreign = apsw.Connection(str(path))
    foreign.execute("CREATE TABLE songs (title TEXT)")
    foreign.close()
    before = path.read_bytes()
    with pytest.raises(DatabaseNotOurs):
        await open_sqlite(path, clock=SystemClock())
    assert path.read_bytes() == before


async def test_owner_of_a_folder_that_may_not_be_looked_at_is_unknown__not_nobody(tmp_path: Path) -> None:
    (tmp_path / "vskill-platform.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DatabaseReadOnly, match="cannot be known"):
        find_owner(tmp_path)


async def test_purge_and_trim_go_in_parts__others_get_their_turn(path: Path) -> None:
    clock = FakeClock()
    engine = await open_sqlite(path, clock=clock, synchronous="OFF")
    for start in range(0, 5000, 1000):
        expiring = [Put(f"k:{n}", b"x", ttl_s=1) for n in range(start, start + 1000)]
        await engine.writes.commit([*expiring, *(Emit("kind", "s", b"") for _ in range(1000))])
    clock.shift(10)
    before = engine.writer.counts.jobs
    assert await engine.writes.purge() == 5000
    assert engine.writer.counts.jobs - before >= 3
    assert await engine.events.trim(before_ms=clock.now_ms()) == 4999
    await engine.close()


async def test_scan_chunk_is_bounded_in_bytes(path: Path) -> None:
    async with opened(path, synchronous="OFF") as engine:
        for number in range(12):
            await engine.writes.commit([Put(f"big:{number:02}", b"x" * 1_500_000)])
        sizes = [sum(len(value) for _, value in chunk) async for chunk in engine.kv.scan("big:")]
        assert sum(sizes) == 12 * 1_500_000
        assert max(sizes) <= 6_000_000
