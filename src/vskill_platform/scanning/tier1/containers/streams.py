"""Reads files that are one compressed stream: gzip, bzip2 and xz."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from vskill_platform.scanning.tier1.containers.members import (
    Allowance,
    Decompressor,
    Flaw,
    Flawed,
    Found,
    Member,
    unpack,
)
from vskill_platform.scanning.tier1.containers.tars import is_tar, read_tar

MOST_XZ_MEMORY = 48 * 1024 * 1024
MOST_PARTS = 100
"""Streams behind each other that count as one file."""


class _Form(NamedTuple):
    magic: bytes
    make: Callable[[], Decompressor]
    failures: tuple[type[Exception], ...]


_FORMS = (
    _Form(b"\x1f\x8b", lambda: zlib.decompressobj(31), (zlib.error,)),
    _Form(b"BZh", bz2.BZ2Decompressor, (OSError, ValueError)),
    _Form(
        b"\xfd7zXZ\0",
        lambda: lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=MOST_XZ_MEMORY),
        (lzma.LZMAError, EOFError, ValueError),
    ),
)


def is_stream(content: bytes) -> bool:
    """Whether the bytes begin like a compressed stream that can be read here."""
    return content.startswith(tuple(form.magic for form in _FORMS))


def read_stream(path: str, content: bytes, *, allowance: Allowance) -> Iterator[Found]:
    """The file in the stream, or the members of the tar in it, and what is wrong with it."""
    form = next(form for form in _FORMS if content.startswith(form.magic))
    parts: list[bytes] = []
    rest = content
    for _ in range(MOST_PARTS):
        result = unpack(rest, form.make, allowance=allowance, failures=form.failures)
        if isinstance(result, Flaw):
            yield Flawed(result)
            break
        parts.append(result.content)
        allowance.bytes_left -= len(result.content)
        rest = result.rest
        if not rest.startswith(form.magic):
            break
    if rest.strip(b"\0") and parts:
        yield Flawed(Flaw.UNNAMED_BYTES, "bytes behind the end")
    whole = b"".join(parts)
    if is_tar(whole):
        allowance.bytes_left += len(whole)
        yield from read_tar(whole, allowance=allowance)
    elif parts:
        allowance.take(0)
        yield Member(_inner_name(path), whole)


def _inner_name(path: str) -> str:
    name = PurePosixPath(path.rpartition("!/")[2]).name
    stem, _, suffix = name.rpartition(".")
    return f"{stem}.tar" if suffix in ("tgz", "tbz2", "txz") else stem or "content"
