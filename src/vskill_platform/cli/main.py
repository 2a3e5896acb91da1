"""The command and its options; each command is a module of its own."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import typer
from rich.console import Console

from vskill_platform import __version__
from vskill_platform.cli import (
    blocklist,
    demo,
    dlq,
    evaluate,
    explain,
    health,
    requeue,
    review,
    scan,
    skills,
    status,
    stuck,
    submit,
    up,
)
from vskill_platform.cli.logs import set_up_logs
from vskill_platform.cli.printing import plain
from vskill_platform.domain.errors import InvalidInput, SourceRefused, SourceUnreachable, VskillError

app = typer.Typer(
    name="vskill-platform",
    help="A self-hosted registry that verifies agent skills before anyone installs them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("up", help=up.HELP)(up.up)
app.command("submit", help=submit.HELP)(submit.submit)
app.command("status", help=status.HELP)(status.status)
app.command("scan", help=scan.HELP)(scan.scan)
app.command("explain", help=explain.HELP)(explain.explain)
app.command("skills", help=skills.HELP)(skills.skills)
app.command("health", help=health.HELP)(health.health)
app.command("stuck", help=stuck.HELP)(stuck.stuck)
app.command("requeue", help=requeue.HELP)(requeue.requeue)
app.command("rescan", help=requeue.RESCAN_HELP)(requeue.rescan)
app.command("approve", help=review.APPROVE_HELP)(review.approve)
app.command("reject", help=review.REJECT_HELP)(review.reject)
app.command("blocklist", help=blocklist.HELP)(blocklist.blocklist)
app.command("block", help=blocklist.BLOCK_HELP)(blocklist.block)
app.command("unblock", help=blocklist.UNBLOCK_HELP)(blocklist.unblock)
app.command("dlq", help=dlq.HELP)(dlq.dlq)
app.command("eval", help=evaluate.HELP)(evaluate.evaluate)
app.command("demo", help=demo.HELP)(demo.demo)


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        typer.echo(f"vskill-platform {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(False, "--version", callback=_print_version, is_eager=True, help="Print the version."),
) -> None:
    """Options that come before a command. What is logged goes to standard error; `up` says how much."""
    set_up_logs("warning")


def main() -> None:
    """Run the command. An error of ours is told in its own words, with its code; exit 2 for wrong or unreadable input."""
    try:
        app()
    except* VskillError as errors:
        error = next(_leaves(errors))
        console = Console(stderr=True, highlight=False, emoji=False)
        console.print(f"[bold red]error[/] [dim]({error.code})[/] {plain(error.message)}")
        sys.exit(2 if isinstance(error, InvalidInput | SourceRefused | SourceUnreachable) else 1)


def _leaves(errors: BaseExceptionGroup[VskillError]) -> Iterator[VskillError]:
    for error in errors.exceptions:
        yield from _leaves(error) if isinstance(error, BaseExceptionGroup) else (error,)
