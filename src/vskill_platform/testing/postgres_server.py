"""A PostgreSQL server of a test's own: started in a folder of its own, on a free port, and gone with the test.

PostgreSQL refuses to run as root, so root starts it as the user `postgres`. What is missing is named, never skipped.
"""

from __future__ import annotations

import ctypes
import os
import re
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import asyncpg

from vskill_platform.engines.postgres.connection import SCHEMA
from vskill_platform.testing.ports import free_port
from vskill_platform.testing.waits import eventually

_START_S = 60.0
_SET_PARENT_DEATH_SIGNAL = 1
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "max_wal_size": "1GB",
    "log_min_messages": "warning",
}
_TABLES = """
SELECT tablename FROM pg_tables WHERE schemaname = $1 AND tablename NOT IN ('schema_step', 'catalog_form')
"""
_BLOCKED = """
SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
WHERE NOT granted AND locktype = 'advisory' AND datname = current_database()
"""
_UNSAFE = {"fsync": "off", "full_page_writes": "off", "autovacuum": "off"}


class PostgresMissing(RuntimeError):
    """No PostgreSQL server is installed."""


def find_programs() -> Path:
    """The folder with `initdb` and `postgres` of the newest version that is installed."""
    on_path = shutil.which("postgres")
    installed = [path for path in Path("/usr/lib/postgresql").glob("*/bin") if (path / "initdb").exists()]
    installed += [path for path in Path("/usr").glob("pgsql-*/bin") if (path / "initdb").exists()]
    if installed:
        return max(installed, key=_version)
    if on_path and (Path(on_path).resolve().parent / "initdb").exists():
        return Path(on_path).resolve().parent
    raise PostgresMissing(
        "The tests need a PostgreSQL server, version 13 or newer. On Debian or Ubuntu, run\n"
        "  sudo apt-get install -y postgresql\nand then make again."
    )


def _version(folder: Path) -> int:
    found = re.search(r"(\d+)", folder.parent.name)
    return int(found[1]) if found else 0


class PostgresServer:
    """One cluster. `is_safe=False` does without syncing: fast, for tests in which nothing crashes."""

    def __init__(self, *, is_safe: bool = True, settings: dict[str, str] | None = None) -> None:
        self._programs = find_programs()
        self._user = "postgres" if os.geteuid() == 0 else None
        in_memory = Path("/dev/shm")
        parent = in_memory if not is_safe and in_memory.is_dir() else None
        self.folder = Path(tempfile.mkdtemp(prefix="vskill-postgres-", dir=parent))
        self._settings = {**_SETTINGS, **({} if is_safe else _UNSAFE), **(settings or {})}
        self._process: subprocess.Popen[bytes] | None = None
        self._databases = 0
        self.newest_database = "postgres"
        self.port = free_port()
        if self._user is not None:
            shutil.chown(self.folder, self._user)
        self._run("initdb", "-D", str(self._data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N")

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    @property
    def pid(self) -> int:
        """The process id of the postmaster."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start, or start again, and return when it answers."""
        options = [word for name, value in self._settings.items() for word in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._programs / "postgres", "-D", self._data, "-p", str(self.port), *options],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                user=self._user,
                group=self._user,
                extra_groups=[] if self._user else None,
                start_new_session=True,
                preexec_fn=_end_with_parent,  # noqa: PLW1509 - one call that takes no lock
            )
        self._wait_ready()

    def stop(self) -> None:
        """Shut down in order, and remove everything."""
        self.halt()
        shutil.rmtree(self.folder, ignore_errors=True)

    def halt(self) -> None:
        """Shut down in order; what it holds stays."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait()
            self._process = None

    def kill(self) -> None:
        """End the postmaster and every backend at once, as a power cut would end them, and wait until they are gone."""
        assert self._process is not None
        family = [self._process.pid, *_children(self._process.pid)]
        for pid in family:
            _kill(pid, signal.SIGKILL)
        self._process.wait()
        deadline = time.monotonic() + _START_S
        while any(Path(f"/proc/{pid}").exists() for pid in family) and time.monotonic() < deadline:
            time.sleep(0.01)
        self._process = None

    def backends(self) -> list[int]:
        """The process ids of everything that the postmaster started."""
        return _children(self.pid)

    def url(self, database: str = "postgres", *, port: int | None = None, **options: str) -> str:
        """The address of a database, by this server's port or by that of something in front of it."""
        query = "&".join(f"{name}={value}" for name, value in options.items())
        return f"postgresql://postgres@127.0.0.1:{port or self.port}/{database}{'?' + query if query else ''}"

    def create_database(self, *, template: str = "template0") -> str:
        """A fresh database, as a copy of the template; gives its name."""
        self._databases += 1
        name = f"test_{self._databases}_{secrets.token_hex(4)}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        self.newest_database = name
        return name

    def drop_database(self, name: str) -> None:
        """Remove a database, whoever is still connected."""
        self.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def execute(self, sql: str, *, database: str = "postgres") -> str:
        """Run a statement with psql; gives what it prints."""
        return self._run("psql", "-X", "-q", "-t", "-A", "-v", "ON_ERROR_STOP=1", "-c", sql, self.url(database))

    def require_password(self, role: str) -> None:
        """From now on this role needs its password."""
        path = self._data / "pg_hba.conf"
        path.write_text(f"host all {role} 127.0.0.1/32 scram-sha-256\n{path.read_text()}")
        self.execute("SELECT pg_reload_conf()")

    def _wait_ready(self) -> None:
        deadline = time.monotonic() + _START_S
        while subprocess.run([self._programs / "pg_isready", "-q", "-d", self.url()], check=False).returncode != 0:
            assert self._process is not None
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"PostgreSQL did not start:\n{(self.folder / 'log').read_text()}")
            time.sleep(0.02)

    def _run(self, program: str, *arguments: str) -> str:
        done = subprocess.run(
            [self._programs / program, *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd="/",
            user=self._user,
            group=self._user,
            extra_groups=[] if self._user else None,
        )
        if done.returncode != 0:
            raise RuntimeError(f"{program} failed:\n{done.stdout}{done.stderr}")
        return done.stdout.strip()


async def empty_database(url: str, *, schema: str = SCHEMA) -> None:
    """Remove every row of an engine's tables. Much faster than a new database."""
    connection = await asyncpg.connect(url)
    try:
        tables = await connection.fetch(_TABLES, schema)
        await connection.execute(";".join(f'DELETE FROM "{schema}"."{name}"' for (name,) in tables))
    finally:
        await connection.close()


async def until_blocked(connection: asyncpg.Connection, *, count: int = 1) -> None:
    """Return when so many transactions of this connection's database wait for an advisory lock."""

    async def are_blocked() -> bool:
        return bool(await connection.fetchval(_BLOCKED) >= count)

    await eventually(are_blocked, what=f"{count} wait for a lock")


def _end_with_parent() -> None:
    """Ask the kernel to end the server when the process that started it dies, however it dies."""
    ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGQUIT)


def _children(pid: int) -> list[int]:
    try:
        listed = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except FileNotFoundError:
        return []
    return [int(child) for child in listed.split()]


def _kill(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return
