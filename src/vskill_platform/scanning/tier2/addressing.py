"""Text in a skill that speaks to whoever judges it.

A model that was swayed does not say so. So what it must not be swayed by is looked for without it: words for a verdict, beside
words for whoever gives one and for what it is about; or an answer to our question, ready to be copied. The judge's PASS does
not count for such a skill, and a person looks. Tier 1 finds most of this and more; here is what it lets pass because it could
as well be about something else.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from vskill_platform.domain.content import SkillContent, SkillFile
from vskill_platform.scanning.tier1.excerpts import INVISIBLE
from vskill_platform.scanning.tier2.showing import is_text, quoted, text_of

MOST_PLACES = 5
_AROUND = 160
_INVISIBLE_INSIDE = re.compile(f"[{INVISIBLE}]+")
_SPACED_LETTERS = re.compile(r"\b(?:\w ){2,}\w\b")
_WANTED = re.compile(
    r"\bPASS\b(?!\w|\s*(?:[/|,]|or\b|and\b)\s*[\"'`*]*(?:FAIL|CONCERN|WARN|BLOCK|REJECT|NEEDS|PARTIAL|N/A))"
    r"|\bverdict\W{0,6}(?:is|to|of|be)?\W{0,4}(?:pass|safe|benign|approved?|clean|ok)\b"
    r"|\bscore\W{0,6}(?:is|of|to|be)?\W{0,4}100\b"
    r"|\bas (?:\w+ )?(?:safe|benign|trusted|approved|harmless|clean|verified)\b"
    r"|\bfalse[- ]positives?\b"
)
_JUDGING = re.compile(
    r"\b(?:verdicts?|judg(?:e|es|ing|e?ment)|reviewers?|review policy|evaluat(?:e|es|or|ors|ing|ion)|classifiers?|graders?|"
    r"moderators?|scanners?|canary|static scan|security review)\b",
    re.IGNORECASE,
)
_ABOUT_IT = re.compile(
    r"\b(?:this|every|each|the|another|all) skills?\b|\bskill (?:data|to be)\b|\bmark it\b"
    r"|\b(?:all|every|these|the|its) findings?\b",
    re.IGNORECASE,
)
_ORDERED = re.compile(r"\bverdict\W{0,6}(?:is|to|of|be)?\W{0,4}pass\b", re.IGNORECASE)
_TO_A_JUDGE = re.compile(
    r"\b(?:judges?|reviewers?|evaluators?|classifiers?|graders?|moderators?|scanners?|canary)\b|\bscore\W{0,6}(?:of )?100\b",
    re.IGNORECASE,
)
_OUR_FIELDS = re.compile(r"[\"'](requestId|verdict|score|findings|concerns|judgement)[\"']\s*:")
_FEWEST_FIELDS = 3
_ANSWER_CHARACTERS = 600


def places_addressed(content: SkillContent, *, limit_bytes: int) -> tuple[str, ...]:
    """Where the skill speaks to its judge, as `file:line`, at most a few.

    So many bytes are looked at as a judge is shown at most: of a skill that has more, its PASS does not count anyway.
    """
    places: list[str] = []
    for file in content.files:
        if limit_bytes <= 0 or len(places) >= MOST_PLACES:
            break
        if is_text(file):
            places += _places_in(file, limit_bytes)
            limit_bytes -= len(file.content)
    return tuple(places)


def _places_in(file: SkillFile, limit_bytes: int) -> Iterator[str]:
    text = _plain(text_of(file, limit_bytes=limit_bytes))
    for at in _addressed_at(text):
        yield f"{quoted(file.path)}:{text.count(chr(10), 0, at) + 1}"
        return


def _addressed_at(text: str) -> Iterator[int]:
    for wanted in _WANTED.finditer(text):
        around = _around(text, wanted)
        if _JUDGING.search(around) and _ABOUT_IT.search(around):
            yield wanted.start()
    for ordered in _ORDERED.finditer(text):
        if _TO_A_JUDGE.search(_around(text, ordered)):
            yield ordered.start()
    for field in _OUR_FIELDS.finditer(text):
        ahead = text[field.start() : field.start() + _ANSWER_CHARACTERS]
        if len({found[1] for found in _OUR_FIELDS.finditer(ahead)}) >= _FEWEST_FIELDS:
            yield field.start()


def _around(text: str, found: re.Match[str]) -> str:
    return text[max(0, found.start() - _AROUND) : found.end() + _AROUND]


def _plain(text: str) -> str:
    """The text as a model reads it: one form for each letter, nothing invisible, no letters drawn apart. Lines stay lines."""
    lines = unicodedata.normalize("NFKC", text).split("\n")
    bare = (_INVISIBLE_INSIDE.sub(lambda found: " " if found[0].isspace() else "", line) for line in lines)
    return "\n".join(_SPACED_LETTERS.sub(lambda found: found[0].replace(" ", ""), line) for line in bare)
