"""Reads zip files from their central directory, and mistrusts what the directory does not name.

Nothing is written and no name is used as a path. A zip can be told apart from its parts only by trust, so this reader
checks what it can: each member's own header must agree with the directory, members must not share bytes, and bytes that
belong to no member are reported, because another unpacker may see a member there.
"""

from __future__ import annotations

import bz2
import stat
import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from vskill_platform.scanning.tier1.containers.members import (
    Allowance,
    Flaw,
    Flawed,
    Found,
    Member,
    escapes,
    unpack,
)

END = b"PK\x05\x06"
_END = struct.Struct("<4s4H2IH")
_ENTRY = struct.Struct("<4s6H3I5H2I")
_LOCAL = struct.Struct("<4s5H3I2H")
_LONGEST_COMMENT = 65_535
_ENCRYPTED, _SIZES_FOLLOW, _NAME_IS_UTF8 = 0x1, 0x8, 0x800
_STORED, _DEFLATED, _BZIP2 = 0, 8, 12
_IN_EXTRA = 0xFFFFFFFF
_ZIP64, _UNICODE_PATH = 0x0001, 0x7075
_LONGEST_DESCRIPTOR = 24
_SLACK = 64
"""Bytes between members that nobody needs to explain, such as padding."""


_SHARED = Flawed(Flaw.BOMB, "members share their bytes")


class _Entry(NamedTuple):
    """What the directory says of a member. `start` and `end` are where its own header and its bytes are."""

    raw_name: bytes
    name: str
    flags: int
    method: int
    packed: int
    mode: int
    start: int
    data: int
    end: int


class _Directory(NamedTuple):
    first: int
    last: int
    shift: int
    """How much further all offsets lead than they say, because something stands before the zip."""


def ends_as_zip(content: bytes) -> bool:
    """Whether unpackers would find a zip at the end: they read from there, whatever stands before it."""
    return content.rfind(END, max(0, len(content) - _END.size - _LONGEST_COMMENT)) >= 0


def read_zip(content: bytes, *, allowance: Allowance) -> Iterator[Found]:
    """The members of the zip, and what is wrong with it."""
    directory = _find_directory(content)
    if directory is None:
        yield Flawed(Flaw.DAMAGED)
        return
    listed = list(_entries(content, directory, allowance))
    entries = [entry for entry in listed if isinstance(entry, _Entry)]
    yield from (flaw for flaw in listed if isinstance(flaw, Flawed))
    covered = [(entry.start, entry.end) for entry in entries]
    flaws = list(_judge_coverage(content, sorted([*covered, (directory.first, directory.last)])))
    yield from flaws
    if _SHARED in flaws:
        return
    for entry in entries:
        if not entry.name.endswith("/"):
            yield from _read_entry(content, entry, allowance)


def _find_directory(content: bytes) -> _Directory | None:
    at = content.rfind(END, max(0, len(content) - _END.size - _LONGEST_COMMENT))
    if at < 0 or at + _END.size > len(content):
        return None
    _, _, _, _, _, size, offset, comment = _END.unpack_from(content, at)
    if _IN_EXTRA in (size, offset) or size > at:
        return None
    first = at - size
    last = min(len(content), at + _END.size + comment)
    return _Directory(first, last, shift=first - offset) if first >= offset else None


def _entries(content: bytes, directory: _Directory, allowance: Allowance) -> Iterator[_Entry | Flawed]:
    at, number = directory.first, 0
    while content[at : at + 4] == b"PK\x01\x02" and at + _ENTRY.size <= len(content):
        number += 1
        if number > allowance.members_left:
            yield Flawed(Flaw.TOO_MUCH)
            return
        fields = _ENTRY.unpack_from(content, at)
        name_size, extra_size, comment_size = fields[10:13]
        behind = at + _ENTRY.size
        raw_name = content[behind : behind + name_size]
        extra = content[behind + name_size : behind + name_size + extra_size]
        yield from _entry(content, fields, raw_name, extra, directory.shift)
        at = behind + name_size + extra_size + comment_size


def _entry(
    content: bytes, fields: tuple[int, ...], raw_name: bytes, extra: bytes, shift: int
) -> Iterator[_Entry | Flawed]:
    flags, method, packed, size, attributes, offset = (fields[n] for n in (3, 4, 8, 9, 15, 16))
    if _IN_EXTRA in (packed, offset):
        packed, offset = _large_numbers(extra, size=size, packed=packed, offset=offset)
    name = _decoded(raw_name, is_utf8=bool(flags & _NAME_IS_UTF8))
    second = _extra_field(extra, _UNICODE_PATH)[5:]
    if second and raw_name.isascii() and second != raw_name:
        yield Flawed(Flaw.TWO_NAMES, name)
        name = second.decode("utf-8", "replace")
    start = offset + shift
    local = _LOCAL.unpack_from(content, start) if 0 <= start <= len(content) - _LOCAL.size else None
    if local is None or local[0] != b"PK\x03\x04":
        yield Flawed(Flaw.DAMAGED, name)
        return
    data = start + _LOCAL.size + local[9] + local[10]
    own_name = content[start + _LOCAL.size : start + _LOCAL.size + local[9]]
    if own_name != raw_name or local[3] != method or local[7] not in (0, packed, _IN_EXTRA):
        yield Flawed(Flaw.TWO_NAMES, name)
    end = data + packed
    if flags & _SIZES_FOLLOW:
        end += _descriptor_size(content, end)
    yield _Entry(raw_name, name, flags, method, packed, attributes >> 16, start, data, end)


def _descriptor_size(content: bytes, at: int) -> int:
    """The bytes of the note behind a member whose sizes were not known when its header was written."""
    after = content[at : at + _LONGEST_DESCRIPTOR + 4]
    found = (size for size in (12, 16, 20, 24) if after[size : size + 2] == b"PK")
    return next(found, min(_LONGEST_DESCRIPTOR, len(after)))


def _large_numbers(extra: bytes, *, size: int, packed: int, offset: int) -> tuple[int, int]:
    """The packed size and the offset where they stand in the extra field for large files."""
    field = _extra_field(extra, _ZIP64)
    numbers = iter(struct.unpack_from(f"<{len(field) // 8}Q", field))
    if size == _IN_EXTRA:
        next(numbers, None)
    packed = next(numbers, packed) if packed == _IN_EXTRA else packed
    offset = next(numbers, offset) if offset == _IN_EXTRA else offset
    return packed, offset


def _extra_field(extra: bytes, wanted: int) -> bytes:
    at = 0
    while at + 4 <= len(extra):
        kind, size = struct.unpack_from("<2H", extra, at)
        if kind == wanted:
            return extra[at + 4 : at + 4 + size]
        at += 4 + size
    return b""


def _decoded(raw: bytes, *, is_utf8: bool) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("utf-8", "replace") if is_utf8 else raw.decode("cp437")


def _read_entry(content: bytes, entry: _Entry, allowance: Allowance) -> Iterator[Found]:
    if escapes(entry.name):
        yield Flawed(Flaw.ESCAPES, entry.name)
    if entry.flags & _ENCRYPTED:
        yield Flawed(Flaw.ENCRYPTED, entry.name)
        return
    unpacked = _unpacked(content[entry.data : entry.data + entry.packed], entry, allowance)
    if isinstance(unpacked, Flaw):
        yield Flawed(unpacked, entry.name)
        return
    allowance.take(len(unpacked))
    if stat.S_ISLNK(entry.mode):
        yield Flawed(Flaw.LINK, f"{entry.name} -> {unpacked[:100].decode('utf-8', 'replace')}")
    else:
        yield Member(entry.name, unpacked, executable=bool(entry.mode & 0o111))


def _unpacked(packed: bytes, entry: _Entry, allowance: Allowance) -> bytes | Flaw:
    if len(packed) < entry.packed:
        return Flaw.DAMAGED
    if entry.method == _STORED:
        return packed if len(packed) <= allowance.bytes_left else Flaw.TOO_MUCH
    if entry.method == _DEFLATED:
        result = unpack(packed, lambda: zlib.decompressobj(-15), allowance=allowance, failures=(zlib.error,))
    elif entry.method == _BZIP2:
        result = unpack(packed, bz2.BZ2Decompressor, allowance=allowance, failures=(OSError, ValueError))
    else:
        return Flaw.UNREADABLE
    if isinstance(result, Flaw):
        return result
    return Flaw.UNNAMED_BYTES if len(result.rest) > _SLACK else result.content


def _judge_coverage(content: bytes, covered: list[tuple[int, int]]) -> Iterator[Flawed]:
    """Bytes that two members share, and bytes that belong to nobody."""
    reached = 0
    unnamed = 0
    for start, end in covered:
        if start < reached:
            yield _SHARED
            return
        if content[reached:start].strip(b"\0"):
            unnamed += start - reached
        reached = end
    unnamed += len(content[reached:].strip(b"\0"))
    if unnamed > _SLACK:
        yield Flawed(Flaw.UNNAMED_BYTES, f"{unnamed} bytes")
