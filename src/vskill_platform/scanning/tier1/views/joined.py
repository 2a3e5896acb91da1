"""Constants of a program that are put together again: `"cu" + "rl"`, `'a' 'b'`, `["c", "u", "r", "l"]`, `"{1}{0}" -f`.

A long text broken over lines is ordinary. A word broken in two is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from vskill_platform.scanning.tier1.patterns import Pattern
from vskill_platform.scanning.tier1.views.collage import Change, Piece
from vskill_platform.scanning.tier1.views.glance import Sign

_GLUE = r"[ \t]*(?:\+|\.\.?|&|\|\|)?[ \t]*\\?(?:\r?\n[ \t]*)?(?:\+|\.\.?|&)?[ \t]*"
_SEAM_SOURCE = rf"[\"']{_GLUE}[fFrRbBuU]?[bBrR]?[\"']|\\\r?\n"
_SHORT = r"[\"'][^\"'\\\n][^\"'\\\n]?[^\"'\\\n]?[^\"'\\\n]?[\"']"
_CONSTANT = r"(?:\"[^\"\n{}]*\"|'[^'\n{}]*'|\x60[^\x60\n{}]*\x60)"
_LISTED = Sign(rf"{_SHORT}\s*,\s*{_SHORT}\s*,\s*{_SHORT}\s*,\s*{_SHORT}")
_PUT_IN = Sign(rf"\{{\s*{_CONSTANT}\s*\}}")
_BROKEN = Sign(
    rf"[^\s(,=\[{{:](?:{_SEAM_SOURCE})[^\s),\]}};:]|[\"'][ \t]*[+&][ \t]*[fFrRbBuU]?[\"']|[\"']\s*\\?\r?\n[ \t]*[fFrRbBuU]?[\"']"
    r"|\{[0-9]\}[\"']\s*-f\s|[A-Za-z/.]\$?\{\s*[\"'\x60]"
)
JOINABLE = frozenset([_LISTED, _BROKEN])
"""One of these is in every file that has something to join in it."""
ANY_WAY = frozenset([_LISTED, _PUT_IN, _BROKEN])
_SEAM = Pattern(_SEAM_SOURCE)
_LIST = Pattern(r"(?:[\"'][^\"'\\\n]{1,4}[\"']\s*,\s*){3,}[\"'][^\"'\\\n]{1,4}[\"']")
_FORMAT = Pattern(r"[\"'](?:\{[0-9]{1,2}\}){2,}[\"']\s*-f\s*(?:[\"'][^\"'\n]*[\"']\s*,\s*)+[\"'][^\"'\n]*[\"']")
_ELEMENT = re.compile(rb"[\"'\x60]([^\"'\x60\n]*)[\"'\x60]")
_INLINE = Pattern(rf"\$?\{{\s*{_CONSTANT}\s*\}}")
_SLOT = re.compile(rb"\{(\d{1,2})\}")
NEAR = 20
_SUM_SIGNS = frozenset(b"+.&|")
_OPENING = frozenset(b" \t\r\n(,=[{:")
_CLOSING = frozenset(b" \t\r\n),]};:")
"""What stands outside of a constant, before it and behind it: there a quote opens or closes and is no seam."""


def seams_in(data: bytes, signs: Set[Sign] = ANY_WAY) -> Iterator[Piece]:
    """What stands in a text with these signs in place of its seams, kind by kind; some may overlap."""
    for start, end in _LIST.spans(data) if _LISTED in signs else ():
        yield Piece(b'"' + b"".join(_ELEMENT.findall(data[start:end])) + b'"', start, end, Change.TRICK)
    for start, end in _FORMAT.spans(data) if b"-f" in data else ():
        yield Piece(_formatted(data[start:end]), start, end, Change.TRICK)
    for start, end in _INLINE.spans(data) if _PUT_IN in signs else ():
        if start == 0 or (data[start - 1] in _OPENING):
            continue
        yield Piece(b"".join(_ELEMENT.findall(data[start:end])), start, end, Change.TRICK)
    for start, end in _SEAM.spans(data):
        if start > 0 and end < len(data) and (piece := _seam(data, start, end)) is not None:
            yield piece


def _seam(data: bytes, start: int, end: int) -> Piece | None:
    """Nothing in place of a seam, where it is one."""
    seam, before, behind = data[start:end], data[start - 1], data[end]
    if not (_is_sum(seam) and not _opens(data, start)) and not _lie_side_by_side(seam, before, behind):
        return None
    is_word = _is_word(before) and _is_word(behind)
    return Piece(b"", start, end, Change.TRICK if is_word else Change.ORDINARY)


def _is_sum(seam: bytes) -> bool:
    return not _SUM_SIGNS.isdisjoint(seam)


def _opens(data: bytes, start: int) -> bool:
    """Whether the quote at this place begins a constant, by the sign before it."""
    return data[max(0, start - NEAR) : start].rstrip()[-1:] in (b"(", b",", b"=", b"[", b"{", b":", b"")


def _lie_side_by_side(seam: bytes, before: int, behind: int) -> bool:
    """Whether a constant ends before the seam and another begins behind it, with nothing between them."""
    is_over_lines = b"\n" in seam and seam[:1] != b"\\"
    return behind not in _CLOSING and (before not in _OPENING or (is_over_lines and before == ord(" ")))


def _is_word(sign: int) -> bool:
    return sign >= 0x80 or chr(sign).isalnum()


def _formatted(expression: bytes) -> bytes:
    """PowerShell's `"{1}{0}" -f "a","b"`, carried out."""
    template, _, rest = expression.partition(b"-f")
    words = _ELEMENT.findall(rest)
    slots = [int(number) for number in _SLOT.findall(template)]
    return b'"' + b"".join(words[slot] for slot in slots if slot < len(words)) + b'"'
