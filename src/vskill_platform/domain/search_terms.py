"""Search terms: made here once, so that every engine indexes the same terms and gives the same answers.

Text is folded (NFKC, case, accents) and cut into words at everything that is no letter or digit. Scripts that write
without spaces (Chinese, Japanese, Korean) are cut into overlapping pairs of characters instead, with the last character
once more on its own, so that any run of them can be found and a single character is the beginning of some term.
"""

from __future__ import annotations

import unicodedata
from typing import NamedTuple

MAX_TERM_CHARS = 64
MAX_DOCUMENT_TERMS = 4096
MAX_QUERY_TERMS = 16
_UNSPACED = (
    (0x2E80, 0x2FDF),
    (0x3040, 0x30FF),
    (0x3100, 0x312F),
    (0x31A0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xAC00, 0xD7AF),
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)


class QueryTerm(NamedTuple):
    """One term that a document must have: exactly, or as the beginning of one of its terms."""

    text: str
    is_prefix: bool


def document_terms(text: str) -> tuple[str, ...]:
    """The terms under which a document is found, each once, in the order of the text."""
    terms = dict.fromkeys(term for run in _runs(text) for term in _terms_of_run(run))
    return tuple(terms)[:MAX_DOCUMENT_TERMS]


def query_terms(text: str) -> tuple[QueryTerm, ...]:
    """The terms of a query. All must be found; the last word may be the beginning of one, as it is while being typed.

    A query without a letter or digit has no terms.
    """
    runs = _runs(text)
    found: dict[QueryTerm, None] = {}
    for position, run in enumerate(runs):
        if _is_unspaced(run[0]):
            pairs = [run[i : i + 2] for i in range(len(run) - 1)] or [run]
            found.update(dict.fromkeys(QueryTerm(pair, is_prefix=len(pair) == 1) for pair in pairs))
        else:
            is_last = position == len(runs) - 1
            found[QueryTerm(run[:MAX_TERM_CHARS], is_prefix=is_last)] = None
    return tuple(found)[:MAX_QUERY_TERMS]


def trigrams(text: str) -> tuple[str, ...]:
    """The overlapping triples of the folded words of a name, padded at both ends: what a typo leaves mostly intact."""
    words = [run for run in _runs(text) if not _is_unspaced(run[0])]
    padded = [f"  {word} " for word in words]
    return tuple(dict.fromkeys(word[i : i + 3] for word in padded for i in range(len(word) - 2)))


def fold(text: str) -> str:
    """Text as it is compared: compatibility forms unified, case folded, accents taken off."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    decomposed = unicodedata.normalize("NFD", folded)
    bare = "".join(char for char in decomposed if not unicodedata.combining(char))
    return unicodedata.normalize("NFC", bare)


def _runs(text: str) -> list[str]:
    """Maximal runs of letters and digits, cut where the writing changes between spaced and unspaced."""
    runs: list[str] = []
    run: list[str] = []
    for char in fold(text):
        if not char.isalnum() or (run and _is_unspaced(char) != _is_unspaced(run[-1])):
            if run:
                runs.append("".join(run))
            run = []
        if char.isalnum():
            run.append(char)
    if run:
        runs.append("".join(run))
    return runs


def _terms_of_run(run: str) -> list[str]:
    if not _is_unspaced(run[0]):
        return [run[:MAX_TERM_CHARS]]
    return [*(run[i : i + 2] for i in range(len(run) - 1)), run[-1]]


def _is_unspaced(char: str) -> bool:
    point = ord(char)
    return point >= _UNSPACED[0][0] and any(low <= point <= high for low, high in _UNSPACED)
