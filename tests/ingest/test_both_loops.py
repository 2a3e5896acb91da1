"""A whole fetch, a refused one and a cancelled one, under either event loop."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path

from tests.ingest.git_server import GitServer, git_server
from tests.ingest.looking import files_below, processes_of, refused
from tests.ingest.test_fetch import settings_with
from vskill_platform.domain.errors import RepositoryNotFound, RepositoryTooLarge
from vskill_platform.ingest.git import GitSource
from vskill_platform.testing.git_repos import SKILL_MD, make_repository
from vskill_platform.testing.hostile_servers import answer, endless_body, hostile_server
from vskill_platform.testing.waits import eventually


async def test_fetch_reads_a_skill__over_http_and_tls(
    server: GitServer, source: GitSource, tls: ssl.SSLContext, certificate: Path, workspace: Path
) -> None:
    make_repository(server.folder / "repo.git", {"a/SKILL.md": SKILL_MD, "a/x": b"x" * 300_000})
    async with source.fetch(server.url(), tree_path="main/a") as snapshot:
        content = await snapshot.read_skill("a")
    settings = settings_with(git_ca_file=str(certificate))
    async with (
        git_server(server.folder, tls=tls) as secure,
        GitSource(settings, folder=workspace) as other,
        other.fetch(secure.url(host="localhost")) as again,
    ):
        assert await again.read_skill("a") == content
    assert again.commit == snapshot.commit


async def test_fetch_refuses__what_is_gone_or_endless(workspace: Path) -> None:
    async with GitSource(settings_with(fetch_max_bytes=100_000), folder=workspace) as source:
        async with hostile_server(answer(404)) as gone:
            await refused(source, f"http://127.0.0.1:{gone.port}/o/n", RepositoryNotFound)
        async with hostile_server(endless_body()) as endless:
            await refused(source, f"http://127.0.0.1:{endless.port}/o/n", RepositoryTooLarge)


async def test_fetch_leaves_nothing_behind__cancelled_at_any_point(
    server: GitServer, source: GitSource, workspace: Path
) -> None:
    make_repository(server.folder / "repo.git", {"SKILL.md": SKILL_MD})
    [opened] = workspace.iterdir()

    async def fetch() -> None:
        async with source.fetch(server.url()) as snapshot:
            await snapshot.read_skill("")

    for turns in (0, 1, 2, 3, 5, 8, 13, 40, 200):
        task = asyncio.create_task(fetch())
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        await eventually(lambda: files_below(opened) == [], what="the folder is gone")
        await eventually(lambda: processes_of(opened) == [], what="no process is left")
    await fetch()
