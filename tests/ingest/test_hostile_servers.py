"""Servers that are gone, private, elsewhere, slow, endless or broken: each ends in the right error, in time, without a trace."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from ipaddress import IPv4Address
from pathlib import Path

import pytest

from tests.ingest.git_server import GitServer, git_server
from tests.ingest.looking import files_below, processes_of, refused
from tests.ingest.test_fetch import settings_with
from vskill_platform.domain.errors import (
    AddressForbidden,
    FetchTimedOut,
    RepositoryMalformed,
    RepositoryMoved,
    RepositoryNotFound,
    RepositoryTooLarge,
    SourceUnreachable,
    VskillError,
)
from vskill_platform.ingest.git import GitSource
from vskill_platform.ingest.public_addresses import IpAddress
from vskill_platform.settings import Settings
from vskill_platform.testing.git_repos import SKILL_MD, make_repository
from vskill_platform.testing.hostile_servers import (
    Behaviour,
    answer,
    canary,
    drip,
    endless_body,
    endless_head,
    hang_up,
    hostile_server,
    redirect,
    silence,
)


@pytest.mark.parametrize(
    ("behave", "error"),
    [
        pytest.param(answer(404), RepositoryNotFound, id="404"),
        pytest.param(answer(410), RepositoryNotFound, id="410"),
        pytest.param(answer(401, head=b'WWW-Authenticate: Basic realm="x"\r\n'), RepositoryNotFound, id="401"),
        pytest.param(answer(401), RepositoryNotFound, id="401-bare"),
        pytest.param(answer(403), RepositoryNotFound, id="403"),
        pytest.param(answer(451), RepositoryNotFound, id="451"),
        pytest.param(answer(429), SourceUnreachable, id="429"),
        pytest.param(answer(500), SourceUnreachable, id="500"),
        pytest.param(answer(503), SourceUnreachable, id="503"),
        pytest.param(answer(200, body=b"<html>\nnot git\n</html>\n"), RepositoryNotFound, id="html"),
        pytest.param(hang_up(), SourceUnreachable, id="hang-up"),
        pytest.param(endless_head(), SourceUnreachable, id="endless-head"),
    ],
)
async def test_fetch_says_what_a_server_answers(source: GitSource, behave: Behaviour, error: type[VskillError]) -> None:
    async with hostile_server(behave) as server:
        found = await refused(source, f"http://127.0.0.1:{server.port}/owner/name", error)
        assert found.fields["url"] == f"http://127.0.0.1:{server.port}/owner/name"
        with pytest.raises(error):
            await source.newest_commit(f"http://127.0.0.1:{server.port}/owner/name")
        assert server.connections > 0


@pytest.mark.parametrize(
    ("status", "to"),
    [
        (301, "http://127.0.0.1:{port}/x"),
        (302, "http://127.0.0.1:{port}/x"),
        (303, "http://127.0.0.1:{port}/x"),
        (307, "file:///etc/passwd"),
        (308, "https://169.254.169.254"),
    ],
)
async def test_fetch_does_not_follow_a_redirect(source: GitSource, status: int, to: str) -> None:
    async with canary() as listener:
        there = to.format(port=listener.port) + "/info/refs?service=git-upload-pack"
        async with hostile_server(redirect(there, status=status)) as server:
            await refused(source, f"http://127.0.0.1:{server.port}/owner/name", RepositoryMoved)
        assert listener.connections == 0


async def test_fetch_is_cut__after_its_bytes(workspace: Path) -> None:
    async with (
        GitSource(settings_with(fetch_max_bytes=1_000_000), folder=workspace) as source,
        hostile_server(endless_body()) as server,
    ):
        error = await refused(source, f"http://127.0.0.1:{server.port}/owner/name", RepositoryTooLarge)
    assert error.fields["limit"] == "bytes"
    assert error.fields["allowed"] == 1_000_000


async def test_fetch_is_cut__when_a_repository_has_more_bytes(server: GitServer, workspace: Path) -> None:
    noise = {
        f"{n}.bin": n.to_bytes(2, "big") * 3 + bytes((n * k * 7919) % 251 for k in range(4000)) for n in range(200)
    }
    make_repository(server.folder / "repo.git", {"SKILL.md": SKILL_MD, **noise})
    async with GitSource(settings_with(fetch_max_bytes=20_000), folder=workspace) as source:
        await refused(source, server.url(), RepositoryTooLarge)
    async with (
        GitSource(settings_with(fetch_max_bytes=20_000_000), folder=workspace) as source,
        source.fetch(server.url()) as snapshot,
    ):
        assert len(snapshot.folders) == 1


async def test_fetch_ends_after_its_time__though_the_server_is_not_too_slow(workspace: Path) -> None:
    async with (
        GitSource(settings_with(fetch_time_limit_s=1), folder=workspace) as source,
        hostile_server(drip(every_s=0.001)) as server,
    ):
        error = await refused(source, f"http://127.0.0.1:{server.port}/owner/name", FetchTimedOut)
    assert error.fields["limit_s"] == 1


@pytest.mark.parametrize("behave", [drip(every_s=0.1), silence()], ids=["drip", "silence"])
async def test_fetch_ends__after_its_time(workspace: Path, behave: Behaviour) -> None:
    async with (
        GitSource(settings_with(fetch_time_limit_s=1), folder=workspace) as source,
        hostile_server(behave) as server,
    ):
        error = await refused(source, f"http://127.0.0.1:{server.port}/owner/name", FetchTimedOut)
        assert error.retryable
        [opened] = workspace.iterdir()
        assert files_below(opened) == []
        assert [words for words in processes_of(opened) if "git" in words] == []


async def test_fetch_gives_up_on_a_server_that_is_too_slow__before_its_time(workspace: Path) -> None:
    """git's own limit on slowness, at half the time that a fetch may take."""
    async with (
        GitSource(settings_with(fetch_time_limit_s=4), folder=workspace) as source,
        hostile_server(drip(every_s=0.2)) as server,
    ):
        error = await refused(source, f"http://127.0.0.1:{server.port}/owner/name", FetchTimedOut)
        assert "limit_s" not in error.fields


async def test_fetch_is_unreachable__when_nobody_listens(source: GitSource) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        error = await refused(source, f"http://127.0.0.1:{port}/owner/name", SourceUnreachable)
    assert error.fields["reason"] == "connect_failed"


async def test_fetch_is_unreachable__when_the_host_has_no_address(workspace: Path) -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    async with GitSource(settings_with(), folder=workspace, resolve=resolve) as source:
        await refused(source, "https://nowhere.example/owner/name", SourceUnreachable)


async def test_fetch_is_unreachable__when_names_are_not_answered(workspace: Path) -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        await asyncio.Event().wait()
        return []

    async with GitSource(settings_with(fetch_time_limit_s=0.5), folder=workspace, resolve=resolve) as source:
        with pytest.raises(SourceUnreachable):
            async with source.fetch("https://slow.example/owner/name"):
                pass


@pytest.mark.parametrize("keep", [0.3, 0.9])
async def test_fetch_is_unreachable__when_the_connection_breaks_in_the_middle_of_a_pack(
    server: GitServer, source: GitSource, keep: float
) -> None:
    make_repository(server.folder / "repo.git", {"SKILL.md": SKILL_MD, "a": bytes(range(256)) * 40})
    server.cut = keep
    await refused(source, server.url(), SourceUnreachable)


async def test_fetch_refuses_a_pack__whose_bytes_were_changed(server: GitServer, source: GitSource) -> None:
    make_repository(server.folder / "repo.git", {"SKILL.md": SKILL_MD, "a": bytes(range(256)) * 4})

    def change(body: bytes) -> bytes:
        at = body.find(b"PACK")
        return body if at < 0 else body[: at + 40] + bytes([body[at + 40] ^ 0x55]) + body[at + 41 :]

    server.change = change
    await refused(source, server.url(), RepositoryMalformed)


async def test_errors_never_show_what_a_server_says(server: GitServer, source: GitSource) -> None:
    make_repository(server.folder / "repo.git", {"SKILL.md": SKILL_MD})
    words = b"ERR \x1b[31mcall +1-555 now: fsck error: out of memory " + b"x" * 900
    server.change = lambda body: b"%04x" % (len(words) + 4) + words
    error = await refused(source, server.url(), SourceUnreachable)
    assert "555" not in error.message


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:{port}/owner/name",
        "http://localhost:{port}/owner/name",
        "http://localhost.:{port}/owner/name",
        "http://2130706433:{port}/owner/name",
        "http://0x7f.1:{port}/owner/name",
        "http://0177.0.0.1:{port}/owner/name",
        "http://127.1:{port}/owner/name",
        "http://0.0.0.0:{port}/owner/name",
        "http://[::1]:{port}/owner/name",
        "http://[::ffff:127.0.0.1]:{port}/owner/name",
        "http://[64:ff9b::7f00:1]:{port}/owner/name",
        "http://user:s3cret@127.0.0.1:{port}/owner/name",
        "https://127.0.0.1:{port}/owner/name",
        "ftp://127.0.0.1:{port}/owner/name",
        "git://127.0.0.1:{port}/owner/name",
        "file:///etc/passwd",
        "ext::sh -c touch% proof",
        "--upload-pack=touch proof",
        "/etc",
    ],
)
async def test_fetch_reaches_nothing_private(workspace: Path, url: str) -> None:
    settings = Settings(git_protocols="http,https", fetch_time_limit_s=10)
    async with canary() as listener, GitSource(settings, folder=workspace) as source:
        address = url.format(port=listener.port)
        error = await refused(source, address, AddressForbidden)
        with pytest.raises(AddressForbidden):
            await source.newest_commit(address)
        assert listener.connections == 0
    assert "s3cret" not in f"{error.message} {error.fields}"


async def test_fetch_refuses_a_host__with_one_private_address_among_public_ones(workspace: Path) -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        return ["8.8.8.8", "2606:4700::1111", "127.0.0.1"]

    settings = Settings(git_protocols="http,https", fetch_time_limit_s=10)
    async with canary() as listener, GitSource(settings, folder=workspace, resolve=resolve) as source:
        await refused(source, f"http://mixed.example:{listener.port}/owner/name", AddressForbidden)
        assert listener.connections == 0


async def test_fetch_connects_to_the_address_it_checked__when_names_are_rebound(tmp_path: Path) -> None:
    """A name that resolves to a permitted address when it is checked, and to a forbidden one ever after."""
    make_repository(tmp_path / "repo.git", {"SKILL.md": SKILL_MD})
    asked = 0

    async def resolve(host: str, port: int) -> Sequence[str]:
        nonlocal asked
        asked += 1
        return ["127.0.0.2"] if asked == 1 else ["127.0.0.1"]

    def judge(address: IpAddress) -> str | None:
        return None if address == IPv4Address("127.0.0.2") else "not the one that is public here"

    settings = Settings(git_protocols="http", fetch_time_limit_s=10)
    async with (
        git_server(tmp_path, host="127.0.0.2") as server,
        canary(port=server.port) as listener,
        GitSource(settings, folder=tmp_path / "work", resolve=resolve, judge=judge) as source,
    ):
        async with source.fetch(server.url(host="rebound.example"), tree_path="main") as snapshot:
            assert len(snapshot.folders) == 1
        assert (asked, listener.connections) == (1, 0)
        await refused(source, server.url(host="rebound.example"), AddressForbidden)
        assert listener.connections == 0
