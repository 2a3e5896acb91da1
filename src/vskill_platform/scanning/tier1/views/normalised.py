"""Text without disguise: look-alike letters folded, what has no width taken out, odd forms of letters made plain.

Words of one foreign script stay as they are: Russian prose is no disguise. A word is folded where it mixes scripts, or where
all of it looks like ASCII and the line around it is Latin (`mixed_scripts.py`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import takewhile

from vskill_platform.scanning.tier1.file_kinds import FileKind
from vskill_platform.scanning.tier1.patterns import Pattern
from vskill_platform.scanning.tier1.skill import FileUnderScan, SkillUnderScan
from vskill_platform.scanning.tier1.views.collage import (
    Allowance,
    Change,
    Collages,
    Piece,
    apart,
    collages_of,
    in_place,
)
from vskill_platform.scanning.tier1.views.confusables import LATIN, LETTERS, SIGNS, TYPOGRAPHY, normalise
from vskill_platform.scanning.tier1.views.mixed_scripts import disguised_words, foreign_characters, sightings_of
from vskill_platform.scanning.tier1.views.view import NORMALISED, Uncovered, files_by_size, once_a_skill

_SPACES = r"\x{a0}\x{1680}\x{2000}-\x{200a}\x{202f}\x{205f}\x{3000}"
_WIDTHLESS = (
    r"\x{ad}\x{34f}\x{61c}\x{115f}\x{1160}\x{17b4}\x{17b5}\x{180b}-\x{180e}\x{200b}\x{200e}\x{200f}\x{202a}-\x{202e}"
    r"\x{2060}-\x{206f}\x{3164}\x{feff}\x{ffa0}\x{e0000}-\x{e0fff}"
)
_WIDTHLESS_AFTER_LETTERS = r"\x{200c}\x{200d}\x{fe00}-\x{fe0f}"
"""Of use in emoji and in some scripts, never behind a Latin letter."""
_UNJOINED = r"A-Za-z\p{Cyrillic}\p{Greek}\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}"
_MARKS = r"\x{300}-\x{36f}\x{489}\x{1ab0}-\x{1aff}\x{1dc0}-\x{1dff}\x{20d0}-\x{20f0}\x{fe20}-\x{fe2f}"
_ACCENTED = r"\x{c0}-\x{d6}\x{d8}-\x{f6}\x{f8}-\x{24f}\x{1e00}-\x{1eff}"
_FORMS = (
    r"\x{2b0}-\x{2b8}\x{2e0}-\x{2e4}\x{1d2c}-\x{1d6a}\x{1d9c}-\x{1dbf}\x{2071}\x{207f}\x{2090}-\x{209c}\x{2100}-\x{2102}"
    r"\x{2104}-\x{2108}\x{210a}-\x{2115}\x{2117}-\x{211f}\x{2123}-\x{2138}\x{213a}-\x{2149}\x{2160}-\x{2188}"
    r"\x{249c}-\x{24e9}\x{fb00}-\x{fb06}\x{fe50}-\x{fe6b}\x{ff10}-\x{ff19}\x{ff21}-\x{ff3a}\x{ff41}-\x{ff5a}"
    r"\x{1d400}-\x{1d7ff}\x{1f110}-\x{1f169}\x{1f170}-\x{1f189}"
)
"""Other forms of Latin letters and digits. Signs that prose is full of, such as the one for trade marks, are not among them."""
_LATIN = "".join(LATIN.values())
_SIGNS = (
    "".join(sign for signs in SIGNS.values() for sign in signs if sign not in TYPOGRAPHY)
    + "／｜＄＞＜＆．＠－＝＿｀＂＇＼"
)
_DISGUISE = Pattern(
    rf"[{_WIDTHLESS}]+"
    rf"|[{_UNJOINED}][{_WIDTHLESS_AFTER_LETTERS}]+"
    rf"|[\x{{ff01}}-\x{{ff5e}}\x{{3000}}]*[{_FORMS}{_LATIN}][{_FORMS}{_LATIN}{_SPACES}\x{{ff01}}-\x{{ff5e}}]*"
    rf"|[A-Za-z]*(?:[{_ACCENTED}]|[A-Za-z][{_MARKS}])[A-Za-z{_ACCENTED}{_MARKS}]*"
    rf"|[{_SPACES}]+[!-~]|[\x{{85}}\x{{2028}}\x{{2029}}]"
    r"|[A-Za-z][’ʼ‘′‐‑][A-Za-z]|[ \t(\x60|;&\x22'][–—−‐‑‒―]{1,2}[A-Za-z]"
    rf"|：?[{_SIGNS}]+[!-~]|[!-~]：?[{_SIGNS}]+"
    r"|[\x{1f1e6}-\x{1f1ff}][\x{1f1e6}-\x{1f1ff}][\x{1f1e6}-\x{1f1ff}]+"
)
_OF_INTEREST = Pattern(
    f"[{_WIDTHLESS}{_WIDTHLESS_AFTER_LETTERS}{_FORMS}{_LATIN}{_ACCENTED}{_MARKS}{_SPACES}{_SIGNS}{LETTERS}’ʼ‘′"
    r"\x{85}\x{2028}\x{2029}\x{1f1e6}-\x{1f1ff}]"
)
"""Characters without one of which there is no disguise, apart from dashes."""
_DASHES = frozenset("‐‑‒–—―−")
_DASH_BEFORE_LETTER = re.compile(rb"\xe2(?:\x80[\x90-\x95]|\x88\x92)[A-Za-z]")
"""Where one of these dashes can be a disguise. Begins with a byte of its own, so that it is found at once."""


def normalised_views(skill: SkillUnderScan) -> Iterator[Uncovered]:
    """Files whose text changes when what disguises it is taken away, and words of two scripts."""
    for file in files_by_size(skill):
        if not file.content.isascii():
            yield from sightings_of(file)
    yield from normalised(skill).views(NORMALISED)
    if skill.skill_file is not None and not skill.skill_file.content.isascii():
        yield from _frontmatter(skill, skill.skill_file)


@once_a_skill
def normalised(skill: SkillUnderScan) -> Collages:
    """What changes in the skill's files, and its surroundings."""
    return collages_of(skill, _changes)


def _frontmatter(skill: SkillUnderScan, file: FileUnderScan) -> Iterator[Uncovered]:
    """The same for the rules that look at nothing but the head of the SKILL.md."""
    if skill.frontmatter is None:
        return
    head = len("\n".join(file.lines[: skill.frontmatter.first_line - 1]).encode()) + len(
        skill.frontmatter.text.encode()
    )
    if normalised(skill).of.get(file):
        changes = takewhile(lambda piece: piece.start <= head, apart(Allowance().some_of(_changes(file))))
        collage = in_place(file.encoded[: head + 1], changes)
        yield collage.view(file, NORMALISED, kinds=frozenset({FileKind.FRONTMATTER}))


def _changes(file: FileUnderScan) -> Iterable[Piece]:
    return () if file.content.isascii() or not _may_be_disguised(file) else _folded_in(file)


def _folded_in(file: FileUnderScan) -> Iterator[Piece]:
    """The words in disguise, and then what stands alone; some of that may lie in such words."""
    yield from disguised_words(file)
    for start, end in _DISGUISE.spans(file.encoded):
        if (piece := _folded(file.encoded, start, end)) is not None:
            yield piece


def _may_be_disguised(file: FileUnderScan) -> bool:
    foreign = foreign_characters(file)
    if _OF_INTEREST.is_in("".join(foreign - _DASHES).encode()):
        return True
    return not _DASHES.isdisjoint(foreign) and _DASH_BEFORE_LETTER.search(file.encoded) is not None


def _folded(data: bytes, start: int, end: int) -> Piece | None:
    text = data[start:end].decode(errors="replace")
    plain = normalise(text)
    if plain == text:
        return None
    return Piece(plain.encode(), start, end, Change.ORDINARY if _is_ordinary(text) else Change.TRICK)


@lru_cache(maxsize=4096)
def _is_ordinary(text: str) -> bool:
    """Whether people write so: accents, typographic signs, ligatures."""
    return all(
        sign.isascii() or sign in TYPOGRAPHY or _is_accented(sign) or "\ufb00" <= sign <= "\ufb06"
        for sign in unicodedata.normalize("NFC", text)
    )


def _is_accented(letter: str) -> bool:
    return letter in "đøłıßæœĐØŁÆŒ" or unicodedata.normalize("NFD", letter)[0].isascii()
