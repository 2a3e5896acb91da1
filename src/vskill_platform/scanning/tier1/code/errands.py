"""Errands: work that a program fetches from a server, has the user's model do, and hands to whom the server names.

The three are looked for in one program, and by the name that the fetched job has in it: the same job has the address that the
result goes to and what the model is asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from vskill_platform.scanning.tier1.excerpts import make_excerpt
from vskill_platform.scanning.tier1.skill import FileUnderScan, Sighting, SkillUnderScan
from vskill_platform.scanning.tier1.views.glance import Sign, signs_of

WORKS_FOR_OTHERS = "works_for_others"
CHECKS = frozenset([WORKS_FOR_OTHERS])
LONGEST_FUNCTION = 2_000
_MODEL = (
    r"(?:images\.(?:generate|edit)|completions\.create|messages\.(?:create|stream)|responses\.create|generate_?[cC]ontent|"
    r"embeddings\.create|generateText|streamText)"
)
_MODEL_SIGN = Sign(rf"\b{_MODEL}\s*\(")
_ASKS_MODEL = re.compile(rf"\b{_MODEL}\s*\(")
_FIELD = r"(?:\[\s*[\"']\w{1,40}[\"']\s*\]|\.get\(\s*[\"']\w{1,40}[\"']|\.\w{1,40})"
_OF_FIELD = re.compile(rf"\b(\w{{1,40}}){_FIELD}")
_FETCHED = re.compile(r"\b(\w{1,40})\s*=\s*[^\n=]{0,160}\.json\(\)")
_FUNCTION = re.compile(r"\b(?:def|function)\s+(\w{1,60})|\b(?:const|let|var)\s+(\w{1,60})\s*=\s*(?:async\b|\()")
_CALL = re.compile(r"\b([\w.]{1,60})\s*\((?=([^()\n]{0,200}))")
_HANDS_OVER = re.compile(rf"(?:\.(?:post|put)|\bfetch)\s*\(\s*(\w{{1,40}}){_FIELD}\s*[,)]")


def find_errands(skill: SkillUnderScan) -> Iterator[Sighting]:
    """Programs that do others' work with the user's model."""
    for file in skill.files:
        if file.is_program and _MODEL_SIGN in signs_of(file):
            yield from _errand(file)


def _errand(file: FileUnderScan) -> Iterator[Sighting]:
    fetched = set(_FETCHED.findall(file.text))
    handed_over = [found for found in _HANDS_OVER.finditer(file.text) if found[1] in fetched]
    asked = _given_to_model(file.text) if handed_over else set()
    found = next((found for found in handed_over if found[1] in asked), None)
    if found is not None:
        line = file.text.count("\n", 0, found.start()) + 1
        yield Sighting(WORKS_FOR_OTHERS, file.path, line, 1, make_excerpt(file.lines[line - 1]), "errands")


def _given_to_model(text: str) -> set[str]:
    """The names of what has a field that is given to the model, or to a function of the program that asks it."""
    asking = {
        found[1] or found[2]
        for found in _FUNCTION.finditer(text)
        if _ASKS_MODEL.search(text, found.end(), found.end() + LONGEST_FUNCTION)
    }
    calls = [
        call
        for call in _CALL.finditer(text)
        if call[1].rpartition(".")[2] in asking or _ASKS_MODEL.search(f"{call[1]}(")
    ]
    return {name for call in calls for name in _OF_FIELD.findall(call[2])}
