"""Search terms: made here once, so that every engine indexes the same terms and gives the same answers.

Text is folded (NFKC, case, accents) and cut into words at everything that is no letter or digit. Scripts that write
without spaces (Chinese, Japanese, Korean) are cut into overlapping pairs of characters instead, with the last character
once more on its own, so that any run of them can be found and a single character is the beginning of some term.

A document with a title is found by more: each word of its title and of its path once more under a mark, and the whole of each as
one term. So an index tells, without looking at the document, where a word stands in it.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

MAX_TERM_CHARS = 64
MAX_WHOLE_CHARS = 160
WHOLE, IN_TITLE, IN_TITLE_OR_PATH = "0:", "1:", "2:"
"""Marks before a term. No word holds a colon, so no word is taken for a marked one."""
MAX_DOCUMENT_TERMS = 4096
MAX_QUERY_TERMS = 16
_ASCII_RUN = re.compile("[a-z0-9]+")
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


def titled_terms(title: str, *, path: str, text: str) -> tuple[str, ...]:
    """The terms of a document that has a title and a path beside its text."""
    in_title, in_path = document_terms(title), document_terms(path)
    wholes = (whole_of(title), whole_of(path), whole_of(last_part(path)))
    terms = (
        *(f"{WHOLE}{whole}" for whole in wholes if whole),
        *(f"{IN_TITLE}{term}" for term in in_title),
        *(f"{IN_TITLE_OR_PATH}{term}" for term in (*in_title, *in_path)),
        *in_title,
        *in_path,
        *document_terms(text),
    )
    return tuple(dict.fromkeys(terms))[:MAX_DOCUMENT_TERMS]


def words_of(text: str) -> tuple[str, ...]:
    """The words of a text as they are compared, in their order; a run of an unspaced script is one."""
    return tuple(_runs(text))


def whole_of(text: str) -> str:
    """A title, a path or a query as one term: its words with a space between them."""
    return " ".join(_runs(text))[:MAX_WHOLE_CHARS]


def last_part(path: str) -> str:
    """What stands after the last slash of a path."""
    return path.rsplit("/", 1)[-1]


def fold(text: str) -> str:
    """Text as it is compared: compatibility forms unified, case folded, accents taken off."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    decomposed = unicodedata.normalize("NFD", folded)
    bare = "".join(char for char in decomposed if not unicodedata.combining(char))
    return unicodedata.normalize("NFC", bare)


def _runs(text: str) -> list[str]:
    """Maximal runs of letters and digits, cut where the writing changes between spaced and unspaced."""
    if text.isascii():
        return _ASCII_RUN.findall(text.lower())
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


def is_unspaced(text: str) -> bool:
    """Whether a run is of a script that writes without spaces."""
    return _is_unspaced(text[0])


def _is_unspaced(char: str) -> bool:
    point = ord(char)
    return point >= _UNSPACED[0][0] and any(low <= point <= high for low, high in _UNSPACED)
