"""Conditions that code waits behind: a day that is written down, or one machine among all."""

from __future__ import annotations

import re

from vskill_platform.scanning.tier1.code.javascript.values import Source, Value

_LITERAL_DATE = re.compile(
    r"\b(?:1[5-9]\d{8}(?:\d{3})?|2\d{9}(?:\d{3})?)\b|['\"`]20[2-9]\d-\d\d(?:-\d\d)?|"
    r"getFullYear\(\)\s*[<>=]{1,3}\s*20[2-9]\d|Date\(\s*20[2-9]\d\s*,"
)
_LITERAL = re.compile(
    r"(?:===?|!==?|includes\(|startsWith\(|endsWith\(|test\()\s*['\"`/][\w@.-]{2,}|/[\w|.-]{3,}/[a-z]*\.test\("
)


def gate_of(condition: Value, text: str) -> str:
    """The gate that a condition is: a fixed date, or one machine among all."""
    if not condition.origins:
        return ""
    asked = set(condition.details(Source.MACHINE))
    if "date" in asked and _LITERAL_DATE.search(text):
        return "date"
    if asked & {"host", "user"} and _LITERAL.search(text):
        return "host"
    return ""
