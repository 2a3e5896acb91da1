"""How commands reach a registry: over HTTP, over the control socket of the one that runs, or by opening its store.

Whichever it is, a command speaks to the same application, so it has one way of asking and one way of failing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import httpx
import typer

from vskill_platform.client.connection import RegistryClient as RegistryClient
from vskill_platform.client.connection import open_connection, parse_server
from vskill_platform.domain.errors import RegistryUnreachable
from vskill_platform.domain.redaction import hide_password
from vskill_platform.settings import Settings

SERVER = typer.Option(
    None,
    "--server",
    envvar=["VSKILL_PLATFORM_SERVER", "VSKILL_SERVER"],
    help="Address of a registry. Default: the one of the settings.",
    show_default=False,
)
_LIMIT_S = 60.0


@asynccontextmanager
async def open_registry(settings: Settings, *, server: str | None = None) -> AsyncIterator[RegistryClient]:
    """The registry at an address, or the one that the settings name: running, or opened for this command.

    On PostgreSQL a command opens the database beside the processes that run on it.
    """
    from vskill_platform.app import control_socket

    socket = control_socket(settings)
    if server is not None:
        async with open_connection(parse_server(server).url) as client:
            yield client
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
    from vskill_platform.web.commands import create_command_app

    require_registry(settings)
    async with open_env(settings) as env:
        inside = httpx.ASGITransport(app=cast("Any", create_command_app(env)))
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
