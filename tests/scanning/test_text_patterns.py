"""Patterns over text: whichever engine looks, the answer is that of Python's own."""

from __future__ import annotations

import re

import pytest

from vskill_platform.scanning.tier1.meaning import neighbours, sections, stances
from vskill_platform.scanning.tier1.text_patterns import TYPOGRAPHY, TextPattern

SOURCES = (
    r"(?i)\b(?:security|back-?doors?|третье|スキャン)\b",
    r"\bfind\s[^\n]{0,8}SKILL\.md|\w*kill\(",
    r"(?i)risk[^.]{0,3}\Whigh",
)
TEXTS = (
    "A security review",
    "insecurity",
    "A BACKDOOR — found",
    "—security—",
    "“Backdoors”",
    "\u017fecurity of ris\u212a",
    "ésecurity",
    "security\u00a0",
    "find\u00a0SKILL.md",
    "find\x1cSKILL.md",
    "find\x0bSKILL.md",
    "find…–‘’SKILL.md",
    "find…SKILL.md and find “x” SKILL.md",
    "skill( éskill(",
    "risk → high",
    "risk…–’×high",
    "ТРЕТЬЕ",
    "\0security\0",
    "",
)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("text", TEXTS)
def test_answer_is_that_of_pythons_engine(source: str, text: str) -> None:
    assert TextPattern(source).is_in(text) is (re.search(source, text) is not None)


@pytest.mark.parametrize("sign", TYPOGRAPHY.pattern.strip("[]"))
def test_sign_of_typography_is_no_letter_and_no_blank(sign: str) -> None:
    assert re.fullmatch(r"[^\w\s]", sign)
    assert sign.upper() == sign.lower() == sign.casefold()


@pytest.mark.parametrize(
    "pattern", [stances._SECURITY, neighbours._GOES_THROUGH, neighbours._WRITES, sections._DEMANDING_TITLE]
)
def test_patterns_have_nothing_that_engines_read_otherwise(pattern: TextPattern) -> None:
    assert "$" not in pattern._pattern.pattern
    assert not TYPOGRAPHY.search(pattern._pattern.pattern)
