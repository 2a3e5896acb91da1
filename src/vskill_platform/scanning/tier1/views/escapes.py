"""Escapes made plain where they stand: URL-encoding, `\\x63`, `\\u0063`, `\\143`, `\\N{...}` and entities of HTML.

A sign that has to be escaped is no trick. A letter or digit never has to be.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from urllib.parse import unquote_to_bytes

from vskill_platform.scanning.tier1.patterns import Pattern
from vskill_platform.scanning.tier1.views.collage import Change, Piece
from vskill_platform.scanning.tier1.views.glance import Sign

ESCAPED = Sign(
    r"%[2-7][0-9A-Fa-f]|\\x[0-9A-Fa-f][0-9A-Fa-f]|\\u\{?[0-9A-Fa-f]|\\U000|\\[01][0-7][0-7]|\\[4-7][0-7]|\\N\{"
    r"|&#[0-9xX]|&(?:lt|gt|amp|quot|apos|nbsp|[a-z]{2,10});"
)
_ESCAPES = Pattern(
    r"(?:%[0-9A-Fa-f]{2})+"
    r"|(?:\\{1,4}(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|u\{[0-9A-Fa-f]{1,6}\}|U[0-9A-Fa-f]{8}|N\{[A-Z0-9 -]{3,60}\}"
    r"|0?[0-3]?[0-7]{2}))+"
    r"|(?:&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)+"
)
_ONE = re.compile(
    r"\\{1,4}(?:x(?P<x>[0-9A-Fa-f]{2})|u(?P<u>[0-9A-Fa-f]{4})|u\{(?P<brace>[0-9A-Fa-f]{1,6})\}|U(?P<U>[0-9A-Fa-f]{8})"
    r"|N\{(?P<name>[A-Z0-9 -]{3,60})\}|0?(?P<octal>[0-3]?[0-7]{2}))"
)
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffd]")
LONGEST_REMEMBERED = 200


def without_escapes(data: bytes) -> bytes:
    """The whole text without escapes."""
    parts, at = list[bytes](), 0
    for piece in escapes_in(data):
        parts += [data[at : piece.start], piece.data]
        at = piece.end
    return b"".join([*parts, data[at:]]) if parts else data


def escapes_in(data: bytes) -> Iterator[Piece]:
    """What the escapes of a text stand for, where they stand."""
    for start, end in _ESCAPES.spans(data):
        escaped = data[start:end]
        plain = _plain(escaped) if len(escaped) <= LONGEST_REMEMBERED else _made_plain(escaped)
        if plain is not None and plain != escaped:
            is_trick = any(48 <= sign <= 57 or 65 <= sign <= 90 or 97 <= sign <= 122 for sign in plain)
            yield Piece(plain, start, end, Change.TRICK if is_trick else Change.ORDINARY)


def _made_plain(escaped: bytes) -> bytes | None:
    """What the escapes stand for; None where it is nothing to read."""
    readers: dict[bytes, Callable[[bytes], str]] = {b"%": _of_url, b"&": _of_html}
    plain = readers.get(escaped[:1], _of_code)(escaped)
    return None if _CONTROL.search(plain) else plain.encode()


_plain = lru_cache(maxsize=2048)(_made_plain)


def _of_url(escaped: bytes) -> str:
    return unquote_to_bytes(escaped).decode(errors="replace")


def _of_html(escaped: bytes) -> str:
    return html.unescape(escaped.decode())


def _of_code(escaped: bytes) -> str:
    """Escapes of programming languages; pairs of surrogates and bytes of UTF-8 come together again."""
    text = _ONE.sub(_sign, escaped.decode())
    if any("\ud800" <= sign <= "\udfff" for sign in text):
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if text.isascii() or max(text) > "\xff":
        return text
    try:
        return text.encode("latin-1").decode()
    except UnicodeDecodeError:
        return text


def _sign(found: re.Match[str]) -> str:
    if name := found["name"]:
        try:
            return unicodedata.lookup(name)
        except KeyError:
            return found[0]
    if octal := found["octal"]:
        return chr(int(octal, 8))
    number = int(found["x"] or found["u"] or found["brace"] or found["U"], 16)
    return chr(number) if number <= 0x10FFFF else "\ufffd"
