"""A Markdown file as blocks in sections, each with its lines. One pass over the lines, whatever they hold.

It follows CommonMark where that decides what an agent takes for code, for a heading or for a comment, and leaves the rest:
the inside of a paragraph is text. `tests/scanning/test_document.py` holds it against a full parser.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple


class BlockKind(StrEnum):
    """What a run of lines is."""

    FRONTMATTER = "frontmatter"
    HEADING = "heading"
    PARAGRAPH = "paragraph"
    ITEM = "item"
    QUOTE = "quote"
    TABLE = "table"
    FENCE = "fence"
    HTML = "html"
    COMMENT = "comment"


class Block(NamedTuple):
    """Lines that belong together. `first_line` counts from 1; of a fence, `text` has neither the fences nor their lines.

    `language` is the first word after an opening fence, in lower case, and `info` all of them. `level` is a heading's.
    """

    kind: BlockKind
    text: str
    first_line: int
    last_line: int
    language: str = ""
    info: str = ""
    level: int = 0


class Section(NamedTuple):
    """A heading and what follows it up to the next heading. `titles` leads from the outermost heading to this one."""

    titles: tuple[str, ...]
    first_line: int
    blocks: tuple[Block, ...]

    @property
    def title(self) -> str:
        """The section's own heading; empty before the first one."""
        return self.titles[-1] if self.titles else ""


class Document:
    """A Markdown text, taken apart when it is first asked for something."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """All blocks in their order."""
        return tuple(_Reader(self._lines).read())

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """The blocks by heading. What stands before the first heading is a section without titles."""
        return tuple(_sections(self.blocks))

    @cached_property
    def set_apart(self) -> tuple[Block, ...]:
        """What stands between fences: the frontmatter and the fenced blocks. Most who ask need no other block.

        Nothing but HTML keeps a fence from being one, so without any the lines of fences alone have to be looked at.
        """
        if "blocks" in self.__dict__ or _HTML_LINE.search("\n".join(["", *self._lines])):
            return tuple(block for block in self.blocks if block.kind in _SET_APART)
        return tuple(_Reader(self._lines).read_set_apart())

    @cached_property
    def fences(self) -> tuple[Block, ...]:
        """The fenced blocks."""
        return tuple([block for block in self.set_apart if block.kind is BlockKind.FENCE])

    def block_at(self, line: int) -> Block | None:
        """The block that a line belongs to; the lines of a fence itself belong to the fenced block."""
        at = bisect_right(self._block_starts, line) - 1
        if at < 0:
            return None
        block = self.blocks[at]
        return block if line <= block.last_line + (block.kind is BlockKind.FENCE) else None

    def section_at(self, line: int) -> Section | None:
        """The section that a line belongs to; None in a document without any block."""
        at = bisect_right(self._section_starts, line) - 1
        return self.sections[at] if at >= 0 else None

    @cached_property
    def _block_starts(self) -> list[int]:
        return [block.first_line - (block.kind is BlockKind.FENCE) for block in self.blocks]

    @cached_property
    def _section_starts(self) -> list[int]:
        return [section.first_line for section in self.sections]


_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]|$)")
_CLOSING = re.compile(r"[ \t]+#+[ \t]*$")
"""The signs that may end a heading as they begin it."""
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(
    r"(?P<lead>[ \t]*(?:(?:>|[-*+]|\d{1,9}[.)])[ \t]*){0,6})(?P<fence>`{3,}(?=[^`]*$)|~{3,})(?P<info>.*)$"
)
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
_QUOTE = re.compile(r" {0,3}>")
_QUOTE_MARKS = re.compile(r"(?: {0,3}> ?)+")
_HTML = re.compile(r" {0,3}<(?:[a-zA-Z/!?])")
_HTML_LINE = re.compile(rf"\n{_HTML.pattern}")
_SET_APART = frozenset([BlockKind.FRONTMATTER, BlockKind.FENCE])
_UNDERLINES = frozenset("=-")
_ITEM_MARKS = frozenset("-*+0123456789")
_MARKS = _ITEM_MARKS | frozenset("#<>|`~=")
"""What a line begins with that may begin something else than a paragraph."""
_LONGEST_MARK = 400
"""Characters of a line that are looked at for what begins it."""


class _Reader:
    """Walks over the lines once."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._at = 0
        self._with_fences = [number for number, line in enumerate(lines) if "```" in line or "~~~" in line]

    def read(self) -> Iterator[Block]:
        yield from self._frontmatter()
        lines, count = self._lines, len(self._lines)
        while self._at < count:
            line = lines[self._at]
            if line[:1].isalpha():  # nothing but a paragraph begins with a letter
                yield self._paragraph()
            elif not line or line.isspace():
                self._at += 1
            else:
                yield self._block(line[:_LONGEST_MARK])

    def read_set_apart(self) -> Iterator[Block]:
        """The frontmatter and the fenced blocks of a text without HTML."""
        yield from self._frontmatter()
        for number in self._with_fences:
            opening = _FENCE.match(self._lines[number][:_LONGEST_MARK]) if number >= self._at else None
            if opening:
                self._at = number
                yield self._fence(opening)

    def _frontmatter(self) -> Iterator[Block]:
        first = next((number for number, line in enumerate(self._lines) if line.strip()), None)
        if first is None or self._lines[first].rstrip() != "---":
            return
        closing = next((n for n in range(first + 1, len(self._lines)) if self._lines[n].rstrip() == "---"), None)
        if closing is not None:
            yield self._made(BlockKind.FRONTMATTER, first + 1, closing)
            self._at = closing + 1

    def _block(self, line: str) -> Block:
        """The block that begins here. Its first letter says what it can be, so that few patterns are tried."""
        first = line.lstrip()[:1] if line[0].isspace() else line[0]
        if first not in _MARKS:
            return self._paragraph()
        fence = _FENCE.match(line) if _may_be_fence(line) else None
        if fence:
            return self._fence(fence)
        heading = _HEADING.match(line) if first == "#" else None
        if heading:
            self._at += 1
            text = line[heading.end() :].lstrip(" \t")
            title = _CLOSING.sub("", text, count=1) if "#" in text else text
            return Block(BlockKind.HEADING, title.strip(), self._at, self._at, level=len(heading[1]))
        if first == "<" and _HTML.match(line):
            return self._html(line)
        if first == ">" and _QUOTE.match(line):
            return self._run(BlockKind.QUOTE)
        if first == "|":
            return self._run(BlockKind.TABLE)
        return self._run(BlockKind.ITEM) if _is_item(line, first) else self._paragraph()

    def _fence(self, opening: re.Match[str]) -> Block:
        start, is_quoted = self._at + 1, ">" in opening["lead"]
        end, is_closed = (self._end_of_quoted if is_quoted else self._end_of_fence)(start, opening["fence"])
        self._at = end + 1 if is_closed else end
        info = opening["info"].strip()
        language = info.split()[0].strip("{.}").lower() if info.strip("{.} ") else ""
        lines = self._lines[start:end]
        text = "\n".join([_QUOTE_MARKS.sub("", line, count=1) for line in lines] if is_quoted else lines)
        return Block(BlockKind.FENCE, text, start + 1, max(start, end), language=language, info=info)

    def _end_of_fence(self, start: int, fence: str) -> tuple[int, bool]:
        """The line that closes the fence, and whether there is one."""
        marked = self._with_fences
        for at in range(bisect_left(marked, start), len(marked)):
            if _closes(self._lines[marked[at]], fence):
                return marked[at], True
        return len(self._lines), False

    def _end_of_quoted(self, start: int, fence: str) -> tuple[int, bool]:
        """The same in a quotation, whose end ends the fence."""
        for number in range(start, len(self._lines)):
            line = self._lines[number]
            if fence in line and _closes(line, fence):
                return number, True
            if not _QUOTE.match(line):
                return number, False
        return len(self._lines), False

    def _html(self, line: str) -> Block:
        """A comment up to its end; other HTML up to a blank line."""
        start = self._at
        if line.lstrip().startswith("<!--"):
            end = start
            opened = self._lines[start].find("<!--") + 4
            while end < len(self._lines) and "-->" not in self._lines[end][opened if end == start else 0 :]:
                end += 1
            self._at = min(end + 1, len(self._lines))
            return self._made(BlockKind.COMMENT, start, self._at)
        while self._at < len(self._lines) and self._lines[self._at].strip():
            self._at += 1
        return self._made(BlockKind.HTML, start, self._at)

    def _run(self, kind: BlockKind) -> Block:
        """The lines up to a blank one or to the beginning of something else."""
        lines, start = self._lines, self._at
        end = start + 1
        is_table = kind is BlockKind.TABLE
        while end < len(lines) and (line := lines[end]):
            is_more = not is_table and line[0].isalpha()  # nothing else begins with a letter
            if not is_more and not self._continues(kind, line[:_LONGEST_MARK]):
                break
            end += 1
        self._at = end
        return self._made(kind, start, end)

    def _continues(self, kind: BlockKind, line: str) -> bool:
        first = line.lstrip()[:1] if line[0].isspace() else line[0]
        if first not in _MARKS:
            return first != "" and (kind is not BlockKind.TABLE or "|" in line)
        if _may_be_fence(line) and _FENCE.match(line):
            return False
        if (first == "#" and _HEADING.match(line)) or (first == "<" and _is_comment(line)):
            return False
        if kind is BlockKind.TABLE:
            return "|" in line
        is_quote = first == ">" and _QUOTE.match(line) is not None
        if kind is BlockKind.QUOTE:
            return is_quote or not _is_item(line, first)
        return not (is_quote or first == "|" or _is_item(line, first))

    def _paragraph(self) -> Block:
        """A paragraph, or a heading where a line of `=` or `-` stands under it."""
        lines, start = self._lines, self._at
        end = start + 1
        while end < len(lines) and (line := lines[end]):
            if line[0].isalpha():  # nothing but more of the paragraph begins with a letter
                end += 1
                continue
            line = line[:_LONGEST_MARK]
            underline = _UNDERLINE.match(line) if line.lstrip()[:1] in _UNDERLINES else None
            if underline:
                self._at = end + 1
                text = " ".join(part.strip() for part in lines[start:end])
                level = 1 if underline[1][0] == "=" else 2
                return Block(BlockKind.HEADING, text, start + 1, self._at, level=level)
            if not self._continues(BlockKind.PARAGRAPH, line):
                break
            end += 1
        self._at = end
        return self._made(BlockKind.PARAGRAPH, start, end)

    def _made(self, kind: BlockKind, start: int, end: int) -> Block:
        text = self._lines[start] if end == start + 1 else "\n".join(self._lines[start:end])
        return Block(kind, text, start + 1, max(start + 1, end))


def _may_be_fence(line: str) -> bool:
    return "```" in line or "~~~" in line


def _closes(line: str, fence: str) -> bool:
    """Whether nothing stands in the line but the sign of the fence, as often at least."""
    sign = line.rstrip(" \t").lstrip(" \t>")
    return len(sign) >= len(fence) and not sign.strip(fence[0])


def _is_item(line: str, first: str) -> bool:
    return first in _ITEM_MARKS and _ITEM.match(line) is not None


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith("<!--")


def _sections(blocks: Sequence[Block]) -> Iterator[Section]:
    titles: list[tuple[int, str]] = []
    first_line, held = 1, list[Block]()
    for block in blocks:
        if block.kind is BlockKind.HEADING:
            if held:
                yield Section(tuple(title for _, title in titles), first_line, tuple(held))
            while titles and titles[-1][0] >= block.level:
                titles.pop()
            titles.append((block.level, block.text))
            first_line, held = block.first_line, []
        held.append(block)
    if held:
        yield Section(tuple(title for _, title in titles), first_line, tuple(held))
