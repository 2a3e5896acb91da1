"""Cases of an evaluation: files that hold what is given to another agent, and beside it what that agent must do or not do.

A case that tries whether an agent falls for an attack holds the attack. Nothing excuses a file that the skill has its own
agent read and follow, and no key whose value a program runs; what excuses a text is in the same case, not in the same file.
"""

from __future__ import annotations

import re
from functools import lru_cache

from vskill_platform.scanning.tier1.meaning.mentions import is_named_beside
from vskill_platform.scanning.tier1.skill import FileUnderScan, SkillUnderScan

MOST_LINES = 120
"""Lines to each side of a place in which the keys of its case are looked for."""
LONGEST_LINE = 400
MOST_TEXT = 400_000
SHORTEST_NAME = 4
MOST_BEFORE = 2_000
_PATH = re.compile(r"(?i)(?:^|/)(?:evals?|evaluations?|cases|suites?|benchmarks?)/(?:[^/]+/)*[^/]+\.ya?ml$")
_ABOUT_EVALUATION = re.compile(
    r"(?i)\b(?:evals?|evaluat\w+|benchmark\w*|graders?|robustness|red.?team\w*|regression (?:tests?|suites?))\b"
)
_CASE_BEGINS = re.compile(r"---\s*(?:#.*)?$|- ")
_ITEM = re.compile(r"( {0,4})- ")
_GIVEN = re.compile(r"\s{0,2}(?:- )?(?:prompt|input|messages|user|query|question|task)\s*:")
_EXPECTED = re.compile(
    r"\s{0,2}(?:- )?(?:expect\w*|assert\w*|forbidden\w*|must_not\w*|judge|graders?|rubric|criteria|pass_if|fail_if)\s*:"
)
_TABLE_OF_CASES = re.compile(r"(?i)(?:^|/)(?:evals?|evaluations?)/(?:[^/]+/)*[^/]+\.json$")
_GIVEN_AS_VALUE = re.compile(r"\"(?:prompt|input|query|question|user_message|message)\"\s*:\s*\"(?:[^\"\\]|\\.)*$")
_EXPECTED_AS_KEY = re.compile(r"\"(?:expect\w*|assert\w*|rubric|criteria|should_trigger)\"\s*:")
_TESTS = re.compile(r"(?m)^[ \t]*(?:- )?tests\s*:\s*$")
_ASSERTS = re.compile(r"(?m)^[ \t]*(?:- )?assert\s*:")
_VARIABLE = re.compile(r"^\s*(?:- )?(?:vars\s*:\s*\{\s*)?[\w-]+\s*:\s*[\"'][^\"']*$")
_RUN = re.compile(
    r"(?m)^[ \t]*(?:- )?[\"']?(?:run|cmd|command|scripts?|exec\w*|shell|setup|before\w*|after\w*|entrypoint|hooks?|steps|jobs|"
    r"instructions?|system)[\"']?\s*:"
)
"""Keys whose values a program runs, or an agent takes as its own orders."""
_FOLLOWED = re.compile(
    r"(?i)\b(?:follow|obey|apply|adopt|read|load|open|do what|as your|use|see|work through|go through|act on|carry out|"
    r"start with)\b[^.\n]{0,50}$"
)
_FOLLOWED_BEHIND = re.compile(
    r"(?i)[^.\n]{0,50}\b(?:(?:and|then|to) (?:follow|obey|apply|adopt|do|act|carry)|instructions?|orders?|rules)\b"
)


def is_in_shown_case(text: str, line: str, at: int) -> bool:
    """Whether a place of a line is what a table of test cases, shown in a text, gives to the prompt that they try."""
    is_table = _TESTS.search(text) is not None and _ASSERTS.search(text) is not None and not _has_orders(text)
    return is_table and _VARIABLE.search(line[:at]) is not None


def is_in_case(skill: SkillUnderScan, file: FileUnderScan, number: int, at: int) -> bool:
    """Whether a place in a file is part of a case that is given to the agent under test."""
    if _TABLE_OF_CASES.search(file.path):
        return _is_given_to_another(file, number, at) and not _is_given_to_reader(skill, file)
    if not _PATH.search(file.path) or skill.frontmatter is None or len(file.text) > MOST_TEXT:
        return False
    if not _ABOUT_EVALUATION.search(skill.frontmatter.text[:2_000]) or _has_orders(file.text):
        return False
    case = _case_around(file, number)
    return any(map(_GIVEN.match, case)) and any(map(_EXPECTED.match, case)) and not _is_given_to_reader(skill, file)


def _is_given_to_another(file: FileUnderScan, number: int, at: int) -> bool:
    """Whether a place is in what a table of cases in JSON gives to an agent, of which it says what is expected."""
    if len(file.text) > MOST_TEXT or _EXPECTED_AS_KEY.search(file.text) is None or _has_orders(file.text):
        return False
    return _GIVEN_AS_VALUE.search(file.lines[number - 1][max(0, at - MOST_BEFORE) : at]) is not None


def _case_around(file: FileUnderScan, number: int) -> list[str]:
    """The lines of the document or of the item of a list that a line is in, without comments."""
    lines = [line[:LONGEST_LINE] for line in file.lines[max(0, number - MOST_LINES) : number + MOST_LINES]]
    at = min(number, MOST_LINES) - 1
    indents = [len(found[1]) for line in lines[: at + 1] if (found := _ITEM.match(line))]
    lines = [line[min(indents) :] if indents else line for line in lines]
    first = next((row for row in range(at, -1, -1) if _CASE_BEGINS.match(lines[row])), 0)
    last = next((row for row in range(at + 1, len(lines)) if _CASE_BEGINS.match(lines[row])), len(lines))
    return [] if lines[at].lstrip().startswith("#") else lines[first:last]


def _is_given_to_reader(skill: SkillUnderScan, file: FileUnderScan) -> bool:
    """Whether a text of the skill has its reader look into the file, by its name or by its folder's."""
    folder, _, base = file.path.rpartition("/")
    names = {file.path, base, base.rpartition(".")[0], f"{folder}/", f"{folder.rpartition('/')[2]}/"}
    texts = tuple(other.text for other in skill.files if other.is_markdown)
    return any(_is_followed_in(texts, name) for name in sorted(names) if len(name) >= SHORTEST_NAME)


@lru_cache(maxsize=16)
def _is_followed_in(texts: tuple[str, ...], name: str) -> bool:
    """Whether one of the texts has its reader look there; so it is taken where there is too much to look through."""
    return sum(map(len, texts)) > MOST_TEXT or any(
        is_named_beside(text, name, before=_FOLLOWED, behind=_FOLLOWED_BEHIND) for text in texts
    )


@lru_cache(maxsize=16)
def _has_orders(text: str) -> bool:
    return _RUN.search(text) is not None
