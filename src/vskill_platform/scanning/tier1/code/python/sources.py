"""Where Python stands in a skill: scripts, fenced blocks, cells of notebooks, and lines of `.pth` files that are run."""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from vskill_platform.scanning.tier1.code.python.notebooks import code_of_notebook
from vskill_platform.scanning.tier1.code.python.vocabulary import words
from vskill_platform.scanning.tier1.file_kinds import Shape, suffix_of
from vskill_platform.scanning.tier1.languages import Language
from vskill_platform.scanning.tier1.skill import FileUnderScan, SkillUnderScan

LARGEST_NOTEBOOK = 8_000_000
LONGEST_FOLDED = 1_000_000
_ENCODING = re.compile(rb"[ \t\f]*#.{0,200}?coding[:=][ \t]*([-\w.]{1,40})")
_STRANGE = words("utf_7 unicode_escape raw_unicode_escape punycode idna utf_16 utf_32 utf_16_le utf_16_be")
"""Encodings in which harmless letters stand for others; no editor writes Python in them."""


@dataclass(frozen=True, eq=False)
class PythonSource:
    """A piece of Python. `lines` tells for each of its lines the line of the file; without it they follow `first_line`.

    `encoding` is named only where it is one that hides what stands there.
    """

    file: str
    text: str
    first_line: int = 1
    is_fenced: bool = False
    lines: tuple[int, ...] = ()
    encoding: str = ""

    @cached_property
    def folded(self) -> bytes:
        """The text as Python takes it, for patterns to look at."""
        return folded(self.text)

    def line_in_file(self, line: int) -> int:
        """The line of the file that a line of the piece stands in."""
        if self.lines:
            return self.lines[line - 1] if 0 < line <= len(self.lines) else 0
        return self.first_line + line - 1


def folded(text: str) -> bytes:
    """A text as UTF-8, with letters that Python takes for others read as it does."""
    if not text.isascii() and len(text) <= LONGEST_FOLDED and not unicodedata.is_normalized("NFKC", text):
        text = unicodedata.normalize("NFKC", text)
    return text.encode("utf-8", "replace")


def python_sources(skill: SkillUnderScan) -> Iterator[PythonSource]:
    """All Python of the skill, as it stands."""
    by_path = {file.path: file for file in skill.files}
    for snippet in skill.snippets:
        if snippet.language is Language.PYTHON and snippet.is_fenced:
            yield PythonSource(snippet.file, snippet.text, snippet.first_line, is_fenced=True)
        elif snippet.language is Language.PYTHON:
            yield _script(by_path[snippet.file])
    for file in skill.files:
        if is_notebook(file) and len(file.content) <= LARGEST_NOTEBOOK:
            yield from _notebook(file)
        elif suffix_of(file.path) == "pth" and file.shape is Shape.TEXT:
            yield from _path_file(file)


def is_notebook(file: FileUnderScan) -> bool:
    """Whether the file is a notebook by its name."""
    return file.path.endswith(".ipynb") and file.shape is Shape.TEXT


def _script(file: FileUnderScan) -> PythonSource:
    """A script, read in the encoding that it names where that is one that hides what stands there."""
    encoding = _declared_encoding(file.content)
    if encoding not in _STRANGE:
        return PythonSource(file.path, file.text)
    try:
        text = codecs.decode(file.content, encoding)
    except (UnicodeError, ValueError):
        text = file.text
    return PythonSource(file.path, text.replace("\r\n", "\n").replace("\r", "\n"), encoding=encoding)


def _declared_encoding(content: bytes) -> str:
    for line in content[:600].split(b"\n")[:2]:
        if b"coding" in line and (found := _ENCODING.match(line)):
            return found[1].decode("ascii", "replace").lower().replace("-", "_")
    return ""


def _notebook(file: FileUnderScan) -> Iterator[PythonSource]:
    code = code_of_notebook(file.text)
    if code is not None:
        yield PythonSource(file.path, code.text, lines=code.lines)


def _path_file(file: FileUnderScan) -> Iterator[PythonSource]:
    """The lines of a `.pth` file that the interpreter runs each time it starts."""
    for number, line in enumerate(file.lines, start=1):
        if line.startswith(("import ", "import\t")):
            yield PythonSource(file.path, line, number)
