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
LARGEST_PROGRAM = 200_000
MOST_JOBS = 20
MOST_CALLS = 200
LONGEST_FUNCTION = 2_000
_MODEL = (
    r"(?:images\.(?:generate|edit)|completions\.create|messages\.(?:create|stream)|responses\.create|generate_?[cC]ontent|"
    r"embeddings\.create|generateText|streamText)"
)
_MODEL_SIGN = Sign(rf"\b{_MODEL}\s*\(")
_ASKS_MODEL = re.compile(rf"\b{_MODEL}\s*\(")
_FIELD = r"(?:\[\s*[\"']\w{1,40}[\"']\s*\]|\.get\(\s*[\"']\w{1,40}[\"']|\.\w{1,40})"
_HANDS_OVER = re.compile(rf"(?:\.(?:post|put)|\bfetch)\s*\(\s*(\w{{1,40}}){_FIELD}\s*[,)]")


def find_errands(skill: SkillUnderScan) -> Iterator[Sighting]:
    """Programs that do others' work with the user's model."""
    for file in skill.files:
        if file.is_program and _MODEL_SIGN in signs_of(file):
            yield from _errand(file)


def _errand(file: FileUnderScan) -> Iterator[Sighting]:
    text = file.text[:LARGEST_PROGRAM]
    jobs: dict[str, int] = {}
    for found in _HANDS_OVER.finditer(text):
        if len(jobs) < MOST_JOBS:
            jobs.setdefault(found[1], found.start())
    for job, at in jobs.items():
        if _is_fetched(job, text) and _is_done_by_model(job, text):
            line = text.count("\n", 0, at) + 1
            yield Sighting(WORKS_FOR_OTHERS, file.path, line, 1, make_excerpt(file.lines[line - 1]), "errands")
            return


def _is_fetched(job: str, text: str) -> bool:
    return re.search(rf"\b{job}\s*=\s*[^\n=]{{0,160}}\.json\(\)", text) is not None


def _is_done_by_model(job: str, text: str) -> bool:
    """Whether a field of the job is given to the model, or to a function of the program that asks it."""
    calls = re.compile(rf"\b([\w.]{{1,60}})\s*\([^()\n]{{0,120}}?\b{job}{_FIELD}")
    for number, found in enumerate(calls.finditer(text)):
        if number >= MOST_CALLS:
            break
        if _ASKS_MODEL.search(f"{found[1]}(") or _asks_model(found[1].rpartition(".")[2], text):
            return True
    return False


def _asks_model(function: str, text: str) -> bool:
    """Whether a function of the program asks the model in its first lines."""
    defined = re.search(
        rf"\b(?:def|function)\s+{function}\b|\b(?:const|let|var)\s+{function}\s*=\s*(?:async\b|\()", text
    )
    return defined is not None and _ASKS_MODEL.search(text, defined.end(), defined.end() + LONGEST_FUNCTION) is not None
