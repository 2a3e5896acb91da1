"""The disk fails while submissions are being worked on: everybody is told, and all is done once it works again, no restart."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from tests.acceptance.running import running_loop
from tests.acceptance.test_api import client_of
from tests.faults.disk import FailingDisk, Fault, Lasting
from tests.pipeline.journey import LOOPBACK, Journey, skill_md
from vskill_platform.domain.content import SkillContent
from vskill_platform.domain.scan import ScanReport
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.engines.sqlite import open_sqlite
from vskill_platform.ingest.git import GitSource
from vskill_platform.pipeline.process import process_message
from vskill_platform.ports.scanner import NO_CHANGES, Scanner
from vskill_platform.scanning.pool import ScannerPool
from vskill_platform.settings import convert_settings
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.envs import make_env
from vskill_platform.testing.git_server import serve_repositories
from vskill_platform.testing.vfs import hooked_vfs
from vskill_platform.testing.waits import eventually
from vskill_platform.web.app import create_web_app

SKILLS = 5
STEP_S = 0.1
LIMIT_S = 60.0
REFUSED_AS = {
    Fault.FULL: {"disk_full"},
    Fault.READ_ONLY: {"store_unavailable"},
    Fault.EIO: {"store_unavailable", "commit_unknown"},
}


class HeldScanner:
    """A scanner that lets nobody through before the gate is open."""

    def __init__(self, scanner: Scanner) -> None:
        self._scanner = scanner
        self.waiting = 0
        self.gate = asyncio.Event()

    async def scan(self, content: SkillContent, *, changes: Mapping[str, str] = NO_CHANGES) -> ScanReport:
        self.waiting += 1
        await self.gate.wait()
        return await self._scanner.scan(content, changes=changes)


@asynccontextmanager
async def registry_on(folder: Path, vfs: str, clock: FakeClock) -> AsyncIterator[tuple[Journey, HeldScanner]]:
    settings = convert_settings(LOOPBACK)
    (folder / "repositories").mkdir()
    engine = await open_sqlite(folder / "registry.db", clock=clock, vfs=vfs)
    async with (
        serve_repositories(folder / "repositories") as address,
        GitSource(settings, folder=folder / "fetched") as source,
        ScannerPool(settings) as pool,
    ):
        scanner = HeldScanner(pool)
        env = make_env(
            engine, clock=clock, folder=folder, source=source, scanner=scanner, process=process_message, **LOOPBACK
        )
        yield Journey(env=env, repositories=folder / "repositories", address=address), scanner
    await engine.close()


async def work_until_published(journey: Journey, clock: FakeClock, parent: str) -> None:
    async with asyncio.timeout(LIMIT_S):
        while True:
            children = [await journey.read(child) for child in (await journey.read(parent)).children]
            if children and all(child.state is SubmissionState.PUBLISHED for child in children):
                return
            await clock.advance(STEP_S)
            await asyncio.sleep(STEP_S / 5)  # scanning happens in other processes, which know nothing of this clock


async def check_refused(client: httpx.AsyncClient, url: str, *, codes: set[str]) -> None:
    refused = await client.post("/api/v1/submissions", json={"repoUrl": url})
    assert refused.status_code == 503
    assert refused.json()["code"] in codes
    assert "retry-after" in refused.headers
    health = (await client.get("/healthz")).json()
    assert health["status"] == "degraded"
    assert health["trouble"].split(":")[0] in codes


@pytest.mark.parametrize("fault", Fault)
async def test_submissions_in_flight_are_published_without_restart__when_the_disk_works_again(
    tmp_path: Path, fault: Fault
) -> None:
    clock, disk = FakeClock(), FailingDisk(fault=fault, lasting=Lasting.UNTIL_MENDED)
    with hooked_vfs(disk) as vfs:
        async with registry_on(tmp_path, vfs, clock) as (journey, scanner):
            files = {f"skill-{number}/SKILL.md": skill_md(f"skill-{number}") for number in range(SKILLS)}
            journey.repository("acme/many", files)
            journey.repository("acme/late", {"SKILL.md": skill_md("late")})
            async with running_loop(journey.env), client_of(create_web_app(journey.env)) as client:
                parent = (await journey.submit("acme/many")).submission.id
                await eventually(lambda: scanner.waiting == SKILLS, what="every skill in its scan")
                disk.fails_at = disk.calls + 1
                scanner.gate.set()
                await check_refused(client, journey.url("acme/late"), codes=REFUSED_AS[fault])
                await clock.advance(30)
                disk.mend()
                await work_until_published(journey, clock, parent)
                late = await client.post("/api/v1/submissions", json={"repoUrl": journey.url("acme/late")})
                assert late.status_code == 201
                await work_until_published(journey, clock, late.json()["id"])
                assert (await client.get("/healthz")).json()["status"] == "ok"
            published = [subject for kind, subject in await journey.events() if kind == "skill.published"]
            assert len(published) == len(set(published)) == SKILLS + 1
