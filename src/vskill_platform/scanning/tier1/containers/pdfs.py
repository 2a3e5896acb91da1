"""PDFs, as far as they can be read without a reader: what they start by themselves, and the text that is drawn plainly."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from vskill_platform.scanning.tier1.containers.members import Allowance, Flaw, unpack
from vskill_platform.scanning.tier1.excerpts import make_excerpt
from vskill_platform.scanning.tier1.file_kinds import suffix_of
from vskill_platform.scanning.tier1.skill import Sighting

MAGIC = b"%PDF-"
MOST_STREAMS = 20_000
MOST_TEXT = 2 * 1024 * 1024
"""Bytes of drawing that are read for text."""
LONGEST_HEAD = 1_000
"""Bytes before a stream in which what it is stands."""
_NO_TEXT = (b"/Image", b"/Length1", b"/Type1C", b"/CIDFontType0C", b"/OpenType", b"/ICCBased")
"""What stands before a stream that is a picture, a font or a table of colours."""
_ESCAPED = re.compile(rb"#([0-9A-Fa-f]{2})")
_STARTS = re.compile(rb"/(?:JavaScript|JS|Launch|SubmitForm|ImportData|RichMedia)(?![A-Za-z0-9])")
_CARRIES = re.compile(rb"/(?:EmbeddedFiles?|GoToE|GoToR)(?![A-Za-z0-9])")
_DRAWN = re.compile(rb"\(((?>[^()\\]|\\.)*+)(\)?)", re.DOTALL)
_CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f-\xff]")


class Objects(NamedTuple):
    """What can be read of a PDF: its objects, and the streams that draw its pages."""

    structure: list[bytes]
    drawings: list[bytes]
    flaw: Flaw | None = None


def is_pdf(path: str, content: bytes) -> bool:
    """Whether readers would take the file for a PDF: by its first bytes, or by name and its first kilobyte."""
    return content.startswith(MAGIC) or (suffix_of(path) == "pdf" and MAGIC in content[:1024])


def find_active_objects(path: str, objects: Objects) -> Iterator[Sighting]:
    """What a PDF starts by itself, or carries along."""
    for check, pattern in (("pdf_starts_something", _STARTS), ("pdf_carries_files", _CARRIES)):
        found = next((found for part in objects.structure if (found := pattern.search(_plain_names(part)))), None)
        if found is not None:
            yield Sighting(check, path, excerpt=make_excerpt(found.group().decode()), layer="container")


def readable_objects(content: bytes, *, allowance: Allowance) -> Objects:
    """The file without its streams, the streams that hold objects, and those that draw something."""
    structure: list[bytes] = []
    drawings: list[bytes] = []
    at = 0
    worst: Flaw | None = None
    for number, (start, end) in enumerate(_streams(content)):
        if number >= MOST_STREAMS:
            worst = Flaw.TOO_MUCH
            break
        head = content[max(at, start - LONGEST_HEAD) : start]
        structure.append(content[at:start])
        holds_objects = b"/ObjStm" in head
        is_skipped = any(mark in head for mark in _NO_TEXT) and not holds_objects
        unpacked = b"" if is_skipped else _unpacked(content[start:end], head, allowance)
        if isinstance(unpacked, Flaw):
            worst = worst if unpacked is Flaw.DAMAGED else unpacked
            unpacked = b""
        if holds_objects:
            structure.append(unpacked)
        elif b"Tj" in unpacked or b"TJ" in unpacked:
            drawings.append(unpacked)
        at = end
    structure.append(content[at:])
    return Objects(structure, drawings, worst)


def drawn_text(objects: Objects) -> str:
    """The text that is drawn, a line a line of the stream, as far as its letters stand there as letters."""
    lines: list[bytes] = []
    left = MOST_TEXT
    for part in objects.drawings:
        looked_at = part[:left]
        left -= len(looked_at)
        for line in looked_at.split(b"\n"):
            drawn = b"".join(text for text, closing in _DRAWN.findall(line) if closing)
            if drawn and not _CONTROL.search(drawn):
                lines.append(drawn)
    return b"\n".join(lines).replace(b"\\(", b"(").replace(b"\\)", b")").decode("ascii", "replace")


def _streams(content: bytes) -> Iterator[tuple[int, int]]:
    at = 0
    while (start := content.find(b"stream", at)) >= 0:
        begin = start + len(b"stream")
        begin += 2 if content[begin : begin + 2] == b"\r\n" else 1
        end = content.find(b"endstream", begin)
        if end < 0:
            return
        yield begin, end
        at = end + len(b"endstream")


def _unpacked(packed: bytes, head: bytes, allowance: Allowance) -> bytes | Flaw:
    if b"Flate" not in head:
        return packed if b"/Filter" not in head else b""
    result = unpack(packed, zlib.decompressobj, allowance=allowance, failures=(zlib.error,))
    if isinstance(result, Flaw):
        return result
    allowance.bytes_left -= len(result.content)
    return result.content


def _plain_names(part: bytes) -> bytes:
    """The names without the escapes that may stand for their letters."""
    return _ESCAPED.sub(lambda found: bytes([int(found[1], 16)]), part) if b"#" in part else part
