"""Reads shell text into commands, once from left to right, whatever it holds.

It reads what bash, zsh and dash would run, and goes on where they would stop: a fenced block is often a fragment. Nesting is
followed down to a depth and refused below it, so that the reader's own stack is never the limit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from vskill_platform.scanning.tier1.code.budget import TooDeep
from vskill_platform.scanning.tier1.code.shell.syntax import (
    Assignment,
    Command,
    Compound,
    Function,
    Pipeline,
    Program,
    Redirection,
    Simple,
    Text,
    Word,
)
from vskill_platform.scanning.tier1.code.shell.words import WordReader

_PLAIN = re.compile(r"[^\s'\"\\$`|&;<>()]+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[@*#?$!0-9-]")
_KEYWORD = re.compile(
    r"(if|then|elif|else|fi|while|until|for|select|do|done|case|esac|function|time|coproc|\{|\}|!)(?=[\s;&|()<>]|\Z)"
)
_FUNCTION = re.compile(r"([^\s'\"\\$`|&;<>()=]{1,100})[ \t]*\([ \t]*\)")
_FIRST_WORD = re.compile(r"[ \t]*+([A-Za-z_./~+:@%,-][^\s'\"\\$`|&;<>()=\[]*+)(?=[ \t\n;|&)])")
_NEXT_WORD = re.compile(r"[ \t]*+([^\s'\"\\$`|&;<>()#{0-9][^\s'\"\\$`|&;<>()]*+)(?=[ \t\n;|&)])")
"""Words that are nothing but text; the first of a command is neither an assignment nor a test."""
_KEYWORD_STARTS = frozenset("itefwudscf{}!")
_CLOSERS = frozenset(["then", "elif", "else", "fi", "do", "done", "esac", "}"])
_AFTER_COMMAND = frozenset("\n|;)")
"""Signs with which nothing begins that belongs to a command."""
_JOINING = frozenset(["&&", "||"])
_ENDINGS = frozenset("&;")
_PREFIXES = frozenset(["!", "time", "coproc"])
_NOTHING: frozenset[str] = frozenset()
LONGEST_KEPT, MOST_KEPT = 400, 256
"""Texts whose reading is kept, and characters of the longest: skills give the same commands again and again."""


class ShortReading(NamedTuple):
    """What a short text consists of, and whether it ends inside quotation marks."""

    pipelines: tuple[Pipeline, ...]
    is_unclosed: bool


class Reader(WordReader):
    """Reads one text."""

    def pipelines(self) -> Iterator[Pipeline]:
        """The pipelines at the top, one by one, so that what stands before trouble is not lost. May raise TooDeep."""
        while self._at < self._end:
            before = self._at
            found = self._pipeline(closing="")
            if found is not None:
                yield found
            if self._at == before:
                self._at += 1

    def _program(self, *, closing: str = "", ends: frozenset[str] = _NOTHING) -> Program:
        """What stands before a closing character or one of the keywords, neither of which is taken."""
        self._descend()
        self._wanted.append(ends)
        program = Program()
        while self._at < self._end:
            self._skip_blank_lines()
            if self._at >= self._end or (closing and self._text.startswith(closing, self._at)):
                break
            keyword = self._keyword()
            if keyword in _CLOSERS and any(keyword in wanted for wanted in self._wanted):
                break
            before = self._at
            found = self._pipeline(closing=closing)
            if found is not None:
                program.pipelines.append(found)
            if self._at == before:
                if self._text[self._at] == ")":
                    break
                self._at += 1
        self._wanted.pop()
        self._depth -= 1
        return program

    def _pipeline(self, *, closing: str) -> Pipeline | None:
        commands: list[Command] = []
        while self._at < self._end:
            self._skip_blank_lines()
            command = self._command()
            if command is not None:
                commands.append(command)
            self._skip_blanks()
            if not self._text.startswith("|", self._at) or self._text.startswith("||", self._at):
                break
            self._at += 2 if self._text.startswith("|&", self._at) else 1
        ending = self._take_ending(closing)
        return Pipeline(tuple(commands), ending) if commands else None

    def _take_ending(self, closing: str) -> str:
        """Takes what ends a pipeline, and says what it is where that matters."""
        text, at = self._text, self._at
        if closing and text.startswith(closing, at):
            return ""
        pair = text[at : at + 2]
        ending = pair if pair in _JOINING else pair[:1] if pair[:1] in _ENDINGS else ""
        self._at += len(ending)
        return ending

    def _command(self) -> Command | None:
        at = self._at
        if at >= self._end:
            return None
        keyword = self._keyword()
        while keyword in _PREFIXES:
            self._at += len(keyword)
            self._skip_blanks()
            keyword = self._keyword()
        if keyword:
            return self._keyword_command(keyword)
        if self._text.startswith("(", self._at):
            return self._parenthesis()
        named = _FUNCTION.match(self._text, at)
        if named:
            self._at = named.end()
            return self._function(at, named[1])
        return self._simple()

    def _keyword(self) -> str:
        if self._at >= self._end or self._text[self._at] not in _KEYWORD_STARTS:
            return ""
        found = _KEYWORD.match(self._text, self._at)
        return found[1] if found else ""

    def _keyword_command(self, keyword: str) -> Command | None:
        at = self._at
        self._at += len(keyword)
        if keyword in {"if", "while", "until"}:
            return self._branch(at, keyword)
        if keyword in {"for", "select"}:
            return self._for(at)
        if keyword == "case":
            return self._case(at)
        if keyword == "{":
            body = self._program(ends=frozenset("}"))
            self._take("}")
            return self._compound(Compound(at, "group", bodies=(body,)))
        if keyword == "function":
            self._skip_blanks()
            named = _FUNCTION.match(self._text, self._at) or _PLAIN.match(self._text, self._at)
            self._at = named.end() if named else self._at
            return self._function(at, named[0].split("(")[0].strip() if named else "")
        return None

    def _parenthesis(self) -> Command:
        at = self._at
        if self._text.startswith("((", at) and (end := self._arithmetic_end(at + 2)) is not None:
            inside = Word(tuple(self._parts_between(at + 2, end - 2)), at, end)
            self._at = end
            return Simple(at, (), (Word((Text("((", is_quoted=False),), at, at + 2), inside))
        self._at += 1
        body = self._program(closing=")")
        self._take_character(")")
        return self._compound(Compound(at, "subshell", bodies=(body,)))

    def _branch(self, at: int, kind: str) -> Compound:
        conditions, bodies = [], []
        opening, closing = ("then", frozenset(["elif", "else", "fi"])) if kind == "if" else ("do", frozenset(["done"]))
        while True:
            conditions.append(self._program(ends=frozenset([opening]) | closing))
            self._take(opening)
            bodies.append(self._program(ends=closing))
            if not self._take("elif"):
                break
        if self._take("else"):
            bodies.append(self._program(ends=closing))
        self._take("fi" if kind == "if" else "done")
        return self._compound(Compound(at, kind, tuple(conditions), tuple(bodies)))

    def _for(self, at: int) -> Compound:
        self._skip_blanks()
        words: list[Word] = []
        name = ""
        if self._text.startswith("((", self._at):
            self._at = self._arithmetic_end(self._at + 2) or self._at + 2
        elif named := _NAME.match(self._text, self._at):
            name = named[0]
            self._at = named.end()
        self._skip_blanks()
        if self._keyword_is("in"):
            self._at += 2
            words = self._words()
        if self._text.startswith(";", self._at):
            self._at += 1
        is_braced = self._take("{")
        if not is_braced:
            self._take("do")
        body = self._program(ends=frozenset(["}" if is_braced else "done"]))
        self._take("}" if is_braced else "done")
        return self._compound(Compound(at, "for", bodies=(body,), name=name, words=tuple(words)))

    def _case(self, at: int) -> Compound:
        self._skip_blanks()
        subject = self._word()
        self._skip_blank_lines()
        self._take("in")
        bodies: list[Program] = []
        while self._at < self._end:
            self._skip_blank_lines()
            if self._at >= self._end or self._take("esac"):
                break
            before = self._at
            self._skip_patterns()
            bodies.append(self._program(closing=";;", ends=frozenset(["esac"])))
            if self._text.startswith(";;", self._at):
                self._at += 2
            if self._at == before:
                self._at += 1
        words = (subject,) if subject else ()
        return self._compound(Compound(at, "case", bodies=tuple(bodies), words=words))

    def _skip_patterns(self) -> None:
        """The patterns of one branch of a `case`, up to their parenthesis."""
        if self._text.startswith("(", self._at):
            self._at += 1
        while self._at < self._end and self._text[self._at] not in ")\n;":
            self._skip_blanks()
            before = self._at
            self._word()
            if self._at == before:
                if self._at >= self._end or self._text[self._at] in ")\n;":
                    break
                self._at += 1
        if self._text.startswith(")", self._at):
            self._at += 1

    def _function(self, at: int, name: str) -> Function:
        self._skip_blank_lines()
        body = Program()
        if self._at < self._end:
            self._descend()
            command = self._command()
            self._depth -= 1
            body = Program([Pipeline((command,))]) if command is not None else body
        return Function(at, name, body)

    def _compound(self, command: Compound) -> Compound:
        """The command with the redirections that follow it."""
        redirections: list[Redirection] = []
        self._skip_blanks()
        while self._take_redirection(redirections):
            self._skip_blanks()
        if not redirections:
            return command
        return Compound(
            command.at,
            command.kind,
            command.conditions,
            command.bodies,
            command.name,
            command.words,
            tuple(redirections),
        )

    def _simple(self) -> Simple | None:
        at = self._at
        assignments: list[Assignment] = []
        words: list[Word] = []
        redirections: list[Redirection] = []
        while self._at < self._end:
            plain = (_NEXT_WORD if words else _FIRST_WORD).match(self._text, self._at, self._end)
            if plain:
                self._count(2)
                self._at = plain.end()
                words.append(Word((Text(plain[1], False),), plain.start(1), self._at))
                continue
            self._skip_blanks()
            if self._at < self._end and self._text[self._at] in _AFTER_COMMAND:
                self._count(2)
                break
            if self._take_redirection(redirections):
                continue
            if not words and self._take_assignment(assignments):
                continue
            word = self._word()
            if word is None:
                break
            words.append(word)
            if len(words) == 1 and self._text[word.start : word.end] == "[[":
                words += self._test_words()
        if not (assignments or words or redirections):
            return None
        return Simple(at, tuple(assignments), tuple(words), tuple(redirections))

    def _take(self, keyword: str) -> bool:
        self._skip_blank_lines()
        if self._keyword_is(keyword):
            self._at += len(keyword)
            return True
        return False

    def _keyword_is(self, keyword: str) -> bool:
        if not self._text.startswith(keyword, self._at):
            return False
        after = self._text[self._at + len(keyword) : self._at + len(keyword) + 1]
        return not after or after in " \t\r\n;&|()<>"

    def _test_words(self) -> Iterator[Word]:
        """What stands between `[[` and `]]`, where `<`, `>` and `&&` compare and join."""
        while self._at < self._end:
            self._skip_blank_lines()
            if self._text.startswith("]]", self._at):
                self._at += 2
                return
            word = self._word()
            if word is not None:
                yield word
            elif self._at < self._end and self._text[self._at] == ";":
                return
            else:
                self._at += 1

    def _inner(self, text: str) -> Program:
        """A text inside this one, read at the same depth."""
        reader = Reader(text, has_placeholders=self._has_placeholders)
        reader._depth = self._depth
        reader._parts_left = self._parts_left
        program = Program(list(reader.pipelines()))
        self._parts_left = reader._parts_left
        return program


@lru_cache(maxsize=MOST_KEPT)
def read_short(text: str, *, has_placeholders: bool) -> ShortReading | None:
    """A text of a line or two as a whole; None where it is too deep for that, and its beginning has to do."""
    reader = Reader(text, has_placeholders=has_placeholders)
    try:
        return ShortReading(tuple(reader.pipelines()), reader.is_unclosed)
    except (TooDeep, RecursionError):
        return None
