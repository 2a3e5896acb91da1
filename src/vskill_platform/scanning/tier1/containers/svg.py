"""Vector graphics, which are documents: scripts, handlers and frames in them, and text that nobody sees."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vskill_platform.scanning.tier1.excerpts import make_excerpt
from vskill_platform.scanning.tier1.file_kinds import Shape
from vskill_platform.scanning.tier1.patterns import Pattern
from vskill_platform.scanning.tier1.skill import FileUnderScan, Sighting

_ROOT = re.compile(rb"\s*(?:<\?xml[^>]{0,500}>\s*)?(?:<!--[^>]{0,500}-->\s*)?(?:<!DOCTYPE[^>]{0,500}>\s*)?<svg[\s>]")
_ACTIVE = Pattern(
    r"(?i)<(?:[a-z0-9]+:)?script[\s/>]|\son[a-z]{3,30}\s*=\s*[\"'][^\"']|(?:href|src|from|to|values)\s*=\s*[\"']\s*"
    r"(?:javascript|vbscript|data:text/html)[:,;]|<(?:[a-z0-9]+:)?(?:iframe|embed|object)[\s/>]"
    r"|<!ENTITY\s+\S+\s+(?:SYSTEM|PUBLIC)\b"
)
_UNSEEN = Pattern(
    r"(?i)<(?:text|tspan|p|div|span)\b[^<>]{0,400}?(?:(?:fill-|stroke-)?opacity\s*[=:]\s*[\"']?0(?:\.0+)?[\"';\s/>]|"
    r"font-size\s*[=:]\s*[\"']?0(?:\.0+)?(?:px|pt|em)?[\"';\s/>]|display\s*[=:]\s*[\"']?none|"
    r"visibility\s*[=:]\s*[\"']?hidden)[^<>]{0,400}>[^<>]{24,}"
)
_MARKS = (b"script", b"href", b" on", b"\non", b"\ton", b"frame", b"embed", b"object", b"!entity")


def is_svg(file: FileUnderScan) -> bool:
    """Whether a viewer would draw the file as a vector graphic."""
    if file.shape is not Shape.TEXT:
        return False
    return file.suffix == "svg" or (b"<svg" in file.content[:2000] and _ROOT.match(file.content) is not None)


def find_in_svg(file: FileUnderScan) -> Iterator[Sighting]:
    """What a vector graphic does beside being one."""
    data = file.encoded
    lowered = data.lower()
    if any(mark in lowered for mark in _MARKS):
        yield from _first(file, "svg_script", _ACTIVE)
    if b"<text" in lowered or b"foreignobject" in lowered:
        yield from _first(file, "svg_hidden_text", _UNSEEN)


def _first(file: FileUnderScan, check: str, pattern: Pattern) -> Iterator[Sighting]:
    data = file.encoded
    span = next(pattern.spans(data), None)
    if span is not None:
        line = data.count(b"\n", 0, span.start) + 1
        column = len(data[data.rfind(b"\n", 0, span.start) + 1 : span.start].decode(errors="replace")) + 1
        excerpt = make_excerpt(data[span.start : span.start + 200].decode(errors="replace"))
        yield Sighting(check, file.path, line, column, excerpt, "container")
