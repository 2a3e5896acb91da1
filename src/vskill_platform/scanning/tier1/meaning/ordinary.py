"""Whether the words around a place are those of ordinary advice: a second opinion on rules that go by words that come together.

Such a rule cannot tell "doesn't have the agent keep things from the user" from its opposite. What was learnt from thousands of
passages (`likeness.py`) mostly can: where nothing around the place weighs anything like an attack, and no other rule of the sort
found something on the same line, the rule counts as its `when_ordinary` says. Only English in plain sight that names no
address is asked about, since of nothing else has anything been learnt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from math import inf

from vskill_platform.scanning.tier1.meaning.likeness import likely_passages
from vskill_platform.scanning.tier1.meaning.statements import Text
from vskill_platform.scanning.tier1.meaning.tells import AGAINST_THE_USER
from vskill_platform.scanning.tier1.rules import Rule
from vskill_platform.scanning.tier1.skill import FileUnderScan, Hit

SUSPECT = -1.7
"""What the gravest passage of an attack weighs at least, as good as always."""
SUSPECT_BY_SIGNS = -0.4
"""The same where nothing but signs was added up, which honest orders have too; of attacks hardly one weighs less."""
REACH = 350
"""Letters to each side of a place that are looked at at least; its paragraph is looked at in any case."""
MOST_LINES, FARTHEST = 40, 2_000
"""Lines and letters to each side beyond which nothing is looked at, however long the paragraph."""
ENGLISH = 0.2
"""The share of the commonest words in what is taken for English."""
IN_PLAIN_SIGHT = frozenset(["raw", "prose", "plain", "frontmatter"])
_WORD = re.compile(r"[a-z']+")
_ADDRESS = re.compile(r"://|@")
_WORDS = (
    "a an and any are as at be before by do does don't each for from has have if in is it its never not of on only or so that "
    "the their them then there they this to was when which who will with without you your"
)
_COMMONEST = frozenset(_WORDS.split())


class SecondOpinion:
    """What is thought of the places where rules hit that go by words alone."""

    def __init__(self, hits: Iterable[Hit], rules: Mapping[str, Rule]) -> None:
        self._rules_at: dict[tuple[str, int], set[str]] = {}
        for hit in hits:
            if rules[hit.rule_id].when_ordinary is not None:
                self._rules_at.setdefault((hit.file, hit.line), set()).add(hit.rule_id)

    def is_ordinary(self, rule: Rule, file: FileUnderScan, places: Sequence[Hit]) -> bool:
        """Whether the rule counts less, because all of these places read like ordinary advice."""
        if rule.when_ordinary is None or any(len(self._rules_at[hit.file, hit.line]) > 1 for hit in places):
            return False
        suspect = SUSPECT_BY_SIGNS if rule.check == AGAINST_THE_USER else SUSPECT
        return all(reads_ordinary(file, hit, suspect) for hit in places)


def reads_ordinary(file: FileUnderScan, hit: Hit, suspect: float = SUSPECT) -> bool:
    """Whether the words around a hit weigh nothing like those of an attack."""
    if not file.is_markdown or hit.layer not in IN_PLAIN_SIGHT or not 0 < hit.line <= len(file.lines):
        return False
    around = _around(file.lines, hit)
    if not _is_english(around) or _ADDRESS.search(file.lines[hit.line - 1]):
        return False
    text = Text(around.encode(), in_english=frozenset())
    return all(score < suspect for score, _ in likely_passages(text, least=-inf, worth=-inf))


def _around(lines: list[str], hit: Hit) -> str:
    """The words before and after a hit: the paragraph that it stands in, and what is within reach."""
    line, at = lines[hit.line - 1], max(0, hit.column - 1)
    before = "\n".join([*_reached(lines[max(0, hit.line - 1 - MOST_LINES) : hit.line - 1][::-1])[::-1], line[:at]])
    after = "\n".join([line[at:], *_reached(lines[hit.line : hit.line + MOST_LINES])])
    return before[-FARTHEST:] + after[:FARTHEST]


def _reached(lines: list[str]) -> list[str]:
    """The lines up to the end of the paragraph, and on for as long as they are within reach."""
    letters = 0
    for count, line in enumerate(lines):
        letters += len(line)
        if not line.strip() and letters >= REACH:
            return lines[:count]
    return lines


def _is_english(around: str) -> bool:
    words = _WORD.findall(around.lower())
    is_foreign = any(char.isalpha() for char in around if not char.isascii())
    return not is_foreign and sum(word in _COMMONEST for word in words) >= ENGLISH * len(words) > 0
