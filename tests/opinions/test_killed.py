"""Workers that die with a scan in their hands, here and elsewhere, and one that is told to stop: real processes and signals."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.acceptance.commands import LIMIT_S, LOOPBACK_GIT, registry, run
from tests.acceptance.forked import Forked
from tests.opinions.test_after_publication import GOOD
from vskill_platform.app import open_env
from vskill_platform.domain.access import Role, Scope
from vskill_platform.domain.external_scan import ExternalScanStatus as S
from vskill_platform.settings import convert_settings
from vskill_platform.stores.external_scans import ExternalScan, list_external_scans
from vskill_platform.testing.accounts import make_account, make_token
from vskill_platform.testing.git_repos import BareRepository
from vskill_platform.testing.git_server import serve_repositories
from vskill_platform.testing.waits import until
from vskill_platform.worker_context import run_with_worker_env

SARIF = {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "held", "version": "1"}}, "results": []}]}
SLUG = "127-0-0-1-acme/greeting/greeting"


@dataclass
class Held:
    """A program that says that it has begun, and ends with a good report once it is let go.

    It speaks through a pipe with a name: it cannot write any file where it runs.
    """

    folder: Path
    heard: int

    @property
    def setting(self) -> str:
        return f"held={self.folder}/held.sh {{folder}}"

    async def begun(self) -> None:
        """Wait until it has begun once more."""

        def is_heard() -> bool:
            try:
                return os.read(self.heard, 1) == b"."
            except BlockingIOError:
                return False

        await until(is_heard, what="the program has begun")

    def let_go(self) -> None:
        """Have it end, now and whenever it is started."""
        (self.folder / "go").touch()


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Held]:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "report.json").write_text(json.dumps(SARIF))
    script = tmp_path / "held.sh"
    wait = f"while [ ! -e {tmp_path}/go ]; do sleep 0.05; done"
    script.write_text(f"#!/bin/sh\nprintf . > {tmp_path}/pipe\n{wait}\ncat {tmp_path}/report.json\n")
    script.chmod(0o755)
    # Open for both, so that nobody's leaving ends it.
    heard = os.open(tmp_path / "pipe", os.O_RDWR | os.O_NONBLOCK)
    yield Held(tmp_path, heard)
    os.close(heard)


@contextmanager
def scan_worker(server: str, held: Held, *options: str) -> Iterator[Forked]:
    """A remote worker with the held program."""
    options = ("--server", server, "--token-file", str(held.folder / "token"), "--providers", "held", *options)
    environment = {
        "VSKILL_PLATFORM_EXTERNAL_PROGRAMS": held.setting,
        "VSKILL_PLATFORM_DATA": str(held.folder / "farm"),
    }
    with closing(Forked("scan-worker", *options, environment=environment)) as process:
        yield process


async def publish(server: str, repository: str) -> None:
    """Submit a repository and wait until its skill is published."""
    outcome = await asyncio.to_thread(run, "submit", repository, "--wait", "--server", server)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr


async def scans_in(data: Path) -> list[ExternalScan]:
    """The scans of the skill in a data folder that nobody has open."""
    async with open_env(convert_settings({"data": str(data)})) as env:
        return list(await run_with_worker_env(env, lambda: list_external_scans(SLUG)))


@pytest.fixture
async def repository(tmp_path: Path) -> object:
    folder = tmp_path / "repositories"
    (folder / "acme").mkdir(parents=True)
    BareRepository(folder / "acme" / "greeting.git").commit(GOOD)
    async with serve_repositories(folder) as address:
        yield f"{address}/acme/greeting"


async def test_scan_of_a_remote_worker_that_is_killed_is_taken_up_by_another(
    tmp_path: Path, repository: str, held: Held
) -> None:
    data = tmp_path / "data"
    async with open_env(convert_settings({"data": str(data)})) as env:
        token = await make_token(env, await make_account(env, "farmer", Role.REVIEWER), Scope.SCAN)
    (tmp_path / "token").write_text(token)
    settings = {
        "VSKILL_PLATFORM_EXTERNAL_SCANNERS": "remote:held",
        "VSKILL_PLATFORM_EXTERNAL_LEASE_S": "1",
        "VSKILL_PLATFORM_EXTERNAL_REAP_INTERVAL_S": "1",
    }
    with registry(data, **LOOPBACK_GIT, **settings) as (process, server):
        await publish(server, repository)
        with scan_worker(server, held) as doomed:
            await held.begun()
            doomed.kill()
            doomed.wait(LIMIT_S)
        with scan_worker(server, held, "--name", "polite") as polite:
            await held.begun()  # so the lease of the dead one has lapsed
            polite.send_signal(signal.SIGTERM)
            told = await ended(polite)
            assert (polite.returncode, "1 given back" in told) == (0, True), told
        held.let_go()
        with scan_worker(server, held, "--once", "--name", "last") as last:
            told = await ended(last)
            assert (last.returncode, "1 PASS" in told) == (0, True), told
        process.send_signal(signal.SIGTERM)
        await ended(process)
    (scan,) = await scans_in(data)
    assert (scan.status, scan.worker, scan.attempts, scan.provider_version) == (S.PASS, "farmer/last", 2, "1")


async def test_scan_of_a_worker_that_is_killed_is_done_by_the_next(tmp_path: Path, repository: str, held: Held) -> None:
    data = tmp_path / "data"
    settings = {"VSKILL_PLATFORM_EXTERNAL_PROGRAMS": held.setting, "VSKILL_PLATFORM_LEASE_S": "1"}
    with registry(data, **LOOPBACK_GIT, **settings) as (process, server):
        await publish(server, repository)
        await held.begun()
        process.kill()
        process.wait(LIMIT_S)
    (running,) = await scans_in(data)
    assert (running.status, running.attempts) == (S.RUNNING, 1)
    with registry(data, **LOOPBACK_GIT, **settings) as (process, _):
        await held.begun()
        held.let_go()
        process.send_signal(signal.SIGTERM)  # what runs ends within the grace time
        await ended(process)
    (done,) = await scans_in(data)
    assert (done.status, done.attempts) == (S.PASS, 2)


async def ended(process: Forked) -> str:
    """Wait for a process to end by itself, and give what it said."""
    _, told = await asyncio.to_thread(process.communicate, timeout=LIMIT_S)
    return told
