"""Untrusted text in a form that is safe to show: no control, direction or invisible character, and never long."""

from __future__ import annotations

SHOWN_CHARACTERS = 120


def printable(text: str | bytes, *, limit: int = SHOWN_CHARACTERS) -> str:
    """The text with everything that does not print written as an escape, cut to `limit` characters."""
    if isinstance(text, bytes):
        text = text[: 4 * limit + 4].decode("utf-8", "backslashreplace")
    shown = "".join(_shown(character) for character in text[: limit + 1])
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def _shown(character: str) -> str:
    if character.isprintable():
        return character
    point = ord(character)
    return f"\\x{point:02x}" if point < 0x100 else f"\\u{{{point:x}}}"
