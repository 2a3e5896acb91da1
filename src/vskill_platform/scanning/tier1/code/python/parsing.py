"""From text to a tree, without ever trusting the text: bounded before the parser sees it, and tolerant after it refused.

A file that this Python cannot parse may still run on another one. So what is left of it is read statement by statement, and
the lines that had to be given up are told, to be judged by their words.
"""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from typing import NamedTuple

from vskill_platform.scanning.tier1.code.python.bounds import Refused, ensure_bounded
from vskill_platform.scanning.tier1.code.python.sources import PythonSource

MOST_REPAIRS = 40
MOST_REPAIRED = 400_000
"""Characters that may be parsed again and again while lines are given up."""
_OLD_STATEMENT = re.compile(
    r"([ \t]*)(print|exec)[ \t]+(?:>>[ \t]*[\w.]+[ \t]*,[ \t]*)?([^=\s(].*|\(.*\)[ \t]*[%,].*)$"
)
_OLD_HANDLER = re.compile(r"([ \t]*except[ \t]+[\w.()\t ,]+?),[ \t]*(\w+)[ \t]*:(.*)$")
_PROMPT = re.compile(r"^[ \t]*(?:>>>|\.\.\.)[ \t]?", re.MULTILINE)
_FORMATTED = re.compile(r"(?i)(?<!\w)(?:rf|fr|f)(?=[\"'])")
_TRIPLE = re.compile(r"\"\"\"|\'\'\'")
_CONTINUES = ("else", "elif", "except", "finally", ")", "]", "}", "#")


class Reading(NamedTuple):
    """What could be read: trees in the order of the text, and the numbers of the lines that were given up."""

    tree: ast.Module
    lost: tuple[int, ...] = ()


class _Problem(NamedTuple):
    """The line that the parser stumbles over, and whether it is a formatted string that it cannot read."""

    line: int
    is_formatted: bool


def read_python(source: PythonSource) -> Reading | None:
    """The tree of a piece of Python; None where nothing of it could be read. Raises Refused, which is no verdict on it."""
    ensure_bounded(source.text)
    if source.is_fenced:
        return _read_fence(source.text)
    tree = _parse(source.text)
    if tree is not None:
        return Reading(tree)
    return _with_plain_strings(source.text) or read_what_is_readable(source.text)


def parse_text(text: str) -> ast.Module | None:
    """The tree of a text that code makes; None for what is no Python or too much of it."""
    try:
        ensure_bounded(text)
        return _parse(text)
    except Refused:
        return None


def _parse(text: str) -> ast.Module | None:
    """The tree, or None for what is no Python. The parser's own limits on depth are limits of ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except SyntaxError as exc:
            if exc.msg and exc.msg.startswith("too many"):
                raise Refused from exc
            return None
        except ValueError:
            return None
        except (RecursionError, MemoryError) as exc:
            raise Refused from exc


def _with_plain_strings(text: str) -> Reading | None:
    """The tree of a text whose formatted strings only a newer Python can read: these are read as plain ones, and told as lost."""
    lines, lost, left = text.split("\n"), list[int](), MOST_REPAIRED + 4 * len(text)
    for _ in range(MOST_REPAIRS):
        left -= len(text)
        problem = _problem_in("\n".join(lines))
        if problem is None:
            return Reading(ast.parse("\n".join(lines)), tuple(lost))
        at = min(problem.line, len(lines)) - 1
        plain = _FORMATTED.sub("", lines[at])
        if not problem.is_formatted or plain == lines[at] or left < 0:
            return None
        lines[at] = plain
        lost.append(at + 1)
    return None


def _read_fence(text: str) -> Reading | None:
    """A fenced block: as it stands, moved to the left and without prompts, or what is left of it.

    Statements that only a function may have need no function around them here: the parser does not look for one.
    """
    try:
        tree = _parse(text)
        if tree is not None:
            return Reading(tree)
        plain = textwrap.dedent(text)
        plain = _without_prompts(plain) if ">>>" in plain else plain
        tree = _parse(plain)
        return Reading(tree) if tree is not None else read_what_is_readable(plain)
    except Refused:
        return None


def _without_prompts(text: str) -> str:
    """The statements of a session, with what it printed left out."""
    return "\n".join(_PROMPT.sub("", line) if _PROMPT.match(line) else "" for line in text.split("\n"))


def read_what_is_readable(text: str) -> Reading | None:
    """Whatever of the text is Python, block by block, with single lines given up where they stand in the way."""
    lines = text.split("\n")
    body, lost, left = list[ast.stmt](), list[int](), MOST_REPAIRED + 4 * len(text)
    for first, last in _blocks(lines):
        block = _Block(lines[first:last], budget=left)
        tree = block.read()
        left = block.left
        lost += [first + number for number in block.lost]
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.stmt | ast.expr | ast.excepthandler):
                node.lineno += first
                node.end_lineno = (node.end_lineno or 0) + first
        body += tree.body if tree is not None else []
    return Reading(ast.Module(body=body, type_ignores=[]), tuple(number + 1 for number in lost))


def _blocks(lines: list[str]) -> list[tuple[int, int]]:
    """The runs of lines from one statement at the left edge to the next; what stands between triple quotes belongs to its own."""
    starts, within = [0], ""
    for number, line in enumerate(lines):
        is_edge = bool(line) and not line[0].isspace() and not line.startswith(_CONTINUES)
        is_decorated = number > 0 and lines[number - 1].startswith("@")
        if is_edge and number and not is_decorated and not within:
            starts.append(number)
        for quotes in _TRIPLE.findall(line):
            within = "" if within == quotes else within or quotes
    return list(zip(starts, [*starts[1:], len(lines)], strict=True))


class _Block:
    """A few lines from which those go that the parser stumbles over."""

    def __init__(self, lines: list[str], *, budget: int) -> None:
        self._lines = list(lines)
        self._is_renewed = False
        self.lost: list[int] = []
        self.left = budget

    def read(self) -> ast.Module | None:
        """The tree of what remains; None where nothing does. Raises Refused once it has cost too much."""
        for _ in range(MOST_REPAIRS):
            text = "\n".join(self._lines)
            self.left -= len(text)
            if self.left < 0:
                raise Refused
            problem = _problem_in(text)
            if problem is None:
                return _parse(text)
            if not self._repair(min(problem.line, len(self._lines)) - 1):
                break
        self.lost = list(range(len(self._lines)))
        return None

    def _repair(self, at: int) -> bool:
        """Write what is old as this Python has it, or give a line up; False where nothing is left to give up."""
        if not self._is_renewed:
            self._is_renewed = True
            renewed = [_renewed(line) for line in self._lines]
            if renewed != self._lines:
                self._lines = renewed
                return True
        if self._lines[at].strip() in {"", "pass", "if 1:"}:
            return self._give_up_before(at)
        self._give_up(at)
        return True

    def _give_up(self, at: int) -> None:
        line = self._lines[at]
        indent = line[: len(line) - len(line.lstrip())]
        self._lines[at] = indent + ("if 1:" if line.rstrip().endswith(":") else "pass")
        self.lost.append(at)

    def _give_up_before(self, at: int) -> bool:
        """The parser may stumble behind the fault: the nearest line above that has something in it goes."""
        for number in range(at - 1, -1, -1):
            if self._lines[number].strip() not in {"", "pass", "if 1:"}:
                self._give_up(number)
                return True
        return False


def _renewed(line: str) -> str:
    """A line of Python 2 as this Python has it."""
    if old := _OLD_STATEMENT.match(line):
        return f"{old[1]}{old[2]}({old[3].rstrip(',; ')})"
    if old := _OLD_HANDLER.match(line):
        return f"{old[1]} as {old[2]}:{old[3]}"
    return line


def _problem_in(text: str) -> _Problem | None:
    """What the parser stumbles over; None where it does not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(text)
        except SyntaxError as exc:
            return _Problem(max(1, exc.lineno or 1), is_formatted="f-string" in (exc.msg or ""))
        except ValueError:
            return _Problem(1, is_formatted=False)
        except (RecursionError, MemoryError) as exc:
            raise Refused from exc
    return None
