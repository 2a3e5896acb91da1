"""A command line as the shell takes it apart: commands, their words without quotes, and what they are joined by.

This is for the one-line commands of configuration files. It knows quotes, escapes, pipes, redirections and substitutions, and
nothing of what the words mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

LONGEST = 8_000
_TOKEN = re.compile(
    r"""(?P<space>[ \t]+|\\\n)|(?P<ansi>\$'(?>[^'\\]|\\.)*+'?)|(?P<single>'[^']*+'?)|(?P<double>"(?>[^"\\]|\\.)*+"?)"""
    r"""|(?P<variable>\$\{[^{}]*+\}?)|(?P<inner>\$\(|`|<\(|>\()|(?P<redirect>&?\d*>>?\|?&?|<<<?|<)|(?P<join>\|\|?&?|&&?|;;?|\n)|(?P<group>[(){}](?=\s|$|;)|[()])"""
    r"""|(?P<escape>\\.)|(?P<comment>(?<![^\s;&|])\#[^\n]*)|(?P<plain>[^\s'"\\$`<>|&;(){}\#]+|.)""",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|([0-7]{1,3})|(.))", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "e": "\x1b", "a": "\a", "0": "\0"}
_IN_DOUBLE = re.compile(r"\\([\"\\$`])")


@dataclass(slots=True)
class Simple:
    """One command. `writes_to` are the files it is redirected into, `inner` the commands whose output its words hold."""

    words: list[str] = field(default_factory=list)
    is_fed: bool = False
    writes_to: list[str] = field(default_factory=list)
    inner: list[str] = field(default_factory=list)


def split_commands(line: str) -> list[Simple]:
    """The commands of a line, in their order."""
    return list(_Splitter(line[:LONGEST]).split())


class _Splitter:
    """Walks over a line once."""

    def __init__(self, line: str) -> None:
        self._line = line
        self._at = 0
        self._command = Simple()
        self._word: list[str] | None = None
        self._target_follows = False

    def split(self) -> Iterator[Simple]:
        """Each command as it ends."""
        while self._at < len(self._line):
            found = _TOKEN.match(self._line, self._at)
            assert found is not None, "the last alternative takes anything"
            self._at = found.end()
            kind, token = found.lastgroup or "", found.group()
            if kind in ("join", "group"):
                yield from self._end_command(is_pipe=token in ("|", "|&"))
            else:
                self._take(kind, token)
        yield from self._end_command(is_pipe=False)

    def _take(self, kind: str, token: str) -> None:
        match kind:
            case "space" | "comment":
                self._end_word()
            case "redirect":
                self._end_word()
                self._target_follows = ">" in token and not token.endswith("&")
            case "inner":
                self._take_inner(token)
            case _:
                self._append(_unquoted(kind, token))
                if kind == "double" and ("$(" in token or "`" in token):
                    self._command.inner += _substitutions(token)

    def _take_inner(self, token: str) -> None:
        end = _closing(self._line, self._at, "`" if token == "`" else ")")
        self._command.inner.append(self._line[self._at : end])
        self._append(f"{token}…")
        self._at = min(len(self._line), end + 1)

    def _append(self, text: str) -> None:
        if self._word is None:
            self._word = []
        self._word.append(text)

    def _end_word(self) -> None:
        if self._word is None:
            return
        word = "".join(self._word)
        self._word = None
        if self._target_follows:
            self._command.writes_to.append(word)
            self._target_follows = False
        else:
            self._command.words.append(word)

    def _end_command(self, *, is_pipe: bool) -> Iterator[Simple]:
        self._end_word()
        ended = self._command
        if ended.words or ended.writes_to or ended.inner:
            yield ended
        self._command = Simple(is_fed=is_pipe)
        self._target_follows = False


def _unquoted(kind: str, token: str) -> str:
    match kind:
        case "single":
            return token.strip("'") if len(token) > 1 else ""
        case "double":
            return _IN_DOUBLE.sub(r"\1", token[1:-1] if len(token) > 1 and token.endswith('"') else token[1:])
        case "ansi":
            return _ESCAPE.sub(_letter, token[2:].removesuffix("'"))
        case "escape":
            return token[1:]
        case _:
            return token


def _letter(found: re.Match[str]) -> str:
    hexadecimal = found[1] or found[2]
    if hexadecimal:
        return chr(int(hexadecimal, 16))
    if found[3]:
        return chr(int(found[3], 8) & 0xFF)
    return _LETTERS.get(found[4], found[4])


def _closing(line: str, start: int, mark: str) -> int:
    """Where the substitution that begins here ends; the end of the line if it does not."""
    if mark == "`":
        end = line.find("`", start)
        return len(line) if end < 0 else end
    depth = 1
    for at in range(start, len(line)):
        depth += {"(": 1, ")": -1}.get(line[at], 0)
        if not depth:
            return at
    return len(line)


def _substitutions(quoted: str) -> Iterator[str]:
    """The commands inside a quoted word."""
    at = 0
    while (start := min((n for n in (quoted.find("$(", at), quoted.find("`", at)) if n >= 0), default=-1)) >= 0:
        is_old = quoted[start] == "`"
        begin = start + (1 if is_old else 2)
        end = _closing(quoted, begin, "`" if is_old else ")")
        yield quoted[begin:end]
        at = end + 1
