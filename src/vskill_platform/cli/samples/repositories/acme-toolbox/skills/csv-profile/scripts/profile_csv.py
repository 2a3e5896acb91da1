#!/usr/bin/env python3
"""Print a line for each column of a CSV file: its name, its kind, and how many rows have no value."""

from __future__ import annotations

import csv
import sys
from datetime import date

MAX_CHOICES = 12


def is_number(value: str) -> bool:
    """Whether the value is a number."""
    try:
        float(value)
    except ValueError:
        return False
    return True


def is_date(value: str) -> bool:
    """Whether the value is a date such as 2024-12-31."""
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True


def kind_of(values: list[str]) -> str:
    """The kind of a column, from those of its values that are not empty."""
    if not values:
        return "empty"
    if all(is_number(value) for value in values):
        return "number"
    if all(is_date(value) for value in values):
        return "date"
    return "choice" if len(set(values)) <= MAX_CHOICES else "text"


def main(path: str) -> None:
    """Read the file and print its profile."""
    with open(path, newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    for column in rows[0] if rows else []:
        values = [row[column] for row in rows if row[column]]
        print(f"{column}: {kind_of(values)}, {len(rows) - len(values)} of {len(rows)} missing")


if __name__ == "__main__":
    main(sys.argv[1])
