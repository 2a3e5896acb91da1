"""Patterns over text that are looked for with google-re2 wherever it reads the text as Python's own engine does.

Python's engine tries the branches of a pattern one after another at every letter, which takes ten times as long. The two
differ in what is a letter, a blank or the same letter in another case, but hardly in ASCII: there they differ in five
control characters that are blanks to one of them.
"""

from __future__ import annotations

import re

from vskill_platform.scanning.tier1.patterns import compile_pattern

_BLANKS_TO_ONE = ("\x0b", "\x1c", "\x1d", "\x1e", "\x1f")


class TextPattern:
    """A pattern that both engines take. It has no `$`, which does not mean the same to them either."""

    __slots__ = ("_pattern",)

    def __init__(self, source: str) -> None:
        self._pattern = re.compile(source)

    def is_in(self, text: str) -> bool:
        """Whether the pattern matches anywhere in the text."""
        if text.isascii() and not any(blank in text for blank in _BLANKS_TO_ONE):
            return compile_pattern(self._pattern.pattern).is_in(text.encode())
        return self._pattern.search(text) is not None
