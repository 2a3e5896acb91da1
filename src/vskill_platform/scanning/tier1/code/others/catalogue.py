"""The languages that are read by catalogue: what their calls do, and how they write comments and names in texts."""

from __future__ import annotations

import re
from typing import NamedTuple

from vskill_platform.scanning.tier1.code.others import compiled, scripting
from vskill_platform.scanning.tier1.code.others.scripting import Catalogue
from vskill_platform.scanning.tier1.languages import Language

_TEXTS = r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'"
_RAW = r"`[^`]*`?"
_SLASHES = r"//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/)?"
_HASH = r"(?<![$&\\{\w])#(?!\{)[^\n]*"
_WORDS = r"%[wWiI](?:\[[^\]]*\]|\([^)]*\)|\{[^}]*\}|<[^>]*>)"
"""A list of words without quotes, as Ruby has it."""
_DOUBLED = r"\"(?:[^\"\n]|\"\")*\""


class Tongue(NamedTuple):
    """A language: what its calls do, and its comments and texts, which are told apart in one pass.

    `has_names_in_texts` says whether the names of variables in a text stand for their values.
    """

    deeds: Catalogue
    tokens: re.Pattern[str]
    has_names_in_texts: bool = False


def _tokens(*, texts: str, comments: str, words: str = r"(?!)") -> re.Pattern[str]:
    return re.compile(rf"(?P<words>{words})|(?P<text>{texts})|(?P<comment>{comments})", re.DOTALL)


_LIKE_C = _tokens(texts=f"{_TEXTS}|{_RAW}", comments=_SLASHES)
_LIKE_SHELL = _tokens(texts=rf"{_TEXTS}|`[^`\n]*`", comments=_HASH)
_RUBY = _tokens(texts=rf"{_TEXTS}|`[^`\n]*`", comments=_HASH, words=_WORDS)
_POWERSHELL = _tokens(
    texts=r"\"(?:[^\"`\n]|`.|\"\")*\"|'(?:[^'\n]|'')*'", comments=r"<#(?:[^#]|#(?!>))*(?:#>)?|(?<![\w$`])#[^\n]*"
)
_PHP = _tokens(texts=rf"{_TEXTS}|`[^`\n]*`", comments=rf"{_SLASHES}|{_HASH}")
_LUA = _tokens(
    texts=rf"{_TEXTS}|\[\[(?:[^\]]|\](?!\]))*(?:\]\])?", comments=r"--\[\[(?:[^\]]|\](?!\]))*(?:\]\])?|--[^\n]*"
)
_APPLESCRIPT = _tokens(texts=r"\"(?:[^\"\\]|\\.)*\"", comments=r"--[^\n]*|\(\*(?:[^*]|\*(?!\)))*(?:\*\))?")
_BATCH = _tokens(texts=r"\"[^\"\n]*\"", comments=r"(?m:^[ \t]*(?:::|(?i:rem)\b)[^\n]*)")
_BASIC = _tokens(texts=_DOUBLED, comments=r"'[^\n]*|(?m:^[ \t]*(?i:rem)\b[^\n]*)")

TONGUES = {
    Language.RUBY: Tongue(scripting.RUBY, _RUBY, has_names_in_texts=True),
    Language.PERL: Tongue(scripting.PERL, _LIKE_SHELL, has_names_in_texts=True),
    Language.PHP: Tongue(scripting.PHP, _PHP, has_names_in_texts=True),
    Language.LUA: Tongue(scripting.LUA, _LUA),
    Language.R: Tongue(scripting.R, _LIKE_SHELL),
    Language.GO: Tongue(compiled.GO, _LIKE_C),
    Language.RUST: Tongue(compiled.RUST, _LIKE_C, has_names_in_texts=True),
    Language.CSHARP: Tongue(compiled.CSHARP, _LIKE_C, has_names_in_texts=True),
    Language.JAVA: Tongue(compiled.JAVA, _LIKE_C, has_names_in_texts=True),
    Language.SWIFT: Tongue(compiled.SWIFT, _LIKE_C, has_names_in_texts=True),
    Language.POWERSHELL: Tongue(compiled.POWERSHELL, _POWERSHELL, has_names_in_texts=True),
    Language.APPLESCRIPT: Tongue(compiled.APPLESCRIPT, _APPLESCRIPT),
    Language.BATCH: Tongue(compiled.BATCH, _BATCH, has_names_in_texts=True),
    Language.VISUAL_BASIC: Tongue(compiled.VISUAL_BASIC, _BASIC),
}
