"""Patterns over text that are looked for with google-re2 wherever it reads the text as Python's own engine does.

Python's engine tries the branches of a pattern one after another at every letter, which takes ten times as long. The two
differ in what is a letter, a blank or the same letter in another case, but hardly in ASCII: there they differ in five
control characters that are blanks to one of them. The signs of typography that English is written with are none of all
that to either, so that a character stands in for them.
"""

from __future__ import annotations

import re

from vskill_platform.scanning.tier1.patterns import compile_pattern

_BLANKS_TO_ONE = ("\x0b", "\x1c", "\x1d", "\x1e", "\x1f")
TYPOGRAPHY = re.compile("[–—…→←↔“”‘’•·×✓✅≥≤]")
_STANDS_IN = "\0"


class TextPattern:
    """A pattern that both engines take. It has no `$`, which does not mean the same to them either, and no such signs."""

    __slots__ = ("_pattern",)

    def __init__(self, source: str) -> None:
        self._pattern = re.compile(source)

    def is_in(self, text: str) -> bool:
        """Whether the pattern matches anywhere in the text."""
        plain = text if text.isascii() else TYPOGRAPHY.sub(_STANDS_IN, text)
        if plain.isascii() and not any(blank in plain for blank in _BLANKS_TO_ONE):
            return compile_pattern(self._pattern.pattern).is_in(plain.encode())
        return self._pattern.search(text) is not None
