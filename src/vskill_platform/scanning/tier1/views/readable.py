"""Tells whether bytes that came out of a decoder are something: a text, a compressed text, a program, or nothing."""

from __future__ import annotations

import bz2
import lzma
import re
import zlib
from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple, Protocol

LARGEST_INFLATED = 1024 * 1024
"""Bytes that one compressed payload may grow to."""
MOST_UNPRINTABLE = 0.05
"""The share of control characters in what still counts as text."""
SAMPLE = 18
SHORTEST_WIDE = 8
_PRINTABLE = bytes(range(0x20, 0x7F)) + b"\t\n\r"
_STRETCH = re.compile(rb"[\t\n\r\x20-\x7e]{24,}+")
_PRINTABLE_OR_WIDE = _PRINTABLE + bytes(range(0x80, 0x100))


class Substance(StrEnum):
    """What decoded bytes are."""

    TEXT = "text"
    COMPRESSED = "compressed"
    PROGRAM = "program"
    ARCHIVE = "archive"
    NOTHING = "nothing"


_MAGIC = (
    (b"\x7fELF", Substance.PROGRAM),
    (b"\xcf\xfa\xed\xfe", Substance.PROGRAM),
    (b"\xce\xfa\xed\xfe", Substance.PROGRAM),
    (b"\xca\xfe\xba\xbe\0\0\0", Substance.PROGRAM),
    (b"MZ\x90\0", Substance.PROGRAM),
    (b"PK\x03\x04", Substance.ARCHIVE),
    (b"Rar!\x1a\x07", Substance.ARCHIVE),
    (b"7z\xbc\xaf\x27\x1c", Substance.ARCHIVE),
    (b"\x1f\x8b\x08", Substance.COMPRESSED),
    (b"BZh", Substance.COMPRESSED),
    (b"\xfd7zXZ\0", Substance.COMPRESSED),
    (b"\x5d\0\0", Substance.COMPRESSED),
    (b"x\x01", Substance.COMPRESSED),
    (b"x\x5e", Substance.COMPRESSED),
    (b"x\x9c", Substance.COMPRESSED),
    (b"x\xda", Substance.COMPRESSED),
)

_ANY_MAGIC = tuple(magic for magic, _ in _MAGIC)


def substance_of(data: bytes) -> Substance:
    """What the bytes are, by their beginning."""
    if is_readable(data[:SAMPLE]):
        return Substance.TEXT
    if not data.startswith(_ANY_MAGIC):
        return Substance.NOTHING
    return next(kind for magic, kind in _MAGIC if data.startswith(magic))


def is_readable(data: bytes) -> bool:
    """Whether a short piece of bytes is text, in one byte a letter or in two; its last character may be cut off."""
    if data.isascii():
        return bool(data) and (not data.translate(None, _PRINTABLE) or _is_wide(data))
    if data.translate(None, _PRINTABLE_OR_WIDE):
        return _is_wide(data)
    try:
        data.decode()
    except UnicodeDecodeError as problem:
        return problem.start >= len(data) - 3 and problem.reason == "unexpected end of data"
    return True


def as_text(data: bytes) -> bytes:
    """The text as UTF-8 where nearly all of it is printable, else what longer stretches of text are in it."""
    if _is_wide(data[: 4 * SAMPLE]):
        data = data.decode("utf-16-be" if data[0] == 0 else "utf-16-le", "replace").encode(errors="replace")
    controls = len(data.translate(None, _PRINTABLE_OR_WIDE))
    if not data.isascii():
        controls += data.decode(errors="replace").count("\ufffd")
    return data if controls <= MOST_UNPRINTABLE * len(data) else b"\n".join(_STRETCH.findall(data))


class Inflated(NamedTuple):
    """What came out of a compressed payload. `is_cut` says that more would have come."""

    data: bytes
    is_cut: bool


def inflate(data: bytes) -> Inflated | None:
    """The compressed bytes as they were, up to a bound; None where they cannot be read."""
    for open_stream in _openers(data):
        try:
            stream = open_stream()
            got = stream.decompress(data, LARGEST_INFLATED)
        except (zlib.error, OSError, EOFError, ValueError, lzma.LZMAError):
            continue
        if got:
            return Inflated(got, is_cut=len(got) >= LARGEST_INFLATED and not stream.eof)
    return None


class _Stream(Protocol):
    @property
    def eof(self) -> bool: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


def _openers(data: bytes) -> tuple[Callable[[], _Stream], ...]:
    if data.startswith(b"BZh"):
        return (bz2.BZ2Decompressor,)
    if data.startswith((b"\xfd7zXZ\0", b"\x5d\0\0")):
        return (lambda: lzma.LZMADecompressor(memlimit=32 * 1024 * 1024),)
    return (lambda: zlib.decompressobj(wbits=zlib.MAX_WBITS | 32), lambda: zlib.decompressobj(wbits=-zlib.MAX_WBITS))


def _is_wide(data: bytes) -> bool:
    """Whether this is text of two bytes a letter."""
    if len(data) < SHORTEST_WIDE:
        return False
    pairs = len(data) // 2
    first, second = data[: 2 * pairs : 2], data[1 : 2 * pairs : 2]
    letters, zeros = (first, second) if second.count(0) > first.count(0) else (second, first)
    return zeros.count(0) >= 0.8 * pairs and letters.isascii() and not letters.translate(None, _PRINTABLE)
