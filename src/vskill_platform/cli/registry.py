"""How commands reach a registry: over HTTP, over the control socket of the one that runs, or by opening its store.

Whichever it is, a command speaks to the same application, so it has one way of asking and one way of failing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeVar, cast

import httpx
import msgspec
import typer

from vskill_platform.domain.errors import RegistryUnreachable, VskillError, error_tree
from vskill_platform.domain.redaction import hide_password
from vskill_platform.settings import Settings
from vskill_platform.web.views import Problem

T = TypeVar("T")
SERVER = typer.Option(
    None,
    "--server",
    envvar="VSKILL_SERVER",
    help="Address of a registry. Default: the one of the settings.",
    show_default=False,
)
_LIMIT_S = 60.0
_ERRORS = {error.code: error for error in error_tree()}


class RegistryClient:
    """Asks a registry and gives typed answers. Raises the registry's own errors."""

    def __init__(self, client: httpx.AsyncClient, place: str) -> None:
        self._client = client
        self.place = place

    async def get(self, path: str, kind: type[T], **parameters: object) -> T:
        """Read something."""
        given = {name: value for name, value in parameters.items() if value not in (None, "")}
        return self._read(await self._send("GET", path, params=given), kind)

    async def post(self, path: str, kind: type[T], body: object) -> T:
        """Have something done."""
        return await self._write("POST", path, kind, body)

    async def put(self, path: str, kind: type[T], body: object) -> T:
        """Have something be otherwise."""
        return await self._write("PUT", path, kind, body)

    async def _write(self, method: str, path: str, kind: type[T], body: object) -> T:
        content = msgspec.json.encode(body)
        headers = {"Content-Type": "application/json"}
        return self._read(await self._send(method, path, content=content, headers=headers), kind)

    async def _send(self, method: str, path: str, **options: Any) -> httpx.Response:
        try:
            return await self._client.request(method, path, **options)
        except httpx.HTTPError as exc:
            raise RegistryUnreachable(
                f"The registry at {self.place} does not answer ({type(exc).__name__}: {exc}). Look at its log, or restart it."
            ) from exc

    def _read(self, answer: httpx.Response, kind: type[T]) -> T:
        try:
            if answer.is_success:
                return msgspec.json.decode(answer.content, type=kind)
            problem = msgspec.json.decode(answer.content, type=Problem)
        except msgspec.MsgspecError as exc:
            raise RegistryUnreachable(
                f"{self.place} answered {answer.status_code} with something that no registry says. Is it one?"
            ) from exc
        raise _ERRORS.get(problem.code, VskillError)(problem.detail)


@asynccontextmanager
async def open_registry(settings: Settings, *, server: str | None = None) -> AsyncIterator[RegistryClient]:
    """The registry at an address, or the one that the settings name: running, or opened for this command.

    On PostgreSQL a command opens the database beside the processes that run on it.
    """
    from vskill_platform.app import control_socket

    socket = control_socket(settings)
    if server is not None:
        async with httpx.AsyncClient(base_url=server, timeout=_LIMIT_S, trust_env=False) as client:
            yield RegistryClient(client, server)
    elif socket is not None:
        transport = httpx.AsyncHTTPTransport(uds=str(socket))
        async with httpx.AsyncClient(transport=transport, base_url="http://registry", timeout=_LIMIT_S) as client:
            yield RegistryClient(client, str(socket))
    else:
        async with _open_here(settings) as registry:
            yield registry


@asynccontextmanager
async def _open_here(settings: Settings) -> AsyncIterator[RegistryClient]:
    """The registry of a database, or of a data folder that nobody has open: its application, in this process."""
    from vskill_platform.app import open_env, require_registry
    from vskill_platform.web.app import create_control_app

    require_registry(settings)
    async with open_env(settings) as env:
        inside = httpx.ASGITransport(app=cast("Any", create_control_app(env)))
        async with httpx.AsyncClient(transport=inside, base_url="http://registry", timeout=_LIMIT_S) as client:
            yield RegistryClient(client, hide_password(settings.database_url) or settings.data)


@asynccontextmanager
async def open_running(settings: Settings, *, server: str | None = None) -> AsyncIterator[RegistryClient]:
    """The same, for commands that make no sense while no registry works. Raises RegistryUnreachable.

    Whether one works on PostgreSQL cannot be known from here; what is handed in waits there until one does.
    """
    from vskill_platform.app import control_socket

    if server is None and not settings.database_url and control_socket(settings) is None:
        raise RegistryUnreachable(
            f"No registry runs on '{settings.data}'. Start one with: vskill-platform up — or name one with --server."
        )
    async with open_registry(settings, server=server) as registry:
        yield registry
