"""The wire to a registry: typed answers, the registry's own errors, and a bound on everything that is read and waited for."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

import httpx
import msgspec

from vskill_platform.domain.errors import (
    ArchiveRefused,
    InvalidInput,
    RegistryUnreachable,
    SkillMoved,
    VskillError,
    error_tree,
)
from vskill_platform.domain.problem import Problem

T = TypeVar("T")
Tell = Callable[[str, int, int | None], None]
"""Is told what is being done, how much of it is done, and how much it is in all."""
ANSWER_LIMIT_S = 60.0
DOWNLOAD_LIMIT_S = 600.0
MAX_ANSWER_BYTES = 32 * 1024 * 1024
PRIVATE_PREFIX = "/p/"
_ERRORS = {error.code: error for error in error_tree()}


class ServerAddress(NamedTuple):
    """Where a registry is: the address that may be shown and written down, and the secret of a private path in it."""

    url: str
    secret: str = ""


def parse_server(text: str) -> ServerAddress:
    """A registry's address as people give it, which may be that of a private path. Raises InvalidInput."""
    parts = urlsplit(text.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise InvalidInput("A registry's address looks like https://skills.example.com. Give one with --server.")
    if parts.username is not None or parts.password is not None:
        raise InvalidInput("A registry's address has no name and password in it. Put a token in a file: --token-file.")
    before, found, secret = parts.path.rstrip("/").partition(PRIVATE_PREFIX)
    return ServerAddress(f"{parts.scheme}://{parts.netloc}{before}", secret.split("/", 1)[0] if found else "")


@asynccontextmanager
async def open_connection(server: str, *, token: str = "") -> AsyncIterator[RegistryClient]:
    """A connection to the registry at an address. Raises InvalidInput for a token that others could read on the way."""
    async with open_client(server, token=token) as client:
        yield RegistryClient(client, server)


@asynccontextmanager
async def open_client(server: str, *, token: str = "") -> AsyncIterator[httpx.AsyncClient]:
    """The bare wire to an address. Certificates are those of SSL_CERT_FILE where it is set.

    Proxies of the environment are not used, and no redirect is followed: there is no network but the registry.
    """
    if token and not _is_private(server):
        raise InvalidInput(f"A token would go to {server} unencrypted. Use an https address.")
    headers = {"User-Agent": "vskill-platform", **({"Authorization": f"Bearer {token}"} if token else {})}
    trust: Any = httpx.create_ssl_context() if server.startswith("https") else True
    async with httpx.AsyncClient(
        base_url=server, timeout=ANSWER_LIMIT_S, trust_env=False, headers=headers, verify=trust
    ) as client:
        yield client


def _is_private(server: str) -> bool:
    """Whether nobody on the way can read what goes to an address."""
    parts = urlsplit(server)
    host = parts.hostname or ""
    if parts.scheme == "https" or host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class RegistryClient:
    """Asks a registry and gives typed answers. Raises the registry's own errors."""

    def __init__(self, client: httpx.AsyncClient, place: str) -> None:
        self._client = client
        self.place = place

    async def get(self, path: str, kind: type[T], **parameters: object) -> T:
        """Read something."""
        given = {name: value for name, value in parameters.items() if value not in (None, "")}
        return await self._ask("GET", path, kind, params=given)

    async def post(self, path: str, kind: type[T], body: object) -> T:
        """Have something done."""
        return await self._write("POST", path, kind, body)

    async def put(self, path: str, kind: type[T], body: object) -> T:
        """Have something be otherwise."""
        return await self._write("PUT", path, kind, body)

    async def download(self, path: str, *, size: int, tell: Tell) -> bytes:
        """So many bytes, neither more nor fewer. Raises ArchiveRefused for any other number of them."""
        # What is decoded on the way could be any size; what comes as it is cannot.
        plain = {"Accept-Encoding": "identity"}
        async with self._sending("GET", path, limit_s=DOWNLOAD_LIMIT_S, headers=plain) as answer:
            if not answer.is_success:
                raise self._error(answer, await self._read(answer))
            if answer.headers.get("Content-Encoding", "identity") != "identity":
                raise ArchiveRefused(f"{self.place} sent an archive in a coding that was not asked for.")
            content = bytearray()
            async for piece in answer.aiter_raw():
                content += piece
                if len(content) > size:
                    break
                tell("Bytes fetched", len(content), size)
        if len(content) != size:
            raise ArchiveRefused(
                f"{self.place} states {size} bytes for the archive and sent {'more' if len(content) > size else len(content)}. "
                "Nothing was installed. Try again; if it stays so, tell the registry's operator."
            )
        return bytes(content)

    async def _write(self, method: str, path: str, kind: type[T], body: object) -> T:
        content = msgspec.json.encode(body)
        headers = {"Content-Type": "application/json"}
        return await self._ask(method, path, kind, content=content, headers=headers)

    async def _ask(self, method: str, path: str, kind: type[T], **options: Any) -> T:
        async with self._sending(method, path, limit_s=ANSWER_LIMIT_S, **options) as answer:
            content = await self._read(answer)
        if not answer.is_success:
            raise self._error(answer, content)
        try:
            return msgspec.json.decode(content, type=kind)
        except (msgspec.MsgspecError, UnicodeDecodeError) as exc:
            raise self._no_registry(answer) from exc

    @asynccontextmanager
    async def _sending(
        self, method: str, path: str, *, limit_s: float, **options: Any
    ) -> AsyncIterator[httpx.Response]:
        try:
            async with asyncio.timeout(limit_s), self._client.stream(method, path, **options) as answer:
                yield answer
        except (httpx.HTTPError, TimeoutError) as exc:
            why = f"{type(exc).__name__}: {exc}".rstrip(": ")
            raise RegistryUnreachable(
                f"The registry at {self.place} does not answer ({why}). Look at its log, or restart it."
            ) from exc

    async def _read(self, answer: httpx.Response) -> bytes:
        content = bytearray()
        async for piece in answer.aiter_bytes():
            content += piece
            if len(content) > MAX_ANSWER_BYTES:
                raise RegistryUnreachable(f"{self.place} answers with more than anybody could need. Is it a registry?")
        return bytes(content)

    def _error(self, answer: httpx.Response, content: bytes) -> VskillError:
        try:
            problem = msgspec.json.decode(content, type=Problem)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return self._no_registry(answer)
        if problem.code == SkillMoved.code:
            return SkillMoved(problem.detail, location=answer.headers.get("Location", ""))
        return _ERRORS.get(problem.code, VskillError)(problem.detail)

    def _no_registry(self, answer: httpx.Response) -> RegistryUnreachable:
        return RegistryUnreachable(
            f"{self.place} answered {answer.status_code} with something that no registry says. Is it one?"
        )
