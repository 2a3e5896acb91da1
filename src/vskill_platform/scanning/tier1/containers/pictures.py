"""Pictures, as far as they hold more than a picture: notes inside, and bytes behind their end."""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from vskill_platform.scanning.tier1.containers.members import Allowance, Flaw, unpack

MOST_NOTES = 1024 * 1024
"""Bytes of all notes of one picture that are read."""
MOST_CHUNKS = 100_000
MOST_TRAILER = 256 * 1024
SHORTEST_NOTE = 12
PNG, GIF, JPEG = b"\x89PNG\r\n\x1a\n", (b"GIF87a", b"GIF89a"), b"\xff\xd8\xff"
_PRINTABLE = re.compile(rb"[\t\n\r\x20-\x7e\xc2-\xf4][\t\n\r\x20-\x7e\x80-\xf4]{%d,}" % (SHORTEST_NOTE - 1))
_CODE = re.compile(rb"(?i)#!\s?/(?:usr/)?bin/|<script[\s>]|<\?php\b|\beval\s?\(|\bpowershell\b|\bcurl\s+-")
_MARKUP = (b"<script>", b"<script ", b"</script", b"<?php ", b"<?php\n", b"<iframe ")
_STARTS_AS_CODE = (b"PK\x03\x04", b"\x7fELF", b"MZ", b"\x1f\x8b", b"7z\xbc\xaf", b"Rar!", b"\xfd7zXZ", b"BZh", b"#!")


class Picture(NamedTuple):
    """What a picture holds beside the picture: the text of its notes, and the bytes behind its end."""

    notes: str
    trailer: bytes


def read_picture(content: bytes, *, allowance: Allowance) -> Picture | None:
    """What a picture holds beside itself; None for what is no picture of a kind that is known here."""
    if content.startswith(PNG):
        return _read_png(content, allowance)
    if content.startswith(GIF):
        return _read_gif(content)
    if content.startswith(JPEG):
        return _read_jpeg(content)
    return _read_webp(content) if content.startswith(b"RIFF") and content[8:12] == b"WEBP" else None


def holds_code(data: bytes) -> bool:
    """Whether bytes that nobody expects begin like a program or an archive, or have a script in them."""
    return data.startswith(_STARTS_AS_CODE) or _CODE.search(data[:MOST_TRAILER]) is not None


def is_mostly_text(data: bytes) -> bool:
    """Whether nearly all of the bytes can be read."""
    unreadable = len(data.translate(None, bytes(range(0x20, 0x7F)) + b"\t\r\n"))
    return bool(data) and unreadable <= len(data) // 20


def has_markup_in_it(content: bytes) -> bool:
    """Whether a browser or an interpreter that is handed the picture would find code in it."""
    lowered = content.lower()
    return any(mark in lowered for mark in _MARKUP)


def _read_png(content: bytes, allowance: Allowance) -> Picture:
    notes: list[str] = []
    at = len(PNG)
    for _ in range(MOST_CHUNKS):
        if at + 8 > len(content):
            return Picture(_joined(notes), b"")
        size, kind = struct.unpack_from(">I4s", content, at)
        data = content[at + 8 : at + 8 + size]
        at += 12 + size
        if kind in (b"tEXt", b"iTXt", b"zTXt", b"eXIf"):
            notes.append(_png_note(kind, data, allowance))
        elif kind == b"IEND":
            break
    return Picture(_joined(notes), content[at:])


def _png_note(kind: bytes, data: bytes, allowance: Allowance) -> str:
    if kind == b"eXIf":
        return _readable(data)
    key, _, value = data.partition(b"\0")
    if kind == b"zTXt":
        value = _inflated(value[1:], allowance)
    elif kind == b"iTXt":
        is_packed = value[:1] == b"\x01"
        text = value[2:].split(b"\0", 2)[-1]
        value = _inflated(text, allowance) if is_packed else text
    return f"{key.decode('latin-1')}: {value[:MOST_NOTES].decode('utf-8', 'replace')}"


def _inflated(data: bytes, allowance: Allowance) -> bytes:
    result = unpack(data, zlib.decompressobj, allowance=allowance, failures=(zlib.error,))
    return b"" if isinstance(result, Flaw) else result.content


def _read_gif(content: bytes) -> Picture:
    notes: list[str] = []
    at = 13 + _table_size(content[10]) if len(content) > 13 else len(content)
    for _ in range(MOST_CHUNKS):
        kind = content[at : at + 1]
        if kind == b"!":
            at, data = _gif_blocks(content, at + 2)
            notes.append(_readable(data))
        elif kind == b",":
            flags = content[at + 9] if at + 9 < len(content) else 0
            at, _ = _gif_blocks(content, at + 11 + _table_size(flags), is_kept=False)
        else:
            return Picture(_joined(notes), content[at + 1 :] if kind == b";" else b"")
    return Picture(_joined(notes), b"")


def _table_size(flags: int) -> int:
    return 3 * 2 ** ((flags & 7) + 1) if flags & 0x80 else 0


def _gif_blocks(content: bytes, at: int, *, is_kept: bool = True) -> tuple[int, bytes]:
    """The place behind a row of blocks, and what they hold."""
    kept: list[bytes] = []
    while at < len(content) and content[at]:
        if is_kept and len(kept) * 255 < MOST_NOTES:
            kept.append(content[at + 1 : at + 1 + content[at]])
        at += 1 + content[at]
    return at + 1, b"".join(kept)


def _read_jpeg(content: bytes) -> Picture:
    notes: list[str] = []
    at = 2
    for _ in range(MOST_CHUNKS):
        if content[at : at + 1] != b"\xff" or at + 4 > len(content):
            return Picture(_joined(notes), b"")
        kind, size = content[at + 1], int.from_bytes(content[at + 2 : at + 4], "big")
        if kind == 0xDA:
            break
        if kind == 0xFE or 0xE1 <= kind <= 0xEF:
            notes.append(_readable(content[at + 4 : at + 2 + size]))
        at += 2 + size
    end = content.find(b"\xff\xd9", at)
    return Picture(_joined(notes), content[end + 2 :] if end >= 0 else b"")


def _read_webp(content: bytes) -> Picture:
    notes: list[str] = []
    end = 8 + int.from_bytes(content[4:8], "little")
    at = 12
    for _ in range(MOST_CHUNKS):
        if at + 8 > min(end, len(content)):
            break
        kind, size = content[at : at + 4], int.from_bytes(content[at + 4 : at + 8], "little")
        if kind in (b"EXIF", b"XMP "):
            notes.append(_readable(content[at + 8 : at + 8 + size]))
        at += 8 + size + size % 2
    return Picture(_joined(notes), content[end + end % 2 :])


def _readable(data: bytes) -> str:
    """The stretches of the bytes that can be read."""
    return "\n".join(found.decode("utf-8", "replace") for found in _stretches(data[:MOST_NOTES].replace(b"\0", b"")))


def _stretches(data: bytes) -> Iterator[bytes]:
    return (found.group() for found in _PRINTABLE.finditer(data))


def _joined(notes: list[str]) -> str:
    return "\n".join(filter(None, notes))[:MOST_NOTES]
