"""Reads tar files member by member, in the old, POSIX and GNU forms. Nothing is written and no name is used as a path."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from vskill_platform.scanning.tier1.containers.members import Allowance, Flaw, Flawed, Found, Member, escapes

BLOCK = 512
LONGEST_HEADER = 64 * 1024
"""Bytes of a long name or of an extended header."""
_FILES, _FOLDER = (b"0", b"\0", b"7"), b"5"
_LINKS = (b"1", b"2")
_DEVICES = (b"3", b"4", b"6")
_LONG_NAME, _LONG_LINK, _EXTENDED, _FOR_ALL = b"L", b"K", b"x", b"g"


class _Header(NamedTuple):
    name: str
    mode: int
    size: int
    kind: bytes
    link: str


def is_tar(content: bytes) -> bool:
    """Whether the bytes begin like a tar of a kind that says so."""
    return content[257:262] == b"ustar"


def read_tar(content: bytes, *, allowance: Allowance) -> Iterator[Found]:
    """The members of the tar, and what is wrong with it."""
    at = 0
    said: dict[str, str] = {}
    while at + BLOCK <= len(content):
        block = content[at : at + BLOCK]
        if not block.strip(b"\0"):
            break
        header = _read_header(block, said)
        if header is None or at + BLOCK + header.size > len(content):
            yield Flawed(Flaw.DAMAGED)
            return
        data = content[at + BLOCK : at + BLOCK + header.size]
        at += BLOCK + -(-header.size // BLOCK) * BLOCK
        if header.kind in (_LONG_NAME, _LONG_LINK, _EXTENDED, _FOR_ALL):
            if len(data) > LONGEST_HEADER:
                yield Flawed(Flaw.DAMAGED)
                return
            said |= _extended(header.kind, data)
            continue
        yield from _read_member(header, data, allowance)
        said = {}
        if allowance.members_left <= 0 or allowance.bytes_left < 0:
            yield Flawed(Flaw.TOO_MUCH)
            return
    if content[at:].strip(b"\0"):
        yield Flawed(Flaw.UNNAMED_BYTES, "bytes behind the end")


def _read_member(header: _Header, data: bytes, allowance: Allowance) -> Iterator[Found]:
    if escapes(header.name):
        yield Flawed(Flaw.ESCAPES, header.name)
    if header.kind in _LINKS or header.kind in _DEVICES:
        yield Flawed(Flaw.LINK, f"{header.name} -> {header.link}" if header.link else header.name)
        allowance.take(0)
    elif header.kind in _FILES and not header.name.endswith("/"):
        allowance.take(len(data))
        yield Member(header.name, data, executable=bool(header.mode & 0o111))
    elif header.kind not in (*_FILES, _FOLDER):
        yield Flawed(Flaw.UNREADABLE, header.name)
    else:
        allowance.take(0)


def _read_header(block: bytes, said: dict[str, str]) -> _Header | None:
    checksum = _number(block[148:156])
    if checksum is None or checksum != sum(block) - sum(block[148:156]) + 8 * 32:
        return None
    size = _number(block[124:136])
    if "size" in said:
        size = int(said["size"]) if said["size"].isdecimal() and len(said["size"]) < 20 else None
    if size is None:
        return None
    prefix = _text(block[345:500]) if block[257:263] == b"ustar\0" else ""
    name = said.get("path") or (f"{prefix}/{_text(block[:100])}" if prefix else _text(block[:100]))
    link = said.get("linkpath") or _text(block[157:257])
    return _Header(name, _number(block[100:108]) or 0, size, block[156:157], link)


def _number(field: bytes) -> int | None:
    """A number in octal digits, or in bytes where the first bit says so."""
    if field[0] & 0x80:
        return int.from_bytes(field[1:], "big")
    digits = field.strip(b" \0")
    if not digits:
        return 0
    return int(digits, 8) if digits.isdigit() and not digits.strip(b"01234567") else None


def _text(field: bytes) -> str:
    return field.partition(b"\0")[0].decode("utf-8", "replace")


def _extended(kind: bytes, data: bytes) -> dict[str, str]:
    """What is said of the member that follows."""
    if kind == _LONG_NAME:
        return {"path": _text(data)}
    if kind == _LONG_LINK:
        return {"linkpath": _text(data)}
    said: dict[str, str] = {}
    for line in data.split(b"\n"):
        key, is_pair, value = line.partition(b" ")[2].partition(b"=")
        if is_pair:
            said[key.decode("utf-8", "replace")] = value.decode("utf-8", "replace")
    return said
