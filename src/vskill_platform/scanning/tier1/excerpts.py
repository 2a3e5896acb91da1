"""Excerpts for people: the line around a match, short, and with nothing in it that a screen would hide or obey."""

from __future__ import annotations

import re

MAX_LENGTH = 200
LEAD = 60
INVISIBLE = (
    "\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff\ud800-\udfff"
)
"""The inside of a character class: control characters and all that has no width or turns the direction of writing."""
_invisible = re.compile(f"[{INVISIBLE}]")


def make_excerpt(line: str, *, start: int = 0) -> str:
    """The line, or where it is long what is around `start`: at most 200 characters, with the invisible shown as escapes."""
    begin = 0 if len(line) <= MAX_LENGTH else max(0, start - LEAD)
    shown = ("…" if begin else "") + show_invisible(line[begin : begin + MAX_LENGTH + 1].replace("\t", " ")).lstrip()
    return shown.rstrip() if len(shown) <= MAX_LENGTH else f"{shown[: MAX_LENGTH - 1]}…"


def show_invisible(text: str) -> str:
    """The text with `\\u202e` for the character of that number, and so on."""
    return text if text.isascii() and text.isprintable() else _invisible.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    number = ord(found.group())
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"
