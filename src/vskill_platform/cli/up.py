"""`vskill-platform up`: web, worker and cron in one process."""

from __future__ import annotations

import asyncio

import typer
from rich.console import Console
from rich.markup import escape

from vskill_platform.cli.logs import set_up_logs
from vskill_platform.cli.options import DATA, settings_from

HELP = "Start the registry: web server, worker and cron in one process, on the embedded engine."


def up(
    data: str | None = DATA,
    host: str | None = typer.Option(
        None, "--host", help="Address to listen on. Default: 127.0.0.1.", show_default=False
    ),
    port: int | None = typer.Option(
        None, "--port", help="Port to listen on; 0 takes a free one. Default: 8000.", show_default=False
    ),
) -> None:
    """Start the registry and serve until SIGTERM or Ctrl-C."""
    import uvloop

    from vskill_platform.app import run_registry

    settings = settings_from(data=data, host=host, port=port)
    set_up_logs(settings.log_level)
    console = Console(stderr=True)

    def tell(address: str) -> None:
        console.print(
            f"vskill-platform is up at [bold]{address}[/], data in [bold]{escape(settings.data)}[/]. Ctrl-C stops it."
        )

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(run_registry(settings, on_ready=tell))
    console.print("Stopped.")
