"""Scripts that data holds line by line, or as one text: a list of strings in YAML or JSON whose first begins with `#!`.

Some program of the skill, or a tool that it sets up, writes them into a file. There they are what is run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice, takewhile

MOST_SCRIPTS, MOST_LINES = 50, 400
LONGEST_LINE = 2_000
SUFFIXES = frozenset(["json", "jsonc", "yml", "yaml"])
"""How files end that hold such data."""
_SHEBANG = r"#![ \t]*/[\w/.-]{0,60}(?:\b(?:ba|z|da|k)?sh\b|\benv\b)"
_IN_LIST = re.compile(rf"(?m)^[ \t]*(?:- )?[\"']?{_SHEBANG}[^\n\\]{{0,40}}$")
_AS_TEXT = re.compile(rf"\"({_SHEBANG}(?:[^\"\\\n]|\\.)*\\n(?:[^\"\\\n]|\\.)*)\"")
_LINE = re.compile(r"[ \t]*(?:- )?[ \t]*(?:\"((?:[^\"\\]|\\.)*)\"|'((?:[^']|'')*)'|(?=- )- (.*)),?[ \t]*$")


def held_scripts(text: str) -> Iterator[tuple[str, int]]:
    """The scripts in a text, each with the number of its first line."""
    if "#!" not in text:
        return
    for found in islice(_IN_LIST.finditer(text), MOST_SCRIPTS):
        rest = text[found.start() :].split("\n", MOST_LINES)[:MOST_LINES]
        lines = list(takewhile(lambda line: line is not None, map(_line, rest)))
        if len(lines) > 1:
            yield "\n".join(line or "" for line in lines), text.count("\n", 0, found.start()) + 1
    for found in islice(_AS_TEXT.finditer(text), MOST_SCRIPTS):
        yield _unescaped(found[1]), text.count("\n", 0, found.start()) + 1


def _line(written: str) -> str | None:
    """What a line of a list holds, if it is one."""
    found = _LINE.match(written[:LONGEST_LINE])
    if found is None:
        return None
    if found[1] is not None:
        return _unescaped(found[1])
    return found[2].replace("''", "'") if found[2] is not None else found[3]


def _unescaped(written: str) -> str:
    try:
        return str(json.loads(f'"{written}"', strict=False))
    except ValueError:
        return written
