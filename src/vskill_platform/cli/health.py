"""`vskill-platform health`: asks the running registry over its control socket, or looks itself when none runs."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import msgspec
import typer
from rich.console import Console
from rich.table import Table

from vskill_platform.app import control_socket, database_path, open_env
from vskill_platform.cli.options import DATA, settings_from
from vskill_platform.domain.errors import NotFound, RegistryUnreachable, StoreUnavailable
from vskill_platform.settings import Settings
from vskill_platform.stores.health import Health, read_health
from vskill_platform.web.health import Unhealthy
from vskill_platform.worker_context import run_with_worker_env

HELP = "Show how the queue and the submissions stand."
_LIMIT_S = 10.0


def health(
    data: str | None = DATA,
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """Show how the queue and the submissions stand."""
    settings = settings_from(data=data)
    socket = control_socket(settings)
    found = asyncio.run(_look(settings)) if socket is None else _ask(socket)
    if as_json:
        typer.echo(msgspec.json.format(msgspec.json.encode(found)).decode())
    else:
        Console().print(_table(found, is_running=socket is not None))


async def _look(settings: Settings) -> Health:
    if not database_path(settings).exists():
        raise NotFound(f"There is no registry in '{settings.data}'. Start one with: vskill-platform up --data DIR")
    async with open_env(settings) as env:
        return await run_with_worker_env(env, read_health)


def _ask(socket: Path) -> Health:
    try:
        with httpx.Client(transport=httpx.HTTPTransport(uds=str(socket)), timeout=_LIMIT_S) as client:
            answer = client.get("http://registry/healthz")
    except httpx.HTTPError as exc:
        raise RegistryUnreachable(
            f"A registry owns the data folder but does not answer on {socket} ({exc}). Look at its log, or restart it."
        ) from exc
    try:
        if answer.is_success:
            return msgspec.json.decode(answer.content, type=Health)
        trouble = msgspec.json.decode(answer.content, type=Unhealthy)
    except msgspec.MsgspecError as exc:
        raise RegistryUnreachable(
            f"The registry answered {answer.status_code} with something else than its health. Look at its log."
        ) from exc
    raise StoreUnavailable(trouble.detail, code=trouble.code)


def _table(found: Health, *, is_running: bool) -> Table:
    table = Table(title=f"Registry {found.version}, {'running' if is_running else 'not running'}", show_header=False)
    queue = found.queue
    table.add_row(
        "queue", f"{queue.waiting} waiting, {queue.delayed} delayed, {queue.leased} in work, {queue.dead} dead"
    )
    if queue.oldest_age_ms is not None:
        table.add_row("oldest message", f"{queue.oldest_age_ms / 1000:.0f} s")
    if queue.paused is not None:
        table.add_row("paused", f"until {queue.paused.until}: {queue.paused.reason}")
    for name, count in found.submissions.items():
        table.add_row(f"submissions, {name}", str(count))
    return table
