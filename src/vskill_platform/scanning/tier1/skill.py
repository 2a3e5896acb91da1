"""A skill as the analysers see it, and what they say about it.

An analyser is a function from a `SkillUnderScan` to observations. It never decides how grave a thing is: it names a rule
and a place, and the rule has the rest. What accuses nobody by itself, such as a host that is reached or a file that is
written, is a fact; facts of all files together are what `meaning/` and the list of capabilities are made from.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from vskill_platform.domain.content import SKILL_FILE_NAMES, SkillContent, SkillFile
from vskill_platform.scanning.limits import ScanLimits
from vskill_platform.scanning.tier1.file_kinds import UTF16_MARKS, FileKind, Shape, kinds_of, shape_of, suffix_of
from vskill_platform.scanning.tier1.kept import kept_property
from vskill_platform.scanning.tier1.languages import Language, language_of_fence, language_of_file
from vskill_platform.scanning.tier1.letters import beyond_ascii
from vskill_platform.scanning.tier1.markdown.document import Document
from vskill_platform.scanning.tier1.rules import Ruleset

WITHOUT_WIDTH = re.compile(
    "[\u00ad\u034f\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]"
)
BYTE_ORDER_MARK = "\ufeff"
LONGEST_NAME = 128
MARKDOWN_SUFFIXES = frozenset(
    ["md", "mdx", "markdown", "mdc", "cursorrules", "windsurfrules", "clinerules", "roorules", "goosehints"]
)
YAML_SIGNS = (">", "|", "&", "*", "!", "{", "[", "#")
"""What a value begins with that is more than plain text."""


class Hit(NamedTuple):
    """A rule hit a file. `line` and `column` count from 1; 0 means the file as a whole. `detail` says what came together."""

    rule_id: str
    file: str
    line: int
    column: int
    excerpt: str
    layer: str
    detail: str = ""


class LimitHit(NamedTuple):
    """Something was not seen. The report names it and does not say PASS."""

    name: str


class FactKind(StrEnum):
    """What a fact says. Behind each stands what its `value` is."""

    REACHES = "reaches"
    """The host, in lower case; empty where only the program knows it."""
    DOWNLOADS = "downloads"
    """The path that is written with what came from outside; empty where it stays in memory."""
    SENDS = "sends"
    """The host that data is sent to; empty where only the program knows it."""
    SENDS_FILE = "sends-file"
    """The host that the content of a file is sent to; empty where only the program knows it."""
    RUNS = "runs"
    """The command's first word, without its folders."""
    EXECUTES = "executes"
    """The path of a file that is run as a program or as code."""
    EVALUATES = "evaluates"
    """What runs text as code, such as `eval`."""
    DECODES = "decodes"
    """How something is decoded, such as `base64`."""
    WRITES = "writes"
    """The path that is written."""
    READS_SECRET = "reads-secret"
    """The path, variable or store that holds a secret."""
    READS_ENVIRONMENT = "reads-environment"
    """The name of an environment variable."""
    INSTALLS = "installs"
    """A package, as `registry:name`."""
    FOLLOWS = "follows"
    """The address whose text the agent is told to obey."""


class Fact(NamedTuple):
    """Something a skill does, at a place. `value` is at most 300 characters long."""

    kind: FactKind
    file: str
    line: int
    value: str
    layer: str


Observation = Hit | LimitHit | Fact


class Sighting(NamedTuple):
    """What an analyser reports by the name of a check: every rule with `check = "..."` of that name hits there.

    `line` and `column` count from 1; 0 means the file as a whole.
    """

    check: str
    file: str
    line: int = 0
    column: int = 0
    excerpt: str = ""
    layer: str = "structure"
    detail: str = ""


class Snippet(NamedTuple):
    """Code in one language: a whole file, or a fenced block of a Markdown file. `first_line` is that of its first line."""

    file: str
    language: Language
    text: str
    first_line: int
    is_fenced: bool


@dataclass(frozen=True, eq=False)
class FileUnderScan:
    """One file, with what can be known of it at a glance. Text is decoded when it is asked for, and once."""

    path: str
    content: bytes
    executable: bool = False
    is_inner: bool = False
    """Whether the file came out of another one, whose path then stands before `!/` in this one's."""

    @kept_property
    def suffix(self) -> str:
        """The last extension of the path in lower case, without its dot."""
        return suffix_of(self.path)

    @kept_property
    def shape(self) -> Shape:
        """What the bytes are."""
        return Shape.TEXT if self._plain is not None else shape_of(self.path, self.content)

    @kept_property
    def kinds(self) -> frozenset[FileKind]:
        """Which rules look at the file."""
        return kinds_of(self.path, self.content, executable=self.executable)

    @kept_property
    def text(self) -> str:
        """The whole file as text, with `\\n` between lines; never less than the file has.

        What cannot be decoded is replaced, byte by byte, so that all that can be read stays readable. In what is not text
        NUL bytes are left out, which shows text in two-byte encodings too.
        """
        text = (self._decoded() if self._plain is None else self._plain).removeprefix(BYTE_ORDER_MARK)
        if self.shape is not Shape.TEXT:
            text = text.replace("\0", "")
        return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text

    @kept_property
    def lines(self) -> list[str]:
        """The lines of the text."""
        return self.text.split("\n")

    @kept_property
    def language(self) -> Language | None:
        """The programming language, by name or by `#!`, of what is one."""
        return language_of_file(self.path, self.content) if self.shape is Shape.TEXT else None

    @kept_property
    def is_markdown(self) -> bool:
        """Whether an agent would read the file as Markdown."""
        return self.shape is Shape.TEXT and self.suffix in MARKDOWN_SUFFIXES

    @kept_property
    def is_program(self) -> bool:
        """Whether the file is a script and no text that only shows one."""
        return self.shape is Shape.TEXT and FileKind.SCRIPT in self.kinds and FileKind.MARKDOWN not in self.kinds

    @kept_property
    def document(self) -> Document:
        """The file as Markdown."""
        return Document(self.lines)

    @kept_property
    def encoded(self) -> bytes:
        """The text as UTF-8: the bytes of the file themselves where nothing of them had to be changed."""
        return self.content if self.text is self._plain else self.text.encode()

    @kept_property
    def beyond_ascii(self) -> str:
        """The letters of the text that are not ASCII, in their order."""
        return beyond_ascii(self.encoded)

    @kept_property
    def has_invisible_text(self) -> bool:
        """Whether the text has a character in it that takes no room on a screen."""
        return WITHOUT_WIDTH.search(self.beyond_ascii) is not None

    @kept_property
    def has_places(self) -> bool:
        """Whether lines and columns mean something in this file."""
        return self.shape is Shape.TEXT

    @kept_property
    def _plain(self) -> str | None:
        """The bytes as UTF-8; None where they are not just that."""
        if b"\0" in self.content or self.content.startswith(UTF16_MARKS):
            return None
        try:
            return self.content.decode()
        except UnicodeDecodeError:
            return None

    def _decoded(self) -> str:
        """The text; behind the mark of UTF-16 both readings, because an interpreter may take the other one."""
        as_bytes = self.content.decode("utf-8", "replace")
        if not self.content.startswith(UTF16_MARKS):
            return as_bytes
        try:
            as_utf16 = self.content.decode("utf-16")
        except UnicodeDecodeError:
            as_utf16 = ""
        shown = as_bytes.replace("\0", "")
        is_same = shown.lstrip("\N{REPLACEMENT CHARACTER}") == as_utf16
        return as_utf16 if is_same else f"{as_utf16}\n{shown}"


class Frontmatter(NamedTuple):
    """What stands between the fences at the head of a SKILL.md. `first_line` is the number of its first line."""

    text: str
    first_line: int


@dataclass(frozen=True, eq=False)
class SkillUnderScan:
    """All that analysers may look at. `files` has those that fit into the limits, `content` has everything.

    What is inside archives, documents and pictures stands in `files` too, and `opening` says what was seen on the way there.
    """

    content: SkillContent
    files: tuple[FileUnderScan, ...]
    ruleset: Ruleset
    limits: ScanLimits
    opening: tuple[Sighting | LimitHit, ...] = ()

    @kept_property
    def skill_file(self) -> FileUnderScan | None:
        """The file that makes the folder a skill."""
        by_path = {file.path: file for file in self.files}
        return next((by_path[name] for name in SKILL_FILE_NAMES if name in by_path), None)

    @kept_property
    def frontmatter(self) -> Frontmatter | None:
        """The frontmatter of the SKILL.md, split off without being parsed."""
        return split_frontmatter(self.skill_file.lines) if self.skill_file else None

    @kept_property
    def snippets(self) -> tuple[Snippet, ...]:
        """All code whose language is known: files, and fenced blocks that name their language."""
        return tuple(snippet for file in self.files for snippet in _snippets(file))


Finder = Callable[[SkillUnderScan], Iterable[Sighting | Fact | LimitHit]]
Joiner = Callable[[SkillUnderScan, Sequence[Observation]], Iterable[Sighting | LimitHit]]
Analyser = Callable[[SkillUnderScan], Iterable[Observation]]


def _snippets(file: FileUnderScan) -> Iterator[Snippet]:
    if file.language is not None:
        yield Snippet(file.path, file.language, file.text, first_line=1, is_fenced=False)
    if file.is_markdown:
        for block in file.document.fences:
            if language := language_of_fence(block.language):
                yield Snippet(file.path, language, block.text, block.first_line, is_fenced=True)


def file_under_scan(file: SkillFile) -> FileUnderScan:
    """The file as analysers see it."""
    return FileUnderScan(path=file.path, content=file.content, executable=file.executable)


def split_frontmatter(lines: list[str]) -> Frontmatter | None:
    """What stands between two `---` at the head, or all that follows the first if there is no second."""
    opening = next((number for number, line in enumerate(lines) if line.strip()), None)
    if opening is None or lines[opening].rstrip() != "---":
        return None
    first = opening + 1
    closing = next((number for number in range(first, len(lines)) if lines[number].rstrip() == "---"), len(lines))
    return Frontmatter(text="\n".join(lines[first:closing]), first_line=first + 1)


def simple_name(frontmatter: Frontmatter | None) -> str:
    """The name in the frontmatter where it is written plainly, else an empty text."""
    lines = frontmatter.text.split("\n") if frontmatter else []
    given = next((line.removeprefix("name:").strip() for line in lines if line.startswith("name:")), "")
    name = given.strip("\"'")
    return name if len(name) <= LONGEST_NAME and name.isprintable() and not name.startswith(YAML_SIGNS) else ""
