"""Servers that know a repository only by its full name, with `.git`."""

from __future__ import annotations

from pathlib import Path

from litestar.types import ASGIApp, Receive, Scope, Send

from tests.pipeline.journey import LOOPBACK, skill_md
from vskill_platform.ingest.git import GitSource
from vskill_platform.settings import convert_settings
from vskill_platform.testing.git_repos import make_repository
from vskill_platform.testing.git_server import serve_application
from vskill_platform.web.clients.git_http import GitHttp, repositories_below


def only_with_suffix(app: ASGIApp) -> ASGIApp:
    """The application, blind to names without `.git`."""

    async def strict(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and b".git/" not in scope["raw_path"]:
            await send({"type": "http.response.start", "status": 404, "headers": []})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        else:
            await app(scope, receive, send)

    return strict


async def test_repository_is_found_under_its_full_name__when_the_server_wants_it(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "acme" / "greeting.git", {"SKILL.md": skill_md()})
    async with (
        serve_application(only_with_suffix(GitHttp(repositories_below(tmp_path)))) as address,
        GitSource(convert_settings(LOOPBACK)) as source,
    ):
        url = f"{address}/acme/greeting"
        async with source.fetch(url) as snapshot:
            assert snapshot.commit == repository.ref("refs/heads/main")
        assert await source.newest_commit(url) == snapshot.commit
