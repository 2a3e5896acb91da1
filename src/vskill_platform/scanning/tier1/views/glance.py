"""What may be in a text, told by a few passes over it for all who ask.

Most of what is looked for is in few files. Whoever searches every file for something makes a sign of it when its module is
loaded, and searches only where the sign is: twenty patterns in one pass cost little more than one of them alone.
"""

from __future__ import annotations

from functools import cache

from vskill_platform.scanning.tier1.patterns import PatternSet, loosened
from vskill_platform.scanning.tier1.skill import FileUnderScan
from vskill_platform.scanning.tier1.views.view import once_a_file

SIGNS_TOGETHER = 13
"""Signs that are looked for in one pass. In one pass with all of them the engine has many more states to learn than texts to
learn them from: the first hundreds of skills take a tenth longer, and those after them gain a fiftieth."""


class Sign:
    """A pattern that matches every text in which there is what it is a sign of."""

    __slots__ = ("source",)

    def __init__(self, source: str) -> None:
        self.source = source
        _known.append(self)


_known: list[Sign] = []


def signs_in(data: bytes) -> frozenset[Sign]:
    """The signs that may be in the text; none that is in it is left out."""
    signs = _sorted(len(_known))
    return frozenset([signs[number] for number in all_signs().which(data)])


@once_a_file
def signs_of(file: FileUnderScan) -> frozenset[Sign]:
    """The same of a file."""
    return signs_in(file.encoded)


def all_signs() -> PatternSet:
    """All signs that modules have made so far."""
    return _together(len(_known))


@cache
def _together(count: int) -> PatternSet:
    """The first so many signs in sets: what they have of gaps is short, so that they need not be kept apart for these."""
    signs = [loosened(sign.source) for sign in _sorted(count)]
    return PatternSet(signs, has_gaps=False, group_size=SIGNS_TOGETHER)


@cache
def _sorted(count: int) -> list[Sign]:
    """The first so many signs in an order that does not depend on which module was loaded first."""
    return sorted(_known[:count], key=lambda sign: sign.source)
