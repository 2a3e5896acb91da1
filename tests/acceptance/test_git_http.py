"""Git over HTTP, with the real git on both sides of a real socket."""

from __future__ import annotations

import asyncio
import gzip
import os
import signal
import subprocess
import tracemalloc
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from litestar.types import HTTPRequestEvent

from vskill_platform.domain.errors import ValueTooLarge
from vskill_platform.testing.git_server import (
    serve_application,
    serve_application_in_thread,
    serve_repositories,
    serve_repositories_in_thread,
)
from vskill_platform.testing.waits import eventually
from vskill_platform.web.clients.git_http import GitHttp, GitLimits, repositories_below
from vskill_platform.web.clients.request_body import read_body

ADVERTISE = "info/refs?service=git-upload-pack"
PACK_REQUEST = "application/x-git-upload-pack-request"
LARGE_BYTES = 32 * 1024 * 1024


def git(*arguments: str | Path, cwd: Path, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run git as a user without any configuration would."""
    return subprocess.run(
        ["git", *map(str, arguments)],
        cwd=cwd,
        env=client_environment(cwd),
        check=check,
        capture_output=True,
        text=True,
        timeout=60,
    )


def client_environment(home: Path) -> dict[str, str]:
    people = {f"GIT_{role}_{field}": "a@example.com" for role in ("AUTHOR", "COMMITTER") for field in ("NAME", "EMAIL")}
    quiet = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_TERMINAL_PROMPT": "0"}
    return {"PATH": os.environ["PATH"], "HOME": str(home), "LC_ALL": "C", **people, **quiet}


def make_repository(path: Path, files: dict[str, bytes], *, commits: int = 1) -> Path:
    """A bare repository with so many commits on `main`; each changes a file `count`."""
    work = path.parent / f"{path.stem}-work"
    work.mkdir(parents=True)
    git("init", "--quiet", "--initial-branch=main", ".", cwd=work)
    for name, content in files.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_bytes(content)
    for number in range(commits):
        (work / "count").write_text(f"{number}\n")
        git("add", "--all", cwd=work)
        git("commit", "--quiet", "--message", f"commit {number}", cwd=work)
    git("clone", "--quiet", "--bare", str(work), str(path), cwd=work)
    return path


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small repository, one in a deeper folder, and one of some megabytes."""
    folder = tmp_path_factory.mktemp("served")
    make_repository(folder / "acme" / "greeting.git", {"SKILL.md": b"---\nname: greeting\n---\nHello\n"}, commits=5)
    make_repository(folder / "large.git", {"noise": os.urandom(LARGE_BYTES)})
    return folder


@pytest.fixture(scope="module")
def base_url(served: Path) -> Iterator[str]:
    with serve_repositories_in_thread(served) as url:
        yield url


@contextmanager
def ask(base_url: str, method: str, path: str, *, body: bytes | None = None, **headers: str) -> Iterator[HTTPResponse]:
    """One request with the path exactly as given."""
    address = urlsplit(base_url)
    connection = HTTPConnection(str(address.hostname), address.port, timeout=30)
    try:
        connection.request(
            method, path, body=body, headers={key.replace("_", "-"): value for key, value in headers.items()}
        )
        yield connection.getresponse()
    finally:
        connection.close()


def status_of(base_url: str, method: str, path: str, *, body: bytes | None = None, **headers: str) -> int:
    with ask(base_url, method, path, body=body, **headers) as response:
        response.read()
        return response.status


def packet(line: str) -> bytes:
    return f"{len(line) + 4:04x}{line}".encode()


def want_all(repository: Path) -> bytes:
    """The request of a clone, in the oldest protocol."""
    tip = git("rev-parse", "main", cwd=repository).stdout.strip()
    return packet(f"want {tip}\n") + b"0000" + packet("done\n")


def test_clone_has_every_commit(base_url: str, tmp_path: Path) -> None:
    git("clone", "--quiet", f"{base_url}/acme/greeting.git", "copy", cwd=tmp_path)
    assert (tmp_path / "copy" / "SKILL.md").read_text().endswith("Hello\n")
    assert git("rev-list", "--count", "HEAD", cwd=tmp_path / "copy").stdout.strip() == "5"
    git("fsck", "--strict", cwd=tmp_path / "copy")


def test_clone_has_one_commit__when_it_is_shallow(base_url: str, tmp_path: Path) -> None:
    git("clone", "--quiet", "--depth=1", f"{base_url}/acme/greeting.git", "copy", cwd=tmp_path)
    assert git("rev-list", "--count", "HEAD", cwd=tmp_path / "copy").stdout.strip() == "1"
    assert (tmp_path / "copy" / "count").read_text() == "4\n"


def test_clone_leaves_files_out__when_it_is_filtered(base_url: str, tmp_path: Path) -> None:
    git("clone", "--quiet", "--bare", "--filter=blob:none", f"{base_url}/acme/greeting.git", "copy", cwd=tmp_path)
    listing = git("rev-list", "--objects", "--missing=print", "--all", cwd=tmp_path / "copy").stdout
    assert listing.count("\n?") == 6


@pytest.mark.parametrize("version", ["0", "2"])
def test_fetch_gets_a_commit_by_its_id__when_no_branch_points_at_it(
    base_url: str, served: Path, tmp_path: Path, version: str
) -> None:
    commit = git("rev-parse", "main~3", cwd=served / "acme" / "greeting.git").stdout.strip()
    git("init", "--quiet", ".", cwd=tmp_path)
    fetch = ("-c", f"protocol.version={version}", "fetch", "--quiet", "--depth=1")
    git(*fetch, f"{base_url}/acme/greeting.git", commit, cwd=tmp_path)
    assert git("show", "FETCH_HEAD:count", cwd=tmp_path).stdout == "1\n"


@pytest.mark.parametrize("version", ["0", "1", "2"])
def test_clone_works_in_every_protocol_version(base_url: str, tmp_path: Path, version: str) -> None:
    git("-c", f"protocol.version={version}", "clone", "--quiet", f"{base_url}/acme/greeting.git", "copy", cwd=tmp_path)
    assert (tmp_path / "copy" / "SKILL.md").exists()


@pytest.mark.parametrize(
    ("asked", "beginning"),
    [
        ("version=2", b"000eversion 2\n"),
        ("version=1", b"001e# service=git-upload-pack\n0000000eversion 1\n"),
        ("version=0", b"001e# service=git-upload-pack\n0000"),
        ("version=2:extra", b"001e# service=git-upload-pack\n0000"),
        ("version=2 --upload-pack=x", b"001e# service=git-upload-pack\n0000"),
    ],
)
def test_refs_are_listed_in_the_version_that_is_asked_for(base_url: str, asked: str, beginning: bytes) -> None:
    with ask(base_url, "GET", f"/acme/greeting.git/{ADVERTISE}", Git_Protocol=asked) as response:
        body = response.read()
    assert body.startswith(beginning)
    assert (b"version 2" in body) == (asked == "version=2")
    assert response.headers["Content-Type"] == "application/x-git-upload-pack-advertisement"
    assert "no-cache" in response.headers["Cache-Control"]


@pytest.mark.parametrize("encoding", ["identity", "gzip"])
def test_pack_is_sent__when_the_request_is_plain_or_compressed(base_url: str, served: Path, encoding: str) -> None:
    request = want_all(served / "acme" / "greeting.git")
    body = gzip.compress(request) if encoding == "gzip" else request
    path = "/acme/greeting.git/git-upload-pack"
    with ask(base_url, "POST", path, body=body, Content_Type=PACK_REQUEST, Content_Encoding=encoding) as response:
        answer = response.read()
    assert answer.startswith(b"0008NAK\nPACK")
    assert response.headers["Content-Type"] == "application/x-git-upload-pack-result"
    assert "no-cache" in response.headers["Cache-Control"]


def test_git_says_so_in_the_protocol__when_an_object_is_not_there(base_url: str) -> None:
    request = packet(f"want {'1' * 40}\n") + b"0000" + packet("done\n")
    with ask(
        base_url, "POST", "/acme/greeting.git/git-upload-pack", body=request, Content_Type=PACK_REQUEST
    ) as response:
        assert (response.status, b"ERR upload-pack: not our ref" in response.read()) == (200, True)


def test_request_is_refused__when_its_body_is_not_as_it_should_be(served: Path) -> None:
    application = GitHttp(repositories_below(served), limits=GitLimits(body_bytes=1000))
    path = "/acme/greeting.git/git-upload-pack"

    def post(body: bytes, *, encoding: str = "gzip", content_type: str = PACK_REQUEST) -> int:
        return status_of(url, "POST", path, body=body, Content_Type=content_type, Content_Encoding=encoding)

    with serve_application_in_thread(application) as url:
        assert post(b"x" * 1001, encoding="identity") == 413
        assert post(gzip.compress(b"0" * 100_000_000)) == 413
        assert post(b"no gzip at all") == 400
        assert post(gzip.compress(b"0000")[:-4]) == 400
        assert post(gzip.compress(b"0000") + b"more") == 400
        assert post(b"0000", encoding="br") == 415
        assert post(b"0000", encoding="identity", content_type="text/plain") == 415
        assert post(b"0000", encoding="identity") == 200


def test_push_is_refused_and_changes_nothing(base_url: str, served: Path, tmp_path: Path) -> None:
    before = git("rev-parse", "main", cwd=served / "acme" / "greeting.git").stdout
    git("clone", "--quiet", f"{base_url}/acme/greeting.git", "copy", cwd=tmp_path)
    git("commit", "--quiet", "--allow-empty", "--message", "mine", cwd=tmp_path / "copy")
    pushed = git("push", "origin", "main", cwd=tmp_path / "copy", check=False)
    assert (pushed.returncode, "403" in pushed.stderr) == (128, True)
    assert git("rev-parse", "main", cwd=served / "acme" / "greeting.git").stdout == before


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/acme/greeting.git/info/refs?service=git-receive-pack", 403),
        ("POST", "/acme/greeting.git/git-receive-pack", 403),
        ("GET", "/acme/greeting.git/info/refs", 403),
        ("GET", f"/acme/greeting.git/{ADVERTISE}&service=git-receive-pack", 403),
        ("GET", "/acme/greeting.git/HEAD", 404),
        ("HEAD", "/acme/greeting.git/objects/info/packs", 404),
        ("GET", "/acme/greeting.git/config", 404),
        ("GET", "/acme/greeting.git/objects/../config", 404),
        ("GET", "/acme/greeting.git/git-upload-pack", 405),
        ("POST", f"/acme/greeting.git/{ADVERTISE}", 405),
        ("HEAD", f"/acme/greeting.git/{ADVERTISE}", 405),
        ("GET", f"/acme/nothing.git/{ADVERTISE}", 404),
        ("GET", f"/acme.git/{ADVERTISE}", 404),
        ("POST", "/acme/nothing.git/git-upload-pack", 415),
        ("GET", "/", 404),
    ],
)
def test_nothing_else_is_served(base_url: str, method: str, path: str, status: int) -> None:
    assert status_of(base_url, method, path) == status


def test_clone_says_that_the_repository_is_not_there(base_url: str, tmp_path: Path) -> None:
    cloned = git("clone", f"{base_url}/acme/nothing.git", cwd=tmp_path, check=False)
    assert (cloned.returncode, "not found" in cloned.stderr) == (128, True)


TRAVERSALS = [
    *(
        "/../large",
        "/acme/../large",
        "/%2e%2e/large",
        "/acme/..%2flarge",
        "/acme%2fgreeting",
        "/acme//greeting",
        "//large",
    ),
    *("/.large", "/large.", "/acme/.", "/-large", "/large%00", "/large%0a", "/la rge".replace(" ", "%20"), "/large~1"),
    *("/acme\\greeting", "/large.git/large", "/LARGE.GIT", "/a/b/c/d/e/f/g/h/i", "/" + "a" * 400, "/l%C3%A4rge", "/."),
]


@pytest.mark.parametrize("name", TRAVERSALS)
def test_name_is_refused_before_anybody_looks_for_it__when_it_is_not_plain(served: Path, name: str) -> None:
    looked_for: list[str] = []

    async def find(name: str) -> Path:
        looked_for.append(name)
        return served / "large.git"

    with serve_application_in_thread(GitHttp(find)) as url:
        assert status_of(url, "GET", f"{name}.git/{ADVERTISE}") == 404
        assert looked_for == []
        assert status_of(url, "GET", f"/a/b-1_2.3/c.git/{ADVERTISE}") == 200
        assert looked_for == ["a/b-1_2.3/c"]


def test_repository_is_found_below_the_prefix_only(served: Path, tmp_path: Path) -> None:
    with serve_application_in_thread(GitHttp(repositories_below(served), prefix="/git")) as url:
        git("clone", "--quiet", f"{url}/git/acme/greeting.git", "copy", cwd=tmp_path)
        assert status_of(url, "GET", f"/acme/greeting.git/{ADVERTISE}") == 404


async def test_finding_stays_in_the_folder__when_a_link_leads_out_of_it(served: Path, tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "out.git").symlink_to(served / "acme" / "greeting.git")
    assert await repositories_below(tmp_path / "inside")("out") is None
    assert await repositories_below(served)("acme/greeting") == served / "acme" / "greeting.git"
    assert await repositories_below(served)("large-work") == served / "large-work" / ".git"


def test_configuration_of_the_user_does_not_count(
    served: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".gitconfig").write_text("[uploadpack]\n\thideRefs = refs/heads\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / ".gitconfig"))
    with serve_repositories_in_thread(served) as url, ask(url, "GET", f"/acme/greeting.git/{ADVERTISE}") as response:
        assert b" refs/heads/main\n" in response.read()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_repository_is_served__when_it_belongs_to_somebody_else(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "theirs.git", {"a": b"a"})
    os.chown(repository, 12345, 12345)
    with serve_repositories_in_thread(tmp_path) as url:
        git("clone", "--quiet", f"{url}/theirs.git", "copy", cwd=tmp_path)


async def test_many_clones_run_side_by_side(served: Path, tmp_path: Path) -> None:
    async def clone(number: int) -> int:
        process = await asyncio.create_subprocess_exec(
            *("git", "clone", "--quiet", "--bare", f"{url}/acme/greeting.git", f"copy{number}"),
            cwd=tmp_path,
            env=client_environment(tmp_path),
        )
        return await process.wait()

    async with serve_repositories(served) as url:
        assert await asyncio.gather(*(clone(number) for number in range(20))) == [0] * 20
        await eventually(lambda: not children_serving(served), what="every git process is gone")


def children_serving(folder: Path) -> list[int]:
    """The git processes that this process started to serve the folder, without those that have ended."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            command, status = (entry / "cmdline").read_bytes(), (entry / "stat").read_text()
        except OSError:
            continue
        state, parent = status.rsplit(")", 1)[1].split()[:2]
        is_ours = int(parent) == os.getpid() and b"upload-pack" in command and os.fsencode(folder) in command
        if is_ours and state != "Z":
            found.append(int(entry.name))
    return found


def pack_request_head(length: int) -> bytes:
    head = f"POST /large.git/git-upload-pack HTTP/1.1\r\nHost: x\r\nContent-Type: {PACK_REQUEST}\r\n"
    return f"{head}Content-Length: {length}\r\n\r\n".encode()


@asynccontextmanager
async def connect(url: str) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection that reads nothing by itself beyond a small buffer."""
    address = urlsplit(url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port, limit=1024)
    try:
        yield reader, writer
    finally:
        writer.transport.abort()
        with suppress(OSError):
            await writer.wait_closed()


@asynccontextmanager
async def stalled_clone(url: str, repository: Path) -> AsyncIterator[asyncio.StreamWriter]:
    """A client that asks for everything, reads the first of it and then stops reading."""
    body = want_all(repository)
    async with connect(url) as (reader, writer):
        writer.write(pack_request_head(len(body)) + body)
        await reader.readuntil(b"PACK")
        yield writer


async def test_answer_is_left_unfinished__when_git_dies(served: Path) -> None:
    async with serve_repositories(served) as url, connect(url) as (reader, writer):
        body = want_all(served / "large.git")
        writer.write(pack_request_head(len(body)) + body)
        await reader.readuntil(b"PACK")
        (child,) = children_serving(served)
        os.kill(child, signal.SIGKILL)
        answer = await reader.read(-1)
        assert len(answer) < LARGE_BYTES
        assert not answer.endswith(b"0\r\n\r\n")


async def test_body_takes_no_memory_beyond_its_bound__when_it_is_a_bomb() -> None:
    bomb = gzip.compress(bytes(100_000_000))

    async def receive() -> HTTPRequestEvent:
        return {"type": "http.request", "body": bomb, "more_body": False}

    tracemalloc.start()
    try:
        with pytest.raises(ValueTooLarge):
            await read_body(receive, is_gzipped=True, max_bytes=100_000)
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


async def test_git_is_killed__when_the_client_goes_away(served: Path) -> None:
    async with serve_repositories(served) as url, stalled_clone(url, served / "large.git") as client:
        (child,) = children_serving(served)
        os.kill(child, signal.SIGSTOP)  # so that it cannot end by itself
        client.transport.abort()
        await eventually(lambda: not children_serving(served), what="the git process is gone")


async def test_answer_is_cut_off_and_git_killed__when_it_takes_too_long(served: Path) -> None:
    application = GitHttp(repositories_below(served), limits=GitLimits(answer_s=1.0))
    body = want_all(served / "large.git")
    async with serve_application(application) as url, connect(url) as (reader, writer):
        writer.write(pack_request_head(len(body)) + body)
        await eventually(lambda: bool(children_serving(served)), what="git runs")
        await eventually(lambda: not children_serving(served), what="the git process is gone")
        answer = await reader.read(-1)
        assert len(answer) < LARGE_BYTES
        assert not answer.endswith(b"0\r\n\r\n")


async def test_request_is_refused__when_its_body_does_not_arrive(served: Path) -> None:
    application = GitHttp(repositories_below(served), limits=GitLimits(body_s=0.1))
    async with serve_application(application) as url, connect(url) as (reader, writer):
        writer.write(pack_request_head(99) + b"0032want")
        assert (await reader.readline()).startswith(b"HTTP/1.1 408")


async def test_request_is_told_to_come_again__when_every_place_is_taken(served: Path) -> None:
    application = GitHttp(repositories_below(served), limits=GitLimits(processes=1, place_s=0.1))

    async def is_answered_with(status: int) -> bool:
        return await asyncio.to_thread(status_of, url, "GET", f"/acme/greeting.git/{ADVERTISE}") == status

    async with serve_application(application) as url:
        async with stalled_clone(url, served / "large.git"):
            assert await is_answered_with(503)
        await eventually(lambda: is_answered_with(200), what="the place is free again")


def test_answer_is_an_error__when_git_cannot_read_the_repository(tmp_path: Path) -> None:
    (tmp_path / "broken.git").mkdir()
    (tmp_path / "broken.git" / "HEAD").write_text("nonsense\n")
    with serve_repositories_in_thread(tmp_path) as url:
        assert status_of(url, "GET", f"/broken.git/{ADVERTISE}") == 500
