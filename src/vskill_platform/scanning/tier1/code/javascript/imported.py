"""A program together with the modules of the same skill that it takes functions from: what one reads, another may send.

The modules go in front of the program and the statements that name them are blanked, so that one reading follows a value from
file to file. A module that declares a name which the program or another module has too is left out but for the functions that
the program takes from it, in which that name is another. The blocks of one page are one program in the same way: who is told
to run the first and then the second runs both.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from posixpath import dirname, join, normpath
from typing import NamedTuple

from vskill_platform.scanning.tier1.skill import Snippet

MOST_MODULES, MOST_FUNCTIONS = 40, 40
LARGEST = 200_000
"""Letters that a program and its modules may have together."""
_SUFFIXES = ("", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", "/index.js", "/index.ts", "/index.mjs")
_IMPORT = re.compile(
    r"(?m)^[ \t]*(?:import\s+(?:\w{1,80}\s*,\s*)?(?:\{(?P<named>[^{}]{1,600})\}|\*\s+as\s+(?P<whole>\w+))\s*from\s*"
    r"|(?:const|let|var)\s+(?:\{(?P<taken>[^{}]{1,600})\}|(?P<object>\w+))\s*=\s*require\s*\(\s*)"
    r"[\"'](?P<path>\.{1,2}/[\w./-]{1,100})[\"']\s*\)?;?"
)
_DECLARED = re.compile(
    r"(?m)^(?:export\s+)?(?:default\s+)?(?:async\s+)?(?:const|let|var|class|function\s*\*?)\s+(\w+)\b(?!\s*=\s*require\b)"
)
"""What a file declares at its top; a name for a module of the runtime is the same thing everywhere."""
_FUNCTION = (
    r"(?m)^(?:export\s+)?(?:(?:async\s+)?function\s*\*?\s*{name}\s*\(|(?:const|let|var)\s+{name}\s*=\s*(?:async\b|function\b|\())"
    r"[\s\S]*?(?:^\}}.*$|\Z)"
)
_RENAMED = re.compile(r"(\w+)\s*(?:\bas\b|:)\s*(\w+)")


class Piece(NamedTuple):
    """Some lines of a module: where they begin in the whole text and in their own file."""

    first_line: int
    file: str
    line: int


class Joined(NamedTuple):
    """A program with what it takes from others in front of it."""

    text: str
    pieces: tuple[Piece, ...]

    def place_of(self, line: int) -> tuple[str, int]:
        """The file that a line of the whole text is from, and its number there."""
        piece = self.pieces[bisect_right(self.pieces, line, key=lambda piece: piece.first_line) - 1]
        return piece.file, line - piece.first_line + piece.line


def with_modules(path: str, text: str, own: Mapping[str, str]) -> Joined | None:
    """The program with the modules of the skill that it names; None where it names none, or where all is too long."""
    if len(text) > LARGEST:
        return None
    found = [(taken, module) for taken in _IMPORT.finditer(text) if (module := _module(path, taken["path"], own))]
    if not found or len(found) > MOST_MODULES:
        return None
    declared = set(_DECLARED.findall(text))
    pieces: list[Piece] = []
    parts: list[str] = []
    line = 1
    for taken, module in found:
        for start, part in _parts(own[module], taken, declared):
            pieces.append(Piece(line, module, own[module].count("\n", 0, start) + 1))
            parts.append(part)
            line += part.count("\n") + 1
        declared.update(_DECLARED.findall(own[module]))
        if names := _names_of(taken, own[module]):
            pieces.append(Piece(line, module, 1))
            parts.append(names)
            line += 1
    if not pieces:
        return None
    joined = "\n".join([*parts, _without([taken for taken, _ in found], text)])
    return Joined(joined, (*pieces, Piece(line, path, 1))) if len(joined) <= LARGEST else None


def with_neighbours(blocks: Sequence[Snippet]) -> Joined | None:
    """The blocks of a page one after another; None where they are too long together."""
    pieces, line = list[Piece](), 1
    for block in blocks:
        pieces.append(Piece(line, block.file, block.first_line))
        line += block.text.count("\n") + 1
    joined = "\n".join(block.text for block in blocks)
    return Joined(joined, tuple(pieces)) if len(joined) <= LARGEST else None


def _module(path: str, named: str, own: Mapping[str, str]) -> str | None:
    """The file of the skill that a program means by a path."""
    plain = normpath(join(dirname(path), named))
    return next((plain + suffix for suffix in _SUFFIXES if plain + suffix in own and plain + suffix != path), None)


def _parts(module: str, taken: re.Match[str], declared: set[str]) -> Iterator[tuple[int, str]]:
    """A module, or only the functions that are taken from it where it has names that others have too."""
    names = set(_DECLARED.findall(module))
    if names.isdisjoint(declared):
        yield 0, module
        return
    wanted = [name for name, _ in _bindings(taken)] or sorted(names)
    for name in wanted[:MOST_FUNCTIONS]:
        found = re.search(_FUNCTION.format(name=re.escape(name)), module) if name not in declared else None
        if found:
            yield found.start(), _renamed(found[0], names & declared)


def _renamed(function: str, names: set[str]) -> str:
    """A function in which names that mean something else in the program go by another name."""
    if not names:
        return function
    either = "|".join(map(re.escape, sorted(names)))
    return re.sub(rf"(?<![.\w$])({either})(?![\w$])", r"\1_of_module", function)


def _names_of(taken: re.Match[str], module: str) -> str:
    """What binds the names that the program uses to those that the module has."""
    if whole := taken["whole"] or taken["object"]:
        return f"const {whole} = {{ {', '.join(sorted(set(_DECLARED.findall(module))))} }};"
    return " ".join(f"const {other} = {name};" for name, other in _bindings(taken) if other != name)


def _bindings(taken: re.Match[str]) -> list[tuple[str, str]]:
    """The names that are taken from a module, each with what the program calls it."""
    listed = taken["named"] or taken["taken"] or ""
    found = [_RENAMED.fullmatch(name.strip()) for name in listed.split(",")]
    return [
        (renamed[1], renamed[2]) if renamed else (name.strip(), name.strip())
        for renamed, name in zip(found, listed.split(","), strict=True)
        if name.strip()
    ]


def _without(statements: list[re.Match[str]], text: str) -> str:
    """The program without the statements that name modules of the skill, each letter where it was."""
    for taken in statements:
        blank = re.sub(r"[^\n]", " ", taken[0])
        text = text[: taken.start()] + blank + text[taken.end() :]
    return text
