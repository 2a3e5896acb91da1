"""What a skill can do, and what it can do that it could not before, as people read it."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table

from vskill_platform.cli.printing import plain
from vskill_platform.domain.capabilities import NOTABLE, CapabilityChanges
from vskill_platform.domain.scan import Capabilities

_MOST = 8


def print_changes(changes: CapabilityChanges, *, console: Console) -> None:
    """What a version gained and lost; what an operator is told about stands out."""
    rows = [
        *(_row("+", name, found) for name, found in lists_of(changes.added)),
        *(_row("-", name, found) for name, found in lists_of(changes.removed)),
    ]
    rules = "" if changes.has_same_rules else ", which other rules looked at"
    console.print(f"[dim]since {plain(changes.since)}{rules}:[/] {'' if rows else 'it can do the same'}".rstrip())
    _print_rows(rows, console)


def print_capabilities(capabilities: Capabilities, *, console: Console) -> None:
    """What a version can do."""
    _print_rows([_row(" ", name, found) for name, found in lists_of(capabilities)], console)


def lists_of(capabilities: Capabilities) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The lists that have something in them, by their names."""
    for name in Capabilities.__struct_fields__:
        found: tuple[str, ...] = getattr(capabilities, name)
        if found:
            yield name, found


def _print_rows(rows: list[tuple[str, str, str]], console: Console) -> None:
    table = Table.grid(padding=(0, 2, 0, 0))
    for row in rows:
        table.add_row(*row)
    if rows:
        console.print(table)


def _row(sign: str, name: str, found: tuple[str, ...]) -> tuple[str, str, str]:
    rest = len(found) - _MOST
    told = plain(", ".join(found[:_MOST])) + (f" and {rest} more" if rest > 0 else "")
    is_notable = sign == "+" and name in NOTABLE
    return f"  {sign}", f"[yellow]{_words(name)}[/]" if is_notable else f"[dim]{_words(name)}[/]", told


def _words(name: str) -> str:
    return name.replace("_", " ")
