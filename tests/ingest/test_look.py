"""Looks at repositories on real servers: here, elsewhere, not there, busy, slow, private, and no git server at all."""

from __future__ import annotations

import asyncio
import re
import shutil
import socket
from collections.abc import Sequence
from ipaddress import IPv4Address
from pathlib import Path

import pytest

from tests.ingest.git_server import GitServer, git_server
from tests.ingest.test_fetch import settings_with
from vskill_platform.domain.repo_health import Head, LookAnswer, LookReason, SourceLook
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.ingest.git import GitSource
from vskill_platform.ingest.public_addresses import IpAddress
from vskill_platform.settings import Settings
from vskill_platform.testing.git_repos import SKILL_MD, BareRepository, make_repository
from vskill_platform.testing.git_server import serve_repositories
from vskill_platform.testing.hostile_servers import (
    Behaviour,
    answer,
    canary,
    drip,
    endless_head,
    hang_up,
    hostile_server,
    redirect,
    silence,
)

HERE, MOVED, MISSING, UNCLEAR = LookAnswer.HERE, LookAnswer.MOVED, LookAnswer.MISSING, LookAnswer.UNCLEAR
REFS = "/info/refs?service=git-upload-pack"
MADE_S = 1_600_000_000


def repository_at(folder: Path, *, made_s: int = MADE_S) -> tuple[BareRepository, str]:
    """A repository with one commit of a moment, and that commit."""
    repository = BareRepository(folder / "repo.git")
    return repository, repository.commit({"SKILL.md": SKILL_MD}, made_s=made_s)


async def test_look_finds_head_and_date__of_a_repository_that_is_there(source: GitSource, tmp_path: Path) -> None:
    _, commit = repository_at(tmp_path / "served" / "acme")
    async with serve_repositories(tmp_path / "served") as address:
        look = await source.look(f"{address}/acme/repo")
    assert look == SourceLook(HERE, head=Head(commit, iso_from_ms(MADE_S * 1000)))


async def test_look_asks_once_and_fetches_nothing__when_the_head_is_the_known_one(
    source: GitSource, server: GitServer
) -> None:
    _, commit = repository_at(server.folder)
    known = Head(commit, "2020-01-01T00:00:00.000Z")
    assert (await source.look(server.url(), known=known)).head == known
    assert server.requests == [f"GET /repo.git{REFS} HTTP/1.1"]


async def test_look_fetches_one_commit_and_no_file__for_its_date(source: GitSource, server: GitServer) -> None:
    noise = bytes((n * 7919) % 251 for n in range(500_000))
    repository = BareRepository(server.folder / "repo.git")
    commit = repository.commit({"SKILL.md": SKILL_MD, "noise.bin": noise}, made_s=MADE_S)
    assert (await source.look(server.url())).head == Head(commit, iso_from_ms(MADE_S * 1000))
    assert server.sent_bytes < 5_000


async def test_look_learns_the_date__from_a_server_that_cannot_leave_files_out(
    source: GitSource, server: GitServer
) -> None:
    repository, commit = repository_at(server.folder)
    (repository.path / "config").write_text("[core]\n\tbare = true\n")
    assert (await source.look(server.url())).head == Head(commit, iso_from_ms(MADE_S * 1000))


async def test_look_says_that_a_repository_is_there__when_its_date_cannot_be_had(
    source: GitSource, server: GitServer
) -> None:
    _, commit = repository_at(server.folder)
    server.change = lambda body: b""
    assert await source.look(server.url()) == SourceLook(HERE, head=Head(commit))


async def test_look_finds_a_repository_without_a_commit(source: GitSource, server: GitServer) -> None:
    BareRepository(server.folder / "repo.git")
    assert await source.look(server.url()) == SourceLook(HERE, LookReason.EMPTY)


async def test_look_finds_a_repository_missing__once_it_is_removed(source: GitSource, tmp_path: Path) -> None:
    repository_at(tmp_path / "served" / "acme")
    async with serve_repositories(tmp_path / "served") as address:
        assert (await source.look(f"{address}/acme/repo")).answer is HERE
        shutil.rmtree(tmp_path / "served" / "acme" / "repo.git")
        assert await source.look(f"{address}/acme/repo") == SourceLook(MISSING, LookReason.NOT_THERE)


@pytest.mark.parametrize(
    ("behave", "found"),
    [
        pytest.param(answer(404), SourceLook(MISSING, LookReason.NOT_THERE), id="404"),
        pytest.param(answer(410), SourceLook(MISSING, LookReason.NOT_THERE), id="410"),
        pytest.param(answer(451), SourceLook(MISSING, LookReason.NOT_THERE), id="451"),
        pytest.param(answer(401), SourceLook(MISSING, LookReason.NOT_PUBLIC), id="401"),
        pytest.param(answer(403), SourceLook(UNCLEAR, LookReason.SERVER_ERROR), id="403"),
        pytest.param(answer(429), SourceLook(UNCLEAR, LookReason.RATE_LIMITED), id="429"),
        pytest.param(
            answer(429, head=b"Retry-After: 120\r\n"),
            SourceLook(UNCLEAR, LookReason.RATE_LIMITED, retry_after_s=120),
            id="429-seconds",
        ),
        pytest.param(
            answer(429, head=b"Date: Mon, 16 Nov 2026 12:00:00 GMT\r\nRetry-After: Mon, 16 Nov 2026 12:05:00 GMT\r\n"),
            SourceLook(UNCLEAR, LookReason.RATE_LIMITED, retry_after_s=300),
            id="429-time",
        ),
        pytest.param(
            answer(403, head=b"X-RateLimit-Remaining: 0\r\n"), SourceLook(UNCLEAR, LookReason.RATE_LIMITED), id="403-none-left"
        ),
        pytest.param(answer(500), SourceLook(UNCLEAR, LookReason.SERVER_ERROR), id="500"),
        pytest.param(answer(503), SourceLook(UNCLEAR, LookReason.SERVER_ERROR), id="503"),
        pytest.param(answer(200, body=b"<html>signed out</html>"), SourceLook(UNCLEAR, LookReason.NOT_GIT), id="html"),
        pytest.param(hang_up(), SourceLook(UNCLEAR, LookReason.UNREACHABLE), id="hang-up"),
        pytest.param(endless_head(), SourceLook(UNCLEAR, LookReason.UNREACHABLE), id="endless-head"),
    ],
)  # fmt: skip
async def test_look_says_what_a_server_answers(source: GitSource, behave: Behaviour, found: SourceLook) -> None:
    async with hostile_server(behave) as server:
        assert await source.look(f"http://127.0.0.1:{server.port}/owner/name") == found
        assert server.connections > 0


@pytest.mark.parametrize("behave", [silence(), drip(every_s=0.05)], ids=["silence", "drip"])
async def test_look_finds_nothing_out__in_a_server_that_is_too_slow(workspace: Path, behave: Behaviour) -> None:
    settings = settings_with(repo_health_look_limit_s=0.5)
    async with GitSource(settings, folder=workspace) as source, hostile_server(behave) as server:
        async with asyncio.timeout(20):
            look = await source.look(f"http://127.0.0.1:{server.port}/owner/name")
    assert look == SourceLook(UNCLEAR, LookReason.TIMED_OUT)


async def test_look_finds_nothing_out__when_nobody_listens(source: GitSource) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/owner/name"
        assert await source.look(url) == SourceLook(UNCLEAR, LookReason.UNREACHABLE)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_look_says_where_a_repository_has_moved__without_going_there(source: GitSource, status: int) -> None:
    async with canary() as listener:
        there = f"http://127.0.0.1:{listener.port}/new/home"
        async with hostile_server(redirect(f"{there}.git{REFS}", status=status)) as server:
            assert await source.look(f"http://127.0.0.1:{server.port}/owner/name") == SourceLook(MOVED, moved_to=there)
        assert listener.connections == 0


async def test_look_takes_a_move_within_a_host__when_the_redirect_names_no_host(source: GitSource) -> None:
    async with hostile_server(redirect(f"/new/home{REFS}")) as server:
        look = await source.look(f"http://127.0.0.1:{server.port}/owner/name")
        assert look == SourceLook(MOVED, moved_to=f"http://127.0.0.1:{server.port}/new/home")


async def test_look_goes_on_at_the_same_repository__when_the_host_wants_its_suffix(
    source: GitSource, server: GitServer
) -> None:
    """Some hosts send everybody from `name` to `name.git`: nothing has moved."""
    _, commit = repository_at(server.folder / "x")

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = front.requests[-1].split()[1].decode()
        if ".git/" not in asked:
            await redirect(asked.replace("/info/refs", ".git/info/refs"))(reader, writer)
            return
        upstream, to_upstream = await asyncio.open_connection("127.0.0.1", server.port)
        to_upstream.write(front.requests[-1])
        length = re.search(rb"content-length: ([0-9]+)", front.requests[-1].lower())
        to_upstream.write(await reader.readexactly(int(length[1]) if length else 0))
        writer.write(await upstream.read())
        to_upstream.close()

    async with hostile_server(behave) as front:
        assert await source.newest_commit(f"http://127.0.0.1:{front.port}/x/repo") == commit
        look = await source.look(
            f"http://127.0.0.1:{front.port}/x/repo", known=Head(commit, "2020-01-01T00:00:00.000Z")
        )
    assert (look.answer, look.head.commit) == (HERE, commit)


@pytest.mark.parametrize(
    ("to", "reason"),
    [
        (f"http://10.0.0.1/owner/name{REFS}", LookReason.NOT_ALLOWED),
        (f"http://169.254.169.254/latest/meta{REFS}", LookReason.NOT_ALLOWED),
        (f"http://[::1]/owner/name{REFS}", LookReason.NOT_ALLOWED),
        (f"ftp://elsewhere.example/owner/name{REFS}", LookReason.NOT_GIT),
        ("http://127.0.0.2/sign-in", LookReason.NOT_GIT),
        (f"http://user:s3cret@127.0.0.2/owner/name{REFS}", LookReason.NOT_GIT),
        ("http://[", LookReason.NOT_GIT),
        ("", LookReason.NOT_GIT),
    ],
)
async def test_look_does_not_tell_of_a_move__to_where_nothing_may_be_fetched(
    workspace: Path, to: str, reason: LookReason
) -> None:
    def judge(address: IpAddress) -> str | None:
        return None if address in (IPv4Address("127.0.0.1"), IPv4Address("127.0.0.2")) else "private"

    settings = Settings(git_protocols="http")
    async with GitSource(settings, folder=workspace, judge=judge) as source, hostile_server(redirect(to)) as server:
        look = await source.look(f"http://127.0.0.1:{server.port}/owner/name")
    assert look == SourceLook(UNCLEAR, reason)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:{port}/a/b", "http://localhost:{port}/a/b", "http://[::1]:{port}/a/b"]
)
async def test_look_reaches_nothing_private(workspace: Path, url: str) -> None:
    settings = Settings(git_protocols="http,https")
    async with canary() as listener, GitSource(settings, folder=workspace) as source:
        look = await source.look(url.format(port=listener.port))
        assert (look, listener.connections) == (SourceLook(UNCLEAR, LookReason.NOT_ALLOWED), 0)


async def test_look_finds_nothing_out__when_the_host_has_no_address(workspace: Path) -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    async with GitSource(settings_with(), folder=workspace, resolve=resolve) as source:
        assert await source.look("https://nowhere.example/a/b") == SourceLook(UNCLEAR, LookReason.UNREACHABLE)


async def test_look_trusts_the_certificates_that_git_does(
    tmp_path: Path, workspace: Path, certificate: Path, tls: object
) -> None:
    make_repository(tmp_path / "repo.git", {"SKILL.md": SKILL_MD})
    async with git_server(tmp_path, host="localhost", tls=tls) as server:  # type: ignore[arg-type]
        async with GitSource(settings_with(git_ca_file=str(certificate)), folder=workspace) as source:
            assert (await source.look(server.url())).answer is HERE
        async with GitSource(settings_with(), folder=workspace) as source:
            assert await source.look(server.url()) == SourceLook(UNCLEAR, LookReason.UNREACHABLE)
