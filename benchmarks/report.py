"""Rows of the report: the table for people and the JSON for programs."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

REPORT = Path("build/bench.json")


@dataclass(frozen=True, slots=True)
class Row:
    """One figure. `holds` is None where there is no target."""

    name: str
    value: float
    unit: str
    target: str
    holds: bool | None
    detail: str


def at_least(name: str, value: float, *, target: float, unit: str = "x", detail: str) -> Row:
    """A figure that should not be lower than its target."""
    return Row(name, round(value, 2), unit, f">= {target:g}", value >= target, detail)


def at_most(name: str, value: float, *, target: float, unit: str = "x", detail: str) -> Row:
    """A figure that should not be higher than its target."""
    return Row(name, round(value, 2), unit, f"<= {target:g}", value <= target, detail)


def told(name: str, value: float, *, unit: str, detail: str) -> Row:
    """A figure without a target."""
    return Row(name, round(value, 2), unit, "", None, detail)


def write_report(rows: list[Row]) -> None:
    """Keep the rows of this run; rows of figures that were not run this time stay."""
    REPORT.parent.mkdir(exist_ok=True)
    known = json.loads(REPORT.read_text()) if REPORT.exists() else []
    fresh = {row.name for row in rows}
    kept = [row for row in known if row["name"] not in fresh]
    REPORT.write_text(json.dumps([*kept, *(asdict(row) for row in rows)], indent=1) + "\n")


def print_report(rows: list[Row]) -> None:
    """The table, with what falls short said plainly."""
    table = Table("figure", "value", "target", "", "how", title="Benchmarks")
    words = {True: "holds", False: "[bold red]falls short[/]", None: ""}
    for row in rows:
        table.add_row(row.name, f"{row.value:,g} {row.unit}", row.target, words[row.holds], row.detail)
    Console(width=150).print(table)
