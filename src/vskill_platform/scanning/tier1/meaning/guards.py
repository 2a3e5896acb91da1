"""Programs that stand between an agent and its tools: they are handed each command and turn down what they know to be bad.

Such a guard holds the commands that it turns down, as texts to compare with. Nothing of them is carried out by a program that
starts nothing and writes nothing; one that does either is no guard here.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice

from vskill_platform.scanning.tier1.meaning.literals import (
    JAVASCRIPT_SUFFIXES,
    PYTHON_SUFFIXES,
    SHELL_SUFFIXES,
    is_in_literal,
    without_literals,
)
from vskill_platform.scanning.tier1.skill import FileUnderScan, SkillUnderScan
from vskill_platform.scanning.tier1.views.view import once_a_skill

MOST_GUARDS = 50
LONGEST_GUARD = 40_000
_IS_TEST = re.compile(r"(?i)(?:^|/)(?:tests?|__tests__|spec)/|(?:^|/)test_[^/]+$|[._]test\.[a-z]+$")
_IS_HANDED = re.compile(r"tool_input|tool_name|hook_event_name")
"""What an agent calls what it hands to a program before it uses a tool."""
_TURNS_DOWN = re.compile(r"(?i)\bexit\s?\(?\s?2\b|process\.exitCode\s?=\s?2|[\"'](?:block|deny)[\"']")
_DOES_MORE = {
    PYTHON_SUFFIXES: re.compile(
        r"\b(?:subprocess|system|popen\w*|spawn\w*|exec\w*|eval|(?<!re\.)compile|__import__|import_module|getattr|runpy|pty|ctypes|"
        r"write\w*|open|dump|socket|urllib|requests|httpx|importlib)\b"
    ),
    JAVASCRIPT_SUFFIXES: re.compile(
        r"child_process|execa|shelljs|\bzx\b|node-pty|axios|\b(?:node:)?(?:https?|net|vm)[\"']"
        r"|\b(?:exec\w*|spawn\w*|eval|Function|import|fetch|write\w*|append\w*)\s?\(|\b(?:Bun|Deno)\."
    ),
    SHELL_SUFFIXES: re.compile(
        r"(?m)(?:^|[;&|({]|\b(?:then|do|else)\b)\s*(?!#)(?:eval|source|\.|xargs|tee|curl|wget|nc|ssh|crontab|python[\d.]*|node|perl|"
        r"ruby|env|exec|nohup|(?:ba|z|da)?sh)(?:\s|$)|(?<![\w>&0-9])>>?\s?(?!&|/dev/null|/dev/stderr)[\w$\"'./~]"
        r"|\$\(\s*(?!(?:jq|cat|echo|printf)\b)|(?:^|[;&|])\s*[\"']?\$\w"
    ),
}
"""What starts something, fetches, sends or writes."""
_COMPARES = re.compile(
    r"^\s*(?:(?:declare|local|readonly)\s(?:-\w+\s)?)?\w+=\(?\s*[\"'(]|^\s*[\"']|\bgrep\b|\[\[|^\s*\(?\*|\bcase\b"
)
"""A line of a shell that gives a text a name, or compares with one."""


def is_turned_down(file: FileUnderScan, number: int, at: int) -> bool:
    """Whether a place is in a text that a guard compares commands with."""
    suffixes = next((each for each in _DOES_MORE if file.path.endswith(each)), None)
    if suffixes is None or not _is_guard(file.text, suffixes):
        return False
    line = file.lines[number - 1]
    if suffixes is SHELL_SUFFIXES and _COMPARES.search(line[:at]) is None:
        return False
    return is_in_literal(file.path, line, at)


def is_guard(file: FileUnderScan) -> bool:
    """Whether a program does nothing but turn down what an agent wants to do."""
    suffixes = next((each for each in _DOES_MORE if file.path.endswith(each)), None)
    return suffixes is not None and _is_guard(file.text, suffixes)


def is_in_test_of_guard(skill: SkillUnderScan, file: FileUnderScan, number: int, at: int) -> bool:
    """Whether a place is in a text that a test hands to a guard of the same skill, which it names."""
    suffixes = next((each for each in _DOES_MORE if file.path.endswith(each)), None)
    if suffixes is None or not _IS_TEST.search(file.path) or not _IS_HANDED.search(file.text):
        return False
    return is_in_literal(file.path, file.lines[number - 1], at) and any(name in file.text for name in _guards_of(skill))


@once_a_skill
def _guards_of(skill: SkillUnderScan) -> tuple[str, ...]:
    """The names of the files that are guards."""
    return tuple(file.path.rpartition("/")[2] for file in islice(filter(is_guard, skill.files), MOST_GUARDS))


@lru_cache(maxsize=16)
def _is_guard(text: str, suffixes: tuple[str, ...]) -> bool:
    if len(text) > LONGEST_GUARD or not _IS_HANDED.search(text) or not _TURNS_DOWN.search(text):
        return False
    comment = "//" if suffixes is JAVASCRIPT_SUFFIXES else "#"
    code = "\n".join(line for line in text.split("\n") if not line.lstrip().startswith(comment))
    imports = "\n".join(line for line in code.split("\n") if "import" in line or "require" in line)
    return _DOES_MORE[suffixes].search(f"{without_literals(suffixes[0], code)}\n{imports}") is None
