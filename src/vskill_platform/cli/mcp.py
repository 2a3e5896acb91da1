"""`vskill-platform mcp`: the registry as an MCP server, for agents that ask before they install."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from vskill_platform.cli.client_options import REGISTRY, TOKEN_FILE, client_limits, require_server, scope_of, token_of
from vskill_platform.client.connection import parse_server
from vskill_platform.domain.errors import McpNotInstalled
from vskill_platform.settings import LOOPBACK

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

HELP = "Serve a registry to agents by the Model Context Protocol: search, verdicts, verification, submission."
_MAX_BODY_BYTES = 256 * 1024


def mcp(
    http: int | None = typer.Option(
        None,
        "--http",
        metavar="PORT",
        min=0,
        max=65535,
        help="Serve streamable HTTP on this port of loopback; 0 takes a free one.",
    ),
    root: Path = typer.Option(
        Path(), "--root", metavar="FOLDER", help="No folder outside this one is read. Default: here."
    ),
    read_only: bool = typer.Option(
        False, "--read-only", help="Leave submitting out. Over HTTP, so it is without a token."
    ),
    server: str = REGISTRY,
    token_file: Path | None = TOKEN_FILE,
) -> None:
    """Serve a registry by MCP, over standard input and output, or over HTTP on this machine alone."""
    try:
        from vskill_platform.client.mcp_server import RegistryTools, make_server
    except ModuleNotFoundError as exc:
        raise McpNotInstalled("The MCP server needs a package: pip install 'vskill-platform[mcp]'.") from exc
    parse_server(require_server(server))
    token = token_of(token_file)
    scope = scope_of(root, is_global=False)
    tools = RegistryTools(server, token=token, scope=scope, limits=client_limits())
    made = make_server(tools, may_submit=not read_only and (http is None or bool(token)))
    asyncio.run(made.run_stdio_async() if http is None else _serve_http(made, http))


async def _serve_http(made: MCPServer[object], port: int) -> None:
    """Serve every request by itself, without sessions. Other hosts' names and pages of other sites are refused."""
    import uvicorn

    from vskill_platform.app.listening import address_of, open_listener

    listener = open_listener(LOOPBACK, port, chosen_by="--http")
    application = made.streamable_http_app(
        stateless_http=True, json_response=True, max_request_body_size=_MAX_BODY_BYTES, host=LOOPBACK
    )
    print(f"The MCP server is up at {address_of(listener)}/mcp", file=sys.stderr, flush=True)
    await uvicorn.Server(uvicorn.Config(application, log_level="warning")).serve(sockets=[listener])
