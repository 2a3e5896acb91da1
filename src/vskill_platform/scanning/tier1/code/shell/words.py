"""Reads words, assignments and redirections: quotes, expansions and substitutions, as a shell takes them apart."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property

from vskill_platform.scanning.tier1.code.budget import OutOfSteps, TooDeep
from vskill_platform.scanning.tier1.code.shell.escapes import decode_escapes, is_spelled_out
from vskill_platform.scanning.tier1.code.shell.line_endings import LineEndings
from vskill_platform.scanning.tier1.code.shell.syntax import (
    Assignment,
    Part,
    Pipeline,
    Program,
    Redirection,
    Simple,
    Substitution,
    Text,
    Variable,
    Word,
)

DEEPEST = 30
MOST_PARTS = 250_000
LONGEST_ARITHMETIC = 2_000
_BLANKS = re.compile(r"(?:[ \t\r]|\\\r?\n)*(?:#[^\n]*)?")
_BLANK_LINES = re.compile(r"(?:[ \t\r\n]+|\\\r?\n)*(?:#[^\n]*)?")
_PLAIN = re.compile(r"[^\s'\"\\$`|&;<>()]+")
_IN_DOUBLE = re.compile(r'[^"\\$`]+')
_IN_OPERAND = re.compile(r"[^'\"\\$`}]+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[@*#?$!0-9-]")
_BRACED = re.compile(r"([#!]?)([A-Za-z_][A-Za-z0-9_]*|[@*#?$!-]|[0-9]+)(?:\[([^\]\n]{0,200})\])?")
_OPERATOR = re.compile(r":?[-=+?]|##?|%%?|//?|\^\^?|,,?|:|@")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\[[^\]]{0,100}\])?(\+?)=")
_REDIRECTION = re.compile(r"(\d{0,4}|\{[A-Za-z_]\w{0,30}\})(&>>|&>|<<<|<<-?|<>|<&|>&|>>|>\||<(?!\()|>(?!\())")
_PLACEHOLDER = re.compile(r"<[A-Za-z][A-Za-z0-9_ .:/|-]{0,60}>(?=[\s\"'/.,:;@)&|\]]|\Z)")
_DOLLAR_QUOTED = re.compile(r"'((?>[^'\\]+|\\.)*+)'?", re.DOTALL)
_BACKTICKS = re.compile(r"`(?>[^`\\]+|\\.)*+`", re.DOTALL)
_PARENTHESES = re.compile(r"[()]")
_BLANK = frozenset(" \t\r\\#")
_BLANK_OR_LINE_END = _BLANK | {"\n"}
_ENDS_WORD = frozenset(" \t\r\n|&;()")
_BEFORE_REDIRECTION = frozenset("<>&{0123456789")
_NOTHING: frozenset[str] = frozenset()


class WordReader(ABC):
    """The part of the reader that knows no commands. `has_placeholders` takes `<name>` for a word to be filled in."""

    def __init__(self, text: str, *, has_placeholders: bool = False) -> None:
        self._text = text
        self._end = len(text)
        self._at = 0
        self._depth = 0
        self._wanted: list[frozenset[str]] = []
        self._hole_at = self._resume_at = self._line_end = -1
        self._parts_left = MOST_PARTS
        self.is_unclosed = False
        """Whether a quotation mark was opened and never closed."""
        self._has_placeholders = has_placeholders

    def _count(self, parts: int = 1) -> None:
        """Counts what is kept in memory, and stops where it becomes too much."""
        self._parts_left -= parts
        if self._parts_left < 0:
            raise OutOfSteps

    def _descend(self) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise TooDeep

    def _words(self) -> list[Word]:
        words: list[Word] = []
        while self._at < self._end:
            self._skip_blanks()
            word = self._word()
            if word is None:
                break
            words.append(word)
        return words

    def _take_assignment(self, assignments: list[Assignment]) -> bool:
        found = _ASSIGNMENT.match(self._text, self._at)
        if not found:
            return False
        self._at = found.end()
        values: tuple[Word, ...] | None = None
        if self._text.startswith("(", self._at):
            self._at += 1
            values = tuple(self._array())
            value = Word((), self._at, self._at)
        else:
            value = self._word() or Word((), self._at, self._at)
        assignments.append(Assignment(found[1], value, bool(found[2]), values))
        return True

    def _array(self) -> Iterator[Word]:
        while self._at < self._end:
            self._skip_blank_lines()
            word = self._word()
            if word is not None:
                yield word
            elif self._at >= self._end or self._take_character(")"):
                return
            else:
                self._at += 1

    def _take_redirection(self, redirections: list[Redirection]) -> bool:
        if self._at >= self._end or self._text[self._at] not in _BEFORE_REDIRECTION or self._is_placeholder():
            return False
        found = _REDIRECTION.match(self._text, self._at)
        if not found:
            return False
        start, self._at = self._at, found.end()
        self._skip_blanks()
        target = self._word()
        if target is None:
            self._at = max(self._at, start + 1)
            return True
        if found[2] in {"<<", "<<-"}:
            target = self._document(target, may_indent=found[2] == "<<-")
        redirections.append(Redirection(found[1], found[2], target))
        return True

    def _document(self, delimiter: Word, *, may_indent: bool) -> Word:
        """The text of a here-document; the reader passes over it at the end of this line."""
        is_literal = any(not isinstance(part, Text) or part.is_quoted for part in delimiter.parts)
        ending = "".join(part.text for part in delimiter.parts if isinstance(part, Text))
        if self._line_end < self._at:
            self._line_end = self._text.find("\n", self._at) % (len(self._text) + 1)
        line_end = self._line_end
        if line_end >= self._end:
            return Word((), self._at, self._at)
        start = max(line_end + 1, self._resume_at if self._hole_at == line_end else 0)
        end, after = self._lines.ending(ending, start, may_indent=may_indent) or (self._end, self._end)
        end, after = min(end, self._end), min(after, self._end)
        self._hole_at, self._resume_at = line_end, after
        if is_literal:
            return Word((Text(self._text[start:end], True),), start, end)
        return Word(tuple(self._parts_between(start, end)), start, end)

    def _parts_between(self, start: int, end: int) -> list[Part]:
        """What stands between two offsets, read as between double quotes."""
        kept = self._at, self._end, self._hole_at, self._resume_at
        self._at, self._end = start, end
        self._descend()
        try:
            return self._double_quoted(closing="")
        finally:
            self._depth -= 1
            self._at, self._end, self._hole_at, self._resume_at = kept

    @cached_property
    def _lines(self) -> LineEndings:
        return LineEndings(self._text)

    def _word(self) -> Word | None:
        """The word here, without what stands before it; None where there is none."""
        start = self._at
        parts: list[Part] = []
        self._count()
        while self._at < self._end:
            if self._text[self._at] in _ENDS_WORD:
                self._count()
                break
            plain = _PLAIN.match(self._text, self._at, self._end)
            if plain:
                if not parts and plain.group().startswith("#"):
                    break
                parts.append(Text(plain.group(), False))
                self._at = plain.end()
            elif not self._take_part(parts):
                break
        return Word(tuple(parts), start, self._at) if self._at > start else None

    def _take_part(self, parts: list[Part]) -> bool:
        """Takes a part that begins with a special character; False where the character ends the word."""
        self._count()
        character = self._text[self._at]
        if character == "'":
            closing = self._text.find("'", self._at + 1, self._end)
            self.is_unclosed |= closing < 0
            closing = self._end if closing < 0 else closing
            parts.append(Text(self._text[self._at + 1 : closing], True))
            self._at = closing + 1
        elif character == '"':
            self._at += 1
            parts.append(Text("", True))
            parts += self._double_quoted(closing='"')
            self.is_unclosed |= self._at >= self._end and not self._text.endswith('"')
        elif character == "\\":
            self._take_escaped(parts)
        elif character == "$":
            parts.append(self._dollar(is_quoted=False))
        elif character == "`":
            parts.append(self._backticks(is_quoted=False))
        elif character in "<>" and self._is_placeholder():
            found = _PLACEHOLDER.match(self._text, self._at)
            parts.append(Text(found.group() if found else "", True))
            self._at = found.end() if found else self._at + 1
        elif character in "<>" and self._text.startswith("(", self._at + 1):
            self._at += 1
            parts.append(self._parenthesised(is_quoted=False, direction=character))
        else:
            return False
        return True

    def _take_escaped(self, parts: list[Part]) -> None:
        escaped = self._text[self._at + 1 : self._at + 2]
        if escaped != "\n":
            parts.append(Text(escaped, True))
        self._at = min(self._at + 2, self._end)

    def _double_quoted(self, *, closing: str) -> list[Part]:
        """Parts up to the closing quote, or up to the end where there is none."""
        parts: list[Part] = []
        while self._at < self._end:
            plain = _IN_DOUBLE.match(self._text, self._at, self._end)
            if plain:
                parts.append(Text(plain.group(), True))
                self._at = plain.end()
                continue
            self._count()
            character = self._text[self._at]
            if character == '"':
                self._at += 1
                if closing:
                    break
                parts.append(Text('"', True))
            elif character == "\\":
                escaped = self._text[self._at + 1 : self._at + 2]
                if escaped != "\n":
                    parts.append(Text(escaped if escaped in '$`"\\' else f"\\{escaped}", True))
                self._at = min(self._at + 2, self._end)
            elif character == "$":
                parts.append(self._dollar(is_quoted=True))
            else:
                parts.append(self._backticks(is_quoted=True))
        return parts

    def _dollar(self, *, is_quoted: bool) -> Part:
        text, at = self._text, self._at
        self._at += 1
        following = text[at + 1 : at + 2] if at + 1 < self._end else ""
        if following == "(":
            if text.startswith("((", at + 1) and (end := self._arithmetic_end(at + 3)) is not None:
                return self._arithmetic(at, end, is_quoted=is_quoted)
            return self._parenthesised(is_quoted=is_quoted)
        if following == "{":
            self._at += 1
            return self._braced(is_quoted=is_quoted)
        if following == "'" and not is_quoted:
            return self._dollar_quoted()
        named = _NAME.match(text, self._at, self._end)
        if named:
            self._at = named.end()
            return Variable(named.group(), is_quoted)
        return Text("" if following == '"' and not is_quoted else "$", is_quoted)

    def _dollar_quoted(self) -> Text:
        """`$'...'`: the only quotes in which a backslash keeps a quote from closing."""
        found = _DOLLAR_QUOTED.match(self._text, self._at, self._end)
        raw = found[1] if found else ""
        self._at = found.end() if found else self._at + 1
        return Text(decode_escapes(raw), True, is_spelled_out(raw))

    def _arithmetic(self, start: int, end: int, *, is_quoted: bool) -> Part:
        """`$((...))`: a number, unless commands run inside."""
        inside = self._text[start + 3 : end - 2]
        self._at = end
        if "$(" not in inside and "`" not in inside:
            return Variable("#", is_quoted)
        parts = self._parts_between(start + 3, end - 2)
        program = Program([Pipeline((Simple(start, (), (Word(tuple(parts), start, end),)),))])
        return Substitution(program, is_quoted)

    def _parenthesised(self, *, is_quoted: bool, direction: str = "") -> Substitution:
        self._at += 1
        program = self._program(closing=")")
        self._take_character(")")
        return Substitution(program, is_quoted, direction)

    def _backticks(self, *, is_quoted: bool) -> Substitution:
        """Backticks are read as a text of their own, once the backslashes that protect them are gone."""
        found = _BACKTICKS.match(self._text, self._at, self._end)
        start = self._at + 1
        self._at = found.end() if found else self._end
        inside = self._text[start : self._at - 1 if found else self._end]
        self._descend()
        program = self._inner(re.sub(r"\\([$`\\])", r"\1", inside))
        self._depth -= 1
        return Substitution(program, is_quoted)

    def _braced(self, *, is_quoted: bool) -> Variable:
        found = _BRACED.match(self._text, self._at, self._end)
        if not found:
            self._at = min(self._at + 1, self._end)
            return Variable("", is_quoted)
        self._at = found.end()
        operator = _OPERATOR.match(self._text, self._at, self._end)
        self._at = operator.end() if operator else self._at
        self._descend()
        operand = self._operand()
        self._depth -= 1
        sign = found[1] + (operator.group() if operator else "")
        return Variable(found[2], is_quoted, sign, operand, found[3] or "")

    def _operand(self) -> Word:
        """What stands up to the closing brace."""
        start = self._at
        parts: list[Part] = []
        while self._at < self._end:
            plain = _IN_OPERAND.match(self._text, self._at, self._end)
            if plain:
                parts.append(Text(plain.group(), True))
                self._at = plain.end()
            elif self._text[self._at] == "}":
                self._at += 1
                break
            elif not self._take_part(parts):
                self._at += 1
        return Word(tuple(parts), start, self._at)

    def _arithmetic_end(self, start: int) -> int | None:
        """The offset behind the `))` that closes what begins here, where it is near."""
        depth = 0
        for found in _PARENTHESES.finditer(self._text, start, min(self._end, start + LONGEST_ARITHMETIC)):
            if found.group() == "(":
                depth += 1
            elif depth:
                depth -= 1
            else:
                return found.start() + 2 if self._text.startswith("))", found.start()) else None
        return None

    def _is_placeholder(self) -> bool:
        return self._has_placeholders and _PLACEHOLDER.match(self._text, self._at, self._end) is not None

    def _take_character(self, character: str) -> bool:
        self._skip_blank_lines()
        if self._at < self._end and self._text[self._at] == character:
            self._at += 1
            return True
        return False

    def _skip_blanks(self) -> None:
        """Blanks, continued lines and a comment; stays before the end of the line."""
        if self._at >= self._end or self._text[self._at] not in _BLANK:
            return
        found = _BLANKS.match(self._text, self._at, self._end)
        self._at = found.end() if found else self._at

    def _skip_blank_lines(self) -> None:
        """Everything between commands, and the here-documents that have been read already."""
        while self._at < self._end and self._text[self._at] in _BLANK_OR_LINE_END:
            before = self._at
            blank = _BLANKS if self._hole_at >= before else _BLANK_LINES
            found = blank.match(self._text, before, self._end)
            self._at = found.end() if found else before
            if self._at < self._end and self._text[self._at] == "\n":
                is_hole = self._at == self._hole_at
                self._at = min(self._resume_at, self._end) if is_hole else self._at + 1
            if self._at == before:
                return

    @abstractmethod
    def _program(self, *, closing: str = "", ends: frozenset[str] = _NOTHING) -> Program: ...

    @abstractmethod
    def _inner(self, text: str) -> Program: ...
