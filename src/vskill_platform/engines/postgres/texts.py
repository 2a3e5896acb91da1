"""Text as PostgreSQL can hold it: any but the NUL character, which SQLite holds and a caller may hand in.

NUL and the character after it are written as two characters each, in a way that keeps the order of texts. Keys hold no NUL
and are stored as they are.
"""

from __future__ import annotations

_ESCAPES = str.maketrans({"\0": "\x01\x01", "\x01": "\x01\x02"})


def to_stored(text: str) -> str:
    """The text as it is stored."""
    return text.translate(_ESCAPES) if "\0" in text or "\x01" in text else text


def from_stored(text: str) -> str:
    """The text that was handed in."""
    return text.replace("\x01\x01", "\0").replace("\x01\x02", "\x01") if "\x01" in text else text
