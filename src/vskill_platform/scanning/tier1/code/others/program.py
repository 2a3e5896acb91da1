"""A program cut into statements and functions by its brackets and its indentation, without a grammar.

Offsets are those of the text that was given: comments become blanks and nothing else moves.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

from vskill_platform.scanning.tier1.code.others.catalogue import Tongue

MOST_STATEMENTS = 12_000
MOST_TEXTS = 100
"""Texts in quotes of one statement."""
MOST_LINES = 20
"""Lines of one statement."""
LONGEST_STATEMENT = 4_000
_FUNCTION = re.compile(
    r"[ \t]*(?:(?:pub|public|private|protected|internal|static|async|export|local|override|final|suspend|"
    r"unsafe|my|const)\s+)*"
    r"(?:(?:def|sub|function|func|fn|fun|on)\s+(?:\([^)\n]*\)\s*)?(?:self\.|\w+[.:])?|"
    r"(?:[\w<>\[\]?,.]+\s+)(?=[\w]+\s*\([^;\n]*\)\s*(?:throws [\w, ]+)?\{))"
    r"(?P<name>[A-Za-z_][\w-]*[?!]?)\s*(?:<[^>\n]*>)?\s*\(?(?P<given>[^){\n]*)",
    re.IGNORECASE,
)
_NO_NAMES = "if for while switch foreach return else catch using lock elsif unless until with new do"
_NO_FUNCTION = frozenset(_NO_NAMES.split())
_NAME = re.compile(r"[A-Za-z_]\w*")
_WORD = re.compile(r"\S+")
_OPENS_TABLE = re.compile(r"=\s*@?\{\s*$")
"""A table of names and values that goes over several lines."""
_GOES_ON = re.compile(r"(?:[|\\`,+.=(\[]|&&|\|\||\.\.|<<|->)\s*$")
_CONTINUES = re.compile(r"\s*(?:\.[A-Za-z_]|->|\||\+\s|\.\.?\s|\?\.|&&|\|\|)")
_OPENS_BLOCK = re.compile(r"(?:\{|\bdo(?:\s*\|[^|\n]*\|)?|\bthen|=>|\|[\w, ]*\|)\s*$")


class Text(NamedTuple):
    """A text in quotes: where it begins, and what stands in it."""

    start: int
    inner: str


class Function(NamedTuple):
    """A function, with the names of what it is given and the lines it goes over.

    A name may be one of two, with a zero between them: in some languages the type stands before it, in others behind it.
    """

    name: str
    given: tuple[str, ...]
    first: int
    last: int


class Statement(NamedTuple):
    """A piece of a program: its offset, its code without what stands in quotes, its texts, and the function it is in."""

    start: int
    end: int
    bare: str
    texts: tuple[Text, ...]
    scope: int


class Program:
    """A program in a language."""

    def __init__(self, text: str, tongue: Tongue) -> None:
        self.plain, self.bare, self._texts = _without_comments(text, tongue.tokens)
        lines = self.bare.split("\n")
        self.functions = _functions(lines)
        self.statements = self._cut(_pieces(lines), _scopes(self.functions, len(lines)))
        self.is_cut = len(self.statements) >= MOST_STATEMENTS
        self._starts = [statement.start for statement in self.statements]

    def statement_at(self, at: int) -> Statement | None:
        """The statement that an offset is in."""
        number = bisect_right(self._starts, at) - 1
        return self.statements[number] if number >= 0 and at < self.statements[number].end else None

    def _cut(self, pieces: list[tuple[str, int]], scopes: list[int]) -> list[Statement]:
        found: list[Statement] = []
        texts, lines = self._texts, [piece for piece, _ in pieces]
        at = next_text = row = 0
        while row < len(lines) and len(found) < MOST_STATEMENTS:
            count = _lines_of_statement(lines, row)
            bare = "\n".join(lines[row : row + count])
            end = at + len(bare)
            first = next_text
            while next_text < len(texts) and texts[next_text].start < end:
                next_text += 1
            if bare.strip():
                own = tuple(texts[first : min(next_text, first + MOST_TEXTS)])
                found.append(Statement(at, end, bare[:LONGEST_STATEMENT], own, scopes[pieces[row][1]]))
            at, row = end + 1, row + count
        return found


def _pieces(lines: list[str]) -> list[tuple[str, int]]:
    """What stands between the semicolons of lines, each with the number of its line; a table on one line has its own."""
    return [(piece, row) for row, line in enumerate(lines) for piece in ([line] if "@{" in line else line.split(";"))]


def _without_comments(text: str, tokens: re.Pattern[str]) -> tuple[str, str, list[Text]]:
    """The text without comments, the same without what stands in quotes, and that."""
    plain: list[str] = []
    bare: list[str] = []
    texts: list[Text] = []
    done = 0
    for token in tokens.finditer(text):
        between = text[done : token.start()]
        whole = token.group()
        plain.append(between)
        bare.append(between)
        if token.lastgroup == "comment":
            blank = _blank(whole)
            plain.append(blank)
            bare.append(blank)
        elif token.lastgroup == "words":
            plain.append(whole)
            bare.append(_emptied(f'"{whole[1:-1]}"'))
            texts += [Text(token.start() + word.start(), word.group()) for word in _WORD.finditer(whole[:-1], 3)]
        else:
            plain.append(whole)
            bare.append(_emptied(whole))
            texts.append(Text(token.start(), whole[1:-1]))
        done = token.end()
    plain.append(text[done:])
    bare.append(text[done:])
    return "".join(plain), "".join(bare), texts


def _blank(text: str) -> str:
    return "\n".join(" " * len(line) for line in text.split("\n"))


def _emptied(text: str) -> str:
    """The quotes of a text with blanks between them."""
    return text[0] + _blank(text[1:-1]) + text[-1] if len(text) > 1 else text


def _lines_of_statement(lines: list[str], row: int) -> int:
    depth = 0
    is_table = _OPENS_TABLE.search(lines[row]) is not None
    last = min(row + MOST_LINES, len(lines))
    for number in range(row, last):
        line = lines[number]
        depth += line.count("(") + line.count("[") - line.count(")") - line.count("]")
        if is_table:
            depth += line.count("{") - line.count("}")
        elif _OPENS_BLOCK.search(line):
            return number - row + 1
        follows = number + 1 < last and _CONTINUES.match(lines[number + 1]) is not None
        if depth <= 0 and not follows and not _GOES_ON.search(line):
            return number - row + 1
    return max(last - row, 1)


def _functions(lines: list[str]) -> list[Function]:
    found: list[Function] = []
    open_ones: list[tuple[int, int, str, tuple[str, ...]]] = []
    for number, line in enumerate(lines):
        stripped = line.lstrip()
        if not stripped:
            continue
        indent = len(line) - len(stripped)
        while open_ones and open_ones[-1][0] >= indent:
            _, first, name, given = open_ones.pop()
            found.append(Function(name, given, first, number))
        head = _FUNCTION.match(line[:400]) if "(" in line or "def" in line or "sub" in line else None
        if head and head["name"].lower() not in _NO_FUNCTION:
            open_ones.append((indent, number, head["name"], _given(head["given"])))
    found += [Function(name, given, first, len(lines)) for _, first, name, given in open_ones]
    return found


def _given(written: str) -> tuple[str, ...]:
    """The names of what a function is given: the first of each, or the last where a type stands before it."""
    pieces = [_NAME.findall(piece.partition("=")[0]) for piece in written.split(",")[:20]]
    plain = [names for names in pieces if names and names[-1] not in ("self", "this")]
    return tuple("\0".join(dict.fromkeys((names[0], names[-1]))) for names in plain)


def _scopes(functions: list[Function], count: int) -> list[int]:
    """For each line the number of the innermost function that it is in, or -1."""
    scopes = [-1] * count
    for number, function in sorted(enumerate(functions), key=lambda each: each[1].first):
        last = min(function.last, count)
        scopes[function.first : last] = [number] * (last - function.first)
    return scopes
