"""The command and its options. Each command is a module of its own, imported when it is called for."""

from __future__ import annotations

import gc
import importlib
import sys
from typing import Any

import typer
from typer.core import TyperGroup

from vskill_platform import __version__
from vskill_platform.domain.errors import InvalidInput, SourceRefused, SourceUnreachable, VskillError
from vskill_platform.domain.errors.grouped import first_of

COMMANDS: dict[str, tuple[str, str]] = {
    "up": ("processes", "HELP"),
    "web": ("processes", "WEB_HELP"),
    "worker": ("processes", "WORKER_HELP"),
    "cron": ("processes", "CRON_HELP"),
    "doctor": ("doctor", "HELP"),
    "admin": ("admin", "HELP"),
    "submit": ("submit", "HELP"),
    "status": ("status", "HELP"),
    "scan": ("scan", "HELP"),
    "scan-worker": ("scan_worker", "HELP"),
    "explain": ("explain", "HELP"),
    "rules": ("rules", "HELP"),
    "compile-rules": ("compile_rules", "HELP"),
    "scanners": ("scanners", "HELP"),
    "skills": ("skills", "HELP"),
    "health": ("health", "HELP"),
    "stuck": ("stuck", "HELP"),
    "requeue": ("requeue", "HELP"),
    "rescan": ("requeue", "RESCAN_HELP"),
    "approve": ("review", "APPROVE_HELP"),
    "reject": ("review", "REJECT_HELP"),
    "blocklist": ("blocklist", "HELP"),
    "block": ("blocklist", "BLOCK_HELP"),
    "unblock": ("blocklist", "UNBLOCK_HELP"),
    "reports": ("reports", "HELP"),
    "answer": ("reports", "ANSWER_HELP"),
    "erase-email": ("erase_email", "HELP"),
    "dlq": ("dlq", "HELP"),
    "audit": ("audit", "HELP"),
    "export": ("export", "HELP"),
    "import": ("import_export", "HELP"),
    "backup": ("backup", "HELP"),
    "rebuild-catalog": ("rebuild_catalog", "HELP"),
    "eval": ("evaluate", "HELP"),
    "demo": ("demo", "HELP"),
    "find": ("find", "HELP"),
    "info": ("info", "HELP"),
    "install": ("install", "HELP"),
    "verify": ("verify", "HELP"),
    "outdated": ("outdated", "HELP"),
    "update": ("update", "HELP"),
    "uninstall": ("uninstall", "HELP"),
    "mcp": ("mcp", "HELP"),
}
"""Each command's module, and the name of the line that describes it there."""

_OBJECTS_BETWEEN_COLLECTIONS = 50_000
"""Modules make many objects that stay. At Python's 700, looking through them again and again takes a sixth of a start."""
_FUNCTIONS = {
    "compile-rules": "compile_rules",
    "erase-email": "erase_email",
    "eval": "evaluate",
    "import": "import_export",
    "rebuild-catalog": "rebuild_catalog",
    "scan-worker": "scan_worker",
}


class CommandGroup(TyperGroup):
    """Commands that are imported when they are called for: a scan does not wait for a web server it will not start."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Every command, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of this name, or None."""
        if cmd_name not in COMMANDS:
            return None
        module_name, help_name = COMMANDS[cmd_name]
        module = importlib.import_module(f"vskill_platform.cli.{module_name}")
        function = getattr(module, _FUNCTIONS.get(cmd_name, cmd_name))
        if isinstance(function, typer.Typer):
            group = typer.main.get_command(function)
            group.name, group.help = cmd_name, getattr(module, help_name)
            return group
        alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        alone.command(cmd_name, help=getattr(module, help_name))(function)
        return typer.main.get_command(alone)


app = typer.Typer(
    name="vskill-platform",
    cls=CommandGroup,
    help="A self-hosted registry that verifies agent skills before anyone installs them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        typer.echo(f"vskill-platform {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(False, "--version", callback=_print_version, is_eager=True, help="Print the version."),
) -> None:
    """Options that come before a command. What is logged goes to standard error; `up` says how much."""
    from vskill_platform.cli.logs import set_up_logs

    set_up_logs("warning")


def main() -> None:
    """Run the command. An error of ours is told in its own words, with its code; exit 2 for wrong or unreadable input."""
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    try:
        app()
    except VskillError as error:
        status = _tell(error)
    except BaseExceptionGroup as problems:
        ours = first_of(problems, (VskillError,))
        if ours is None:
            raise
        status = _tell(ours)
    else:
        return
    sys.exit(status)


def _tell(error: VskillError) -> int:
    from rich.console import Console

    from vskill_platform.cli.printing import plain

    console = Console(stderr=True, highlight=False, emoji=False)
    console.print(f"[bold red]error[/] [dim]({error.code})[/] {plain(error.message)}")
    return 2 if isinstance(error, InvalidInput | SourceRefused | SourceUnreachable) else 1
