"""Scripts that put orders into other skills: they go through the skills beside their own and write a sentence into each.

A tidying tool writes back what it read, with less blanks. One that brings sentences of its own, which tell an agent what to do,
speaks through skills that somebody else wrote and that were verified without it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from vskill_platform.scanning.tier1.excerpts import make_excerpt
from vskill_platform.scanning.tier1.file_kinds import Shape
from vskill_platform.scanning.tier1.skill import FileUnderScan, Sighting, SkillUnderScan
from vskill_platform.scanning.tier1.text_patterns import TextPattern

ORDERS_IN_OTHER_SKILLS = "orders_in_other_skills"
CHECKS = frozenset([ORDERS_IN_OTHER_SKILLS])
LONGEST_SCRIPT = 200_000
MOST_LINES = 4_000
LONGEST_LINE = 2_000
_GOES_THROUGH = TextPattern(
    r"\*/SKILL\.md|skills[\"'/\\]*[^\n]{0,60}\*\*?/|\b(?:readdir\w*|listdir|iterdir|scandir|os\.walk|ReadDir|WalkDir|Get-ChildItem)\b"
    r"|\bDir\.(?:glob|each\w*|children)|\bfind\s[^\n]{0,80}SKILL\.md|\b(?:r?glob)\([^\n]{0,60}SKILL\.md"
)
_WRITES = TextPattern(
    r"\.write_text\(|\bwriteFile\w*\(|\bappendFile\w*\(|\bFile\.(?:write|open)|\.write\(|>>|\bsed\s+-i|\btee\s+-a\b|\bAdd-Content\b|"
    r"\bSet-Content\b|\bOut-File\b|\bos\.WriteFile\b|\bfile_put_contents\b|\bfs\.write\b"
)
_LITERAL = re.compile(r"\"((?:[^\"\\\n]|\\.){24,600})\"|'((?:[^'\\\n]|\\.){24,600})'|`((?:[^`\\\n]|\\.){24,600})`")
_ORDER = re.compile(
    r"(?i)(?<!not )(?<!n't )\b(?:load|follow|run|call|ask|invoke|use|consult|obey|execute|pass|read|report|send|answer(?:ed)?|"
    r"skip|ignore|prefer|tell)\b"
)
_TO_AN_AGENT = re.compile(
    r"(?i)\bskills?\b|\bagents?\b|`|\b(?:before|after|when|whenever|always|first|also|each|every)\b[^.]{0,120}\b(?:task|step|answer|"
    r"session|request|file|finish\w*|done)"
)
_SAYS_SO = re.compile(
    r"(?i)\b(?:print\w*|console\.\w+|puts|log\w*\.\w+|warn\w*|throw|raise|help|usage|error|description|die|exit|fail\w*|assert\w*)\b"
    r"\s*[(=:'\"]|^\s*(?:echo|printf|puts|//|#|\*)|\"\"\""
)
"""What is only shown to who runs the script."""


def find_orders_in_other_skills(skill: SkillUnderScan) -> Iterator[Sighting]:
    """Scripts that go through other skills and write an order of their own into each."""
    for file in skill.files:
        if file.shape is Shape.TEXT and not file.is_markdown and b"SKILL.md" in file.content:
            yield from islice(_in_script(file), 1)


def _in_script(file: FileUnderScan) -> Iterator[Sighting]:
    text = file.text[:LONGEST_SCRIPT]
    if "skills" not in text.lower() and "*/SKILL.md" not in text:
        return
    if not _GOES_THROUGH.is_in(text) or not _WRITES.is_in(text):
        return
    for number, whole in enumerate(file.lines[:MOST_LINES], start=1):
        line = whole[:LONGEST_LINE]
        if not _is_order(line) or (">>" not in line and _SAYS_SO.search(line)):
            continue
        if any(_is_order(max(literal, key=len)) for literal in _LITERAL.findall(line)):
            yield Sighting(ORDERS_IN_OTHER_SKILLS, file.path, number, 1, make_excerpt(line), "raw")


def _is_order(words: str) -> bool:
    return words.count(" ") >= 5 and _ORDER.search(words) is not None and _TO_AN_AGENT.search(words) is not None
