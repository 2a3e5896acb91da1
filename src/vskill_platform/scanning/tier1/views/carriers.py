"""Text that is carried by characters nobody sees: tag characters, variation selectors, rows of characters without width.

The first two have one way of being read. The last can be read in several, and one of them counts that gives printable text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice

from vskill_platform.scanning.limits import VIEW_LIMIT
from vskill_platform.scanning.tier1.excerpts import make_excerpt
from vskill_platform.scanning.tier1.file_kinds import EVERY_KIND, FileKind
from vskill_platform.scanning.tier1.patterns import Pattern
from vskill_platform.scanning.tier1.skill import FileUnderScan, LimitHit, Sighting, SkillUnderScan
from vskill_platform.scanning.tier1.views.collage import MOST_CHANGES, Allowance, Change, Collage, Piece
from vskill_platform.scanning.tier1.views.readable import as_text, is_readable
from vskill_platform.scanning.tier1.views.view import CARRIED, Uncovered, files_by_size, places_in

SHORTEST = 4
"""Letters from which on a carried text counts; the name of a flag is as long."""
FEWEST_BITS = 24
LONGEST_ROW = 100_000
UNSEEN = EVERY_KIND | {FileKind.HIDDEN, FileKind.DECODED}
_TAGS = Pattern(r"[\x{e0020}-\x{e007e}]+")
_FLAG = 0x1F3F4
_SELECTORS = Pattern(r"[\x{fe00}-\x{fe0f}\x{e0100}-\x{e01ef}]{2,}|[ -~][\x{e0100}-\x{e01ef}]+")
_ZERO_WIDTH = r"[\x{180e}\x{200b}-\x{200f}\x{2060}-\x{2064}\x{feff}]"
_ROW = Pattern(rf"{_ZERO_WIDTH}{{{FEWEST_BITS},}}")
_SINGLE = Pattern(rf"{_ZERO_WIDTH}+")
_NO_LETTERS = bytes(
    code for code in range(256) if not (chr(code).isascii() and (chr(code).isalpha() or chr(code) == " "))
)
_ORDER = "\u200b\u200c\u200d\u2060\u2061\u2062\u2063\u2064\ufeff\u180e\u200e\u200f"


def carried_views(skill: SkillUnderScan) -> Iterator[Uncovered]:
    """What invisible characters spell out, and rows of them that nobody could make sense of."""
    allowance = Allowance()
    for file in files_by_size(skill):
        if not file.has_invisible_text:
            continue
        pieces = list(allowance.some_of(_carried(file)))
        yield from islice(_rows(file), skill.limits.max_places)
        yield from islice(_texts(file, pieces), skill.limits.max_places)
        if any(piece.data.strip() for piece in pieces):
            yield Collage(pieces).view(file, CARRIED, kinds=UNSEEN)
    if allowance.is_spent:
        yield LimitHit(VIEW_LIMIT)


def _rows(file: FileUnderScan) -> Iterator[Sighting]:
    """Rows of characters without width that have more than one kind of them."""
    for start, end in _ROW.spans(file.encoded):
        if len(set(file.encoded[start : min(end, start + LONGEST_ROW)].decode(errors="ignore"))) > 1:
            line, column = places_in(file)(start)
            yield Sighting("zero_width_payload", file.path, line, column, f"{(end - start) // 3} characters", CARRIED)


def _texts(file: FileUnderScan, pieces: list[Piece]) -> Iterator[Sighting]:
    """Carried texts that are long enough to say something, or that all are together."""
    spelled = [piece for piece in pieces if piece.change is Change.TRICK and piece.data.strip()]
    long = [piece for piece in spelled if len(piece.data.strip()) >= SHORTEST]
    together = b"".join(piece.data for piece in spelled)
    if not long and len(together.strip()) >= 2 * SHORTEST:
        long = [spelled[0]._replace(data=together)]
    for piece in long:
        line, column = places_in(file)(piece.start)
        yield Sighting(
            "carried_text", file.path, line, column, make_excerpt(piece.data.decode(errors="replace")), CARRIED
        )


def _carried(file: FileUnderScan) -> Iterator[Piece]:
    yield from _tags(file.encoded)
    yield from _selectors(file.encoded)
    yield from _zero_width(file.encoded)


def _tags(data: bytes) -> Iterator[Piece]:
    """Letters of the tag block; those of one line make one text, whatever stands between them."""
    line_end = 0
    for start, end in _TAGS.spans(data):
        text = bytes(ord(letter) - 0xE0000 for letter in data[start:end].decode(errors="ignore"))
        is_flag = data[max(0, start - 4) : start] == chr(_FLAG).encode() and len(text) <= 6
        if start > line_end:
            yield Piece(b"\n", start, start)
            line_end = data.find(b"\n", end)
            line_end = len(data) if line_end < 0 else line_end
        yield Piece(text, start, end, Change.NONE if is_flag else Change.TRICK)


def _selectors(data: bytes) -> Iterator[Piece]:
    """Bytes as variation selectors: the first sixteen values in one block, the others in another; or two a byte."""
    for start, end in _SELECTORS.spans(data):
        signs = [ord(sign) for sign in data[start:end].decode(errors="ignore") if not sign.isascii()]
        values = [sign - 0xFE00 if sign < 0xE0100 else sign - 0xE0100 + 16 for sign in signs]
        halves = bytes(high << 4 | low for high, low in zip(values[::2], values[1::2], strict=False) if high < 16 > low)
        text = _readable(bytes(values)) or (_readable(halves) if len(halves) * 2 >= len(values) - 1 else None)
        if text is not None:
            yield Piece(text + (b"\n" if len(text) > 1 else b""), start, end, Change.TRICK)


def _zero_width(data: bytes) -> Iterator[Piece]:
    """Rows of characters without width as digits; where there are no rows, all of the file's as one."""
    rows = list(islice(_ROW.spans(data), MOST_CHANGES))
    for start, end in rows:
        signs = data[start : min(end, start + 3 * LONGEST_ROW)].decode(errors="ignore")
        if len(set(signs)) > 1:
            yield Piece((_spelled(signs) or b"") + b"\n", start, end, Change.TRICK)
    if not rows:
        spans = list(islice(_SINGLE.spans(data), LONGEST_ROW))
        signs = "".join(data[start:end].decode(errors="ignore") for start, end in spans)
        text = _spelled(signs) if len(signs) >= FEWEST_BITS else None
        if text is not None:
            yield Piece(text + b"\n", spans[0][0], spans[-1][1], Change.TRICK)


def _spelled(signs: str) -> bytes | None:
    """The text that a row of such characters stands for: of all ways to read it the one that gives most letters."""
    kinds = [sign for sign, _ in Counter(signs).most_common()]
    readings = [_of_quarters(signs, kinds)] if len(kinds) == 4 else []
    for zero, one in ((kinds[0], kinds[1]), (kinds[1], kinds[0])) if len(kinds) > 1 else ():
        digits = "".join("0" if sign == zero else "1" if sign == one else " " for sign in signs)
        readings += _of_bits(digits)
    texts = [text for text in map(_readable, readings) if text is not None]
    return max(texts, key=_share_of_letters, default=None)


def _share_of_letters(text: bytes) -> float:
    return len(text.translate(None, _NO_LETTERS)) / len(text)


def _of_bits(digits: str) -> Iterator[bytes]:
    groups = digits.split()
    if len(groups) > 2 and max(map(len, groups)) <= 16:
        yield _characters(groups)
    together = "".join(groups)
    for width in (8, 7, 16):
        parts = [together[at : at + width] for at in range(0, len(together) // width * width, width)]
        yield _characters(parts)
        yield _characters([part[::-1] for part in parts])


def _characters(groups: list[str]) -> bytes:
    """Numbers in bits as bytes, or as characters where one is too large for a byte."""
    numbers = [int(group, 2) for group in groups]
    return bytes(numbers) if max(numbers, default=0) < 256 else "".join(map(chr, numbers)).encode(errors="replace")


def _of_quarters(signs: str, kinds: list[str]) -> bytes:
    """Four different characters as two bits each."""
    digits = {sign: number for number, sign in enumerate(sorted(kinds, key=_ORDER.index))}
    values = [digits[sign] for sign in signs]
    groups = zip(*(values[at::4] for at in range(4)), strict=False)
    return bytes(a << 6 | b << 4 | c << 2 | d for a, b, c, d in groups)


def _readable(data: bytes) -> bytes | None:
    plain = data.rstrip(b"\0")
    return plain if is_readable(plain[:40]) and as_text(plain) == plain else None
