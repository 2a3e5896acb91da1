"""Git over HTTP, for reading: what `git clone` and `git fetch` speak to.

Two requests are served for each repository, the list of its refs and the pack that a client asks for; the work is done
by `git upload-pack`. Pushing is refused, and so is the older protocol that reads single files. A client's words reach
git only as the body of a request: names and headers pass narrow patterns first.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple

import structlog
from litestar.enums import ScopeType
from litestar.types import HTTPScope, Receive, Scope, Send

from vskill_platform.domain.errors import InvalidInput, ValueTooLarge
from vskill_platform.web.clients.request_body import ClientGone, read_body
from vskill_platform.web.clients.responses import GitResponse, Refusal, only_method, send_refusal
from vskill_platform.web.clients.upload_pack import Git, UploadPack

FindRepository = Callable[[str], Awaitable[Path | None]]

UPLOAD_PACK = "git-upload-pack"
RECEIVE_PACK = "git-receive-pack"
MAX_PATH_CHARACTERS = 300

_SEGMENT = r"[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_-])?"
_PATH = re.compile(rf"/(?P<name>{_SEGMENT}(?:/{_SEGMENT}){{0,7}}?)/(?P<what>info/refs|git-[a-z-]+)")
_PROTOCOL = re.compile(r"version=[012]")
_SERVICE_LINE = f"001e# service={UPLOAD_PACK}\n0000".encode()
_NOT_FOUND = Refusal(404, "There is no such repository.")
_READ_ONLY = Refusal(403, "This registry is read-only over git. Submit the repository instead of pushing to it.")
_SMART_ONLY = Refusal(403, f"Ask for info/refs?service={UPLOAD_PACK}, as any git from 1.6.6 on does.")
_BUSY = Refusal(503, "Too many clones at once. Try again in a moment.", ((b"retry-after", b"5"),))
_TOO_SLOW = Refusal(408, "The request took too long to arrive. Try again.", ((b"connection", b"close"),))
_log = structlog.get_logger(__name__)


class GitLimits(NamedTuple):
    """What one request may take, and how many git processes may run at once."""

    body_bytes: int = 4 * 1024 * 1024
    body_s: float = 60.0
    answer_s: float = 600.0
    processes: int = 32
    place_s: float = 30.0


class _Job(NamedTuple):
    """A run of git that a request asks for. `preface` is sent before its output."""

    name: str
    repository: Path
    options: tuple[str, ...]
    protocol: str
    content_type: str
    preface: bytes = b""
    request: bytes = b""


class GitHttp:
    """An ASGI application that serves what `find_repository` finds below `prefix`.

    `find_repository` gets a name of one to eight segments, such as `acme/greeting`, and gives the folder of a bare
    repository, or None; clients may write it with `.git` or without. A name has letters, digits, dots, dashes and
    underscores only; no segment begins or ends with a dot or ends in `.git`.
    """

    def __init__(self, find_repository: FindRepository, *, prefix: str = "", limits: GitLimits | None = None) -> None:
        self._find_repository = find_repository
        self._prefix = prefix.rstrip("/")
        self._limits = limits or GitLimits()
        self._git = Git()
        self._places = asyncio.Semaphore(self._limits.processes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != ScopeType.HTTP:
            return
        try:
            job = await self._understand(scope, receive)
        except ClientGone:
            return
        if isinstance(job, Refusal):
            await send_refusal(send, job)
        else:
            await self._run(job, receive, send)

    async def _understand(self, scope: HTTPScope, receive: Receive) -> _Job | Refusal:
        found = _PATH.fullmatch(self._path(scope))
        name = "" if found is None else found["name"].removesuffix(".git")
        if found is None or any(segment.lower().endswith((".git", ".")) for segment in name.split("/")):
            return _NOT_FOUND
        if found["what"] == RECEIVE_PACK:
            return _READ_ONLY
        if found["what"] == "info/refs":
            return await self._understand_refs(scope, name)
        if found["what"] == UPLOAD_PACK:
            return await self._understand_pack(scope, receive, name)
        return _NOT_FOUND

    def _path(self, scope: HTTPScope) -> str:
        """The path as it was sent, less the prefix; empty where it cannot be ours. What is escaped stays escaped."""
        path = (scope.get("raw_path") or scope["path"].encode()).decode("latin-1")
        if len(path) > MAX_PATH_CHARACTERS + len(self._prefix) or not path.startswith(self._prefix):
            return ""
        return path.removeprefix(self._prefix)

    async def _understand_refs(self, scope: HTTPScope, name: str) -> _Job | Refusal:
        if scope["method"] != "GET":
            return only_method("GET")
        if scope["query_string"] != f"service={UPLOAD_PACK}".encode():
            return _READ_ONLY if scope["query_string"] == f"service={RECEIVE_PACK}".encode() else _SMART_ONLY
        repository = await self._find_repository(name)
        if repository is None:
            return _NOT_FOUND
        protocol = _protocol(scope)
        return _Job(
            name,
            repository,
            ("--http-backend-info-refs",),
            protocol,
            f"application/x-{UPLOAD_PACK}-advertisement",
            preface=b"" if protocol == "version=2" else _SERVICE_LINE,
        )

    async def _understand_pack(self, scope: HTTPScope, receive: Receive, name: str) -> _Job | Refusal:
        if scope["method"] != "POST":
            return only_method("POST")
        if _header(scope, b"content-type") != f"application/x-{UPLOAD_PACK}-request":
            return Refusal(415, f"Send application/x-{UPLOAD_PACK}-request.")
        encoding = _header(scope, b"content-encoding") or "identity"
        if encoding not in ("gzip", "x-gzip", "identity"):
            return Refusal(415, "Send the request plain or as gzip.")
        repository = await self._find_repository(name)
        if repository is None:
            return _NOT_FOUND
        request = await self._read(receive, is_gzipped=encoding != "identity")
        if isinstance(request, Refusal):
            return request
        return _Job(name, repository, (), _protocol(scope), f"application/x-{UPLOAD_PACK}-result", request=request)

    async def _read(self, receive: Receive, *, is_gzipped: bool) -> bytes | Refusal:
        try:
            async with asyncio.timeout(self._limits.body_s):
                return await read_body(receive, is_gzipped=is_gzipped, max_bytes=self._limits.body_bytes)
        except ValueTooLarge as error:
            return Refusal(413, error.message)
        except InvalidInput as error:
            return Refusal(400, error.message)
        except TimeoutError:
            return _TOO_SLOW

    async def _run(self, job: _Job, receive: Receive, send: Send) -> None:
        try:
            async with asyncio.timeout(self._limits.place_s):
                await self._places.acquire()
        except TimeoutError:
            await send_refusal(send, _BUSY)
            return
        try:
            async with self._git.upload_pack(job.repository, *job.options, protocol=job.protocol) as git:
                await self._pass_on(job, git, receive, send)
        finally:
            self._places.release()

    async def _pass_on(self, job: _Job, git: UploadPack, receive: Receive, send: Send) -> None:
        """Pass git's output on. An answer that was cut off is left unfinished, so that the client knows."""
        response = GitResponse(send, content_type=job.content_type, preface=job.preface)
        try:
            async with asyncio.timeout(self._limits.answer_s), asyncio.TaskGroup() as group:
                watching = group.create_task(_kill_when_gone(git, receive))
                await git.answer(job.request, pass_on=response.send)
                watching.cancel()
        except TimeoutError:
            _log.warning("git_answer_cut_off", repository=job.name, limit_s=self._limits.answer_s)
            return
        if git.exit_code:
            _log.warning("git_failed", repository=job.name, exit_code=git.exit_code, errors=bytes(git.errors))
        if git.exit_code is not None and git.exit_code >= 0:
            await response.finish(has_failed=git.exit_code > 0)


async def _kill_when_gone(git: UploadPack, receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    git.kill()


def _protocol(scope: HTTPScope) -> str:
    """The protocol version that the client asks for; empty for anything that is not exactly one."""
    asked = _header(scope, b"git-protocol")
    return asked if _PROTOCOL.fullmatch(asked) else ""


def _header(scope: HTTPScope, name: bytes) -> str:
    values = [value for key, value in scope["headers"] if key.lower() == name]
    return values[0].decode("latin-1").strip().lower() if len(values) == 1 else ""


def repositories_below(folder: Path) -> FindRepository:
    """Find repositories in a folder by their name: `{name}.git`, `{name}` or `{name}/.git`, and nothing outside it."""
    root = folder.resolve()

    def look(name: str) -> Path | None:
        for candidate in (root / f"{name}.git", root / name, root / name / ".git"):
            if (candidate / "HEAD").is_file() and candidate.resolve().is_relative_to(root):
                return candidate
        return None

    async def find(name: str) -> Path | None:
        return await asyncio.to_thread(look, name)

    return find
