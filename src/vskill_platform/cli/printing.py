"""What commands print: tables for people, JSON for programs."""

from __future__ import annotations

import re

import msgspec
import typer
from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from vskill_platform.domain.scan import Severity, Verdict
from vskill_platform.domain.submission import CATEGORY_OF, Category, SubmissionState

AS_JSON = typer.Option(False, "--json", help="Print JSON.")
_STATE_COLOURS = {
    Category.ACTIVE: "cyan",
    Category.REVIEW: "yellow",
    Category.PUBLISHED: "green",
    Category.REJECTED: "red",
    Category.BLOCKED: "red",
}
_VERDICT_COLOURS = {Verdict.PASS: "green", Verdict.CONCERNS: "yellow", Verdict.FAIL: "red"}
_SEVERITY_COLOURS = {
    Severity.CRITICAL: "bold red",
    Severity.HIGH: "red",
    Severity.MEDIUM: "yellow",
    Severity.LOW: "cyan",
    Severity.INFO: "dim",
}
_ESCAPED_BRACKET = re.compile(r"\\(?=\[(?![a-z#/@][^\[]*?\]))")
"""A backslash that stands before a bracket which is no markup: rich would take it for its own, and leave it out."""
_CELL_EDGE = 3
_NARROWEST = 12


def print_json(value: object) -> None:
    """Print a value as indented JSON."""
    typer.echo(msgspec.json.format(msgspec.json.encode(value)).decode())


def print_table(title: str, columns: list[str], rows: list[list[str]], *, nothing: str) -> None:
    """Print rows, or a sentence that says there are none. Cells may hold markup; escape what comes from outside.

    The last column gives way where the screen is narrow; what stands in the others can always be read and copied.
    """
    console = Console(highlight=False, emoji=False)
    if not rows:
        console.print(nothing)
        return
    *first, last = columns
    taken = [max(cell_len(Text.from_markup(row[number]).plain) for row in rows) for number in range(len(first))]
    left = console.width - sum(max(width, len(name)) + _CELL_EDGE for width, name in zip(taken, first, strict=True))
    table = Table(*first, title=title, title_justify="left")
    table.add_column(last, overflow="ellipsis", no_wrap=True, max_width=max(left - _CELL_EDGE - 1, _NARROWEST))
    for row in rows:
        table.add_row(*row)
    console.print(table)


def state_text(state: SubmissionState) -> str:
    """A state in its category's colour."""
    return f"[{_STATE_COLOURS[CATEGORY_OF[state]]}]{state.value}[/]"


def verdict_text(verdict: Verdict) -> str:
    """A verdict in its colour."""
    return f"[{_VERDICT_COLOURS[verdict]}]{verdict.value}[/]"


def severity_text(severity: Severity) -> str:
    """A severity in its colour."""
    return f"[{_SEVERITY_COLOURS[severity]}]{severity.value}[/]"


def plain(text: str | None) -> str:
    """Text from outside, safe to print in a table: no markup and no control characters."""
    shown = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text or "")
    inner = shown.rstrip("\\")
    return _ESCAPED_BRACKET.sub(r"\\\g<0>", escape(inner)) + 2 * shown[len(inner) :]


def for_people(milliseconds: int) -> str:
    """A span of time, as long as somebody wants to know it."""
    seconds = milliseconds // 1000
    if seconds < 120:
        return f"{seconds} s"
    return f"{seconds // 60} min" if seconds < 7200 else f"{seconds // 3600} h"
