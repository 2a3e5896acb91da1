"""`vskill-platform up`, `web`, `worker` and `cron`: what runs until it is told to stop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.markup import escape

from vskill_platform.cli.logs import set_up_logs
from vskill_platform.cli.options import DATA, settings_from
from vskill_platform.domain.redaction import hide_password
from vskill_platform.settings import Settings

if TYPE_CHECKING:
    from vskill_platform.app import Ready, Role

HELP = "Start the registry: web server, worker and cron in one process, on SQLite or PostgreSQL."
WEB_HELP = "Start one of any number of web servers, on PostgreSQL."
WORKER_HELP = "Start one of any number of workers, on PostgreSQL."
CRON_HELP = "Start one of any number of crons, on PostgreSQL: one works, the others stand by."
_HOST = typer.Option(None, "--host", help="Address to listen on. Default: 127.0.0.1.", show_default=False)
_PORT = typer.Option(None, "--port", help="Port to listen on; 0 takes a free one. Default: 8000.", show_default=False)
Tell = Callable[["Ready"], None]


def up(data: str | None = DATA, host: str | None = _HOST, port: int | None = _PORT) -> None:
    """Start the registry and serve until SIGTERM or Ctrl-C."""
    settings = settings_from(data=data, host=host, port=port)
    from vskill_platform.app import run_registry

    _run(settings, "vskill-platform", lambda tell: run_registry(settings, on_ready=tell))


def web(data: str | None = DATA, host: str | None = _HOST, port: int | None = _PORT) -> None:
    """Serve until SIGTERM or Ctrl-C, then finish the requests that have begun."""
    settings = settings_from(data=data, host=host, port=port)
    from vskill_platform.app import Role

    _run_role(Role.WEB, settings)


def worker(data: str | None = DATA) -> None:
    """Work on submissions until SIGTERM or Ctrl-C, then finish or give back what is in work."""
    settings = settings_from(data=data)
    from vskill_platform.app import Role

    _run_role(Role.WORKER, settings)


def cron(data: str | None = DATA) -> None:
    """Sweep, purge and collect while this process has the lease, and wait for it while it has not."""
    settings = settings_from(data=data)
    from vskill_platform.app import Role

    _run_role(Role.CRON, settings)


def _run_role(role: Role, settings: Settings) -> None:
    from vskill_platform.app import run_process

    _run(settings, f"vskill-platform {role}", lambda tell: run_process(settings, role, on_ready=tell))


def _run(settings: Settings, name: str, start: Callable[[Tell], Coroutine[Any, Any, None]]) -> None:
    import uvloop

    set_up_logs(settings.log_level)
    console = Console(stderr=True, soft_wrap=True)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(start(lambda ready: console.print(_tell(settings, name, ready))))
    console.print("Stopped.")


def _tell(settings: Settings, name: str, ready: Ready) -> str:
    place = "" if ready.address is None else f" at [bold]{ready.address}[/]"
    health = "" if ready.health is None else f", health at [bold]{ready.health}[/]"
    data = hide_password(settings.database_url) or settings.data
    return (
        f"{name} is up{place}, data in [bold]{escape(data)}[/]{health}. Ctrl-C stops it.{_first_run(settings, ready)}"
    )


def _first_run(settings: Settings, ready: Ready) -> str:
    """The link that makes the first administrator. Whoever reads this terminal is the operator."""
    if ready.first_run is None:
        return ""
    site = settings.public_url.rstrip("/") or ready.address or ""
    return f"\nThere is no administrator yet. Make one within the hour: {escape(site + ready.first_run)}"
