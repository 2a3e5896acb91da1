"""Reads a line of shell as the shell would: quotes removed, constants put in, as far as that can be known.

It keeps to single lines of bounded length. What it cannot work out stays as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from vskill_platform.scanning.tier1.views.collage import Change, Piece
from vskill_platform.scanning.tier1.views.shell_pipes import carried_out, said, words_of
from vskill_platform.scanning.tier1.views.shell_signs import ADJACENT_NAMES, TELLING_VALUE
from vskill_platform.scanning.tier1.views.shell_values import LONGEST_VALUE, ansi_c, parameter
from vskill_platform.scanning.tier1.views.shell_word import Part, Word, finished, meet

_TOKEN = re.compile(
    rb"""
    (?P<gap>[ \t\n;|&<>]+|\$\((?!\s*(?:echo|printf)\b|\)|[A-Za-z_][A-Za-z0-9_]*\))|[()]|\x60(?!\s*(?:echo|printf)\b|\x60))
    |(?P<continued>\\\r?\n)
    |(?P<escape>\\.)
    |(?P<ansi>\$'(?>[^'\\]|\\.)*+')
    |(?P<single>'[^']*+')
    |(?P<double>\$?"(?>[^"\\$]|\\.
        |\$\((?>[^()"'\\]|\\.|"(?>[^"\\]|\\.)*+"|'[^']*+')*+(?:\)|\Z)
        |\$)*+(?:"|\Z))
    |(?P<command>\$\([^()\x60]*+\)|\x60[^\x60]*+\x60)
    |(?P<parameter>\$\{[^{}]*+\}|\$[A-Za-z_][A-Za-z0-9_]*+|\$[@*0-9])
    |(?P<bare>[^\s;|&<>()\\'"$\x60]++)
    |(?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_IN_DOUBLE = re.compile(
    rb"\\(?P<sign>[\\\"$\x60])|\$\{(?P<braced>[^{}]*+)\}|\$(?P<name>[A-Za-z_][A-Za-z0-9_]*+)|(?P<command>\$\([^()\x60]*+\))"
)
_NESTED_QUOTES = re.compile(rb"(?<=[A-Za-z])(?:''|\"\")(?=[A-Za-z])")
_ASSIGNMENT = re.compile(rb"([A-Za-z_][A-Za-z0-9_]*)(\+?)=(.*)", re.DOTALL)
_MAKE_ASSIGNMENT = re.compile(rb"[ \t]*([A-Za-z_][A-Za-z0-9_]*)(?:[ \t]+[:?]?=|:=)[ \t]+([^\n]*)\n?")
_DECLARING = frozenset([b"export", b"local", b"readonly", b"declare", b"typeset", b"ARG", b"ENV", b"env", b"sudo"])
_OF_MACHINE = frozenset([b"HOME", b"USER", b"PWD", b"TMPDIR", b"HOSTNAME", b"LOGNAME", b"SHELL", b"PATH"])
"""Parameters that the machine sets: what they stand for is not known and hides nothing."""
_SIMPLE = re.compile(
    rb"[ \t]*(?:(?:export|local|readonly|declare|typeset|ARG|ENV)[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)(\+?)="
    rb"(?:\"([^\"$\x60\\]*)\"|'([^']*)'|([^\s\"'$\x60\\;&|()<>{}?*\[]*))[ \t]*;?[ \t]*"
)
_ASSIGNS = re.compile(rb"(?:^|[\s;&|(])([A-Za-z_][A-Za-z0-9_]*)\+?=")
_TELLING = re.compile(TELLING_VALUE.encode())
_ADJACENT = re.compile(ADJACENT_NAMES.encode())
_NAMES = re.compile(rb"\$[{(!]{0,2}([A-Za-z_][A-Za-z0-9_]*)")
_EXPANDS = re.compile(rb"[*?\[$]")
_PIECE = re.compile(rb"[^:]+:(?:[ \t]*[0-9]+|[ \t(]+-?[0-9]+\)?)(?::[ \t(]*-?[0-9]+\)?)?")
"""Some letters of what a parameter holds: behind a colon where they begin, and perhaps how many they are."""
_NEW_COMMAND = re.compile(rb"[;|&(\n\x60]")
MOST_CONSTANTS = 20_000
"""Constants that are remembered at a time; beyond it the oldest is forgotten."""


class ShellReader:
    """Reads line after line and remembers constants on the way."""

    def __init__(self) -> None:
        self._constants: dict[bytes, bytes] = {}
        self._odd: set[bytes] = set()
        self._telling: set[bytes] = set()
        self._command: list[bytes] = []

    def has_use_for(self, line: bytes) -> bool:
        """Whether a line without a trick is worth reading: it uses a constant that tells something, or several of them.

        A line that only sets a constant is noted at once.
        """
        if line.lstrip().startswith(b"#"):
            return False
        has_sign = b"=" in line
        if has_sign and (simple := _SIMPLE.fullmatch(line)):
            before = self._constants.get(simple[1], b"") if simple[2] else b""
            self._remember(simple[1], before + (simple[3] or simple[4] or simple[5] or b""))
            return False
        used = _NAMES.findall(line) if b"$" in line else ()
        if used and not self._telling.isdisjoint(used):
            return True
        if used and has_sign and not set(_ASSIGNS.findall(line)).isdisjoint(used):
            return True
        if used and not self._constants.keys().isdisjoint(used) and _ADJACENT.search(line):
            return True
        return b":=" in line and _MAKE_ASSIGNMENT.fullmatch(line) is not None

    def read(self, line: bytes, start: int) -> Iterator[Piece]:
        """The words of a line that read otherwise than they are written; `start` is where in the file it stands."""
        if made := _MAKE_ASSIGNMENT.fullmatch(line):
            self._remember(made[1], self._double(made[2].strip()).value)
        for word in self._words(line):
            if word.is_plain:
                continue
            value, change = finished(word)
            if change is not Change.NONE:
                yield Piece(value, start + word.start, start + word.end, change)

    def _words(self, line: bytes) -> Iterator[Word]:
        word: Word | None = None
        starts_command = True
        for token in _TOKEN.finditer(line):
            if token.lastgroup != "gap":
                if word is None:
                    if token[0].startswith(b"#"):
                        break
                    word = Word(token.start(), starts_command)
                word.parts.append(self._part(token))
                word.end = token.end()
                continue
            if word is not None:
                if token[0].startswith((b"$(", b"\x60")):
                    word.parts.append(Part(b"", Change.NONE, is_known=False))
                yield self._noted(word)
                starts_command = word.starts_command and _leaves_room(word)
                word = None
            if _NEW_COMMAND.search(token[0]):
                self._end_command()
                starts_command = True
        if word is not None:
            yield self._noted(word)
        self._end_command()

    def _noted(self, word: Word) -> Word:
        """Remembers the constant that a word assigns."""
        found = _ASSIGNMENT.fullmatch(word.value) if word.starts_command else None
        if found is None:
            self._command.append(word.value)
        elif word.is_known:
            name, adds, value = found[1], found[2], found[3]
            is_odd = max(part.change for part in word.parts) is Change.TRICK
            self._remember(name, self._constants.get(name, b"") + value if adds else value, is_odd=is_odd)
        else:
            self._constants.pop(found[1], None)
        return word

    def _end_command(self) -> None:
        """Remembers the constants that `printf -v name ...` and a loop over one word set."""
        match self._command[:20]:
            case [b"printf", b"-v", name, *words] if words:
                self._remember(name, said([b"printf", b"--", *words]), is_odd=True)
            case [b"for", name, b"in", value] if not _EXPANDS.search(value):
                self._remember(name, value)
        self._command = []

    def _remember(self, name: bytes, value: bytes, *, is_odd: bool = False) -> None:
        if len(self._constants) >= MOST_CONSTANTS:
            del self._constants[next(iter(self._constants))]
        self._constants[name] = value[:LONGEST_VALUE]
        if is_odd:
            self._odd.add(name)
        if is_odd or _TELLING.search(value):
            self._telling.add(name)

    def _part(self, token: re.Match[bytes]) -> Part:
        text = token[0]
        match token.lastgroup:
            case "continued":
                return Part(b"", Change.ORDINARY)
            case "escape":
                return Part(text[1:], Change.TRICK if text[1:].isalnum() else Change.NONE, is_quoting=True)
            case "ansi":
                plain = ansi_c(text[2:-1])
                return Part(plain, Change.TRICK if plain != text[2:-1] else Change.NONE, is_quoting=True)
            case "single":
                return _in_quotes(text[1:-1], Change.NONE)
            case "double":
                return self._double(text.removeprefix(b"$")[1:-1])
            case "command":
                return self._substituted(text)
            case "parameter":
                return self._parameter(text)
            case _:
                return Part(text, Change.NONE, is_bare=True)

    def _double(self, inside: bytes) -> Part:
        """What stands between double quotes, with the parameters that are known."""
        if b"$" not in inside and b"\\" not in inside:
            return _in_quotes(inside, Change.NONE)
        parts: list[Part] = []

        def replaced(found: re.Match[bytes]) -> bytes:
            if found["sign"] is not None:
                return found["sign"]
            parts.append(self._substituted(found[0]) if found["command"] else self._parameter(found[0]))
            return parts[-1].value

        plain = _IN_DOUBLE.sub(replaced, inside)[:LONGEST_VALUE]
        change = max((part.change for part in parts), default=Change.NONE)
        if _ADJACENT.search(inside) and any(meet(left, right) for left, right in pairwise(parts)):
            change = Change.TRICK
        whole = _in_quotes(plain, change)
        whole.is_known = all(part.is_known for part in parts) and b"\x60" not in inside
        whole.is_variable = bool(parts)
        return whole

    def _parameter(self, text: bytes) -> Part:
        inside = text[2:-1] if text[:2] == b"${" else text[1:]
        if inside[:1] in b"@*0123456789" and inside:
            return Part(text, Change.NONE, is_known=False, is_variable=True)
        value = parameter(inside, self._constants)
        if value is None:
            return Part(text, Change.NONE, is_known=inside in _OF_MACHINE)
        separators = self._constants.get(b"IFS", b"")
        if separators and not inside.startswith(b"IFS"):
            value = value.translate(bytes.maketrans(separators, b" " * len(separators)))
        is_odd = inside in self._odd or _is_odd(inside)
        return Part(value, Change.TRICK if is_odd else Change.ORDINARY, is_variable=True)

    def _substituted(self, text: bytes) -> Part:
        """What a command in `$( )` prints, where it prints a constant; in a Makefile, what the name stands for."""
        inside = text[2:-1] if text.startswith(b"$(") else text[1:-1]
        if not inside.strip():
            return Part(b"", Change.TRICK)
        if inside in self._constants:
            return Part(self._constants[inside], Change.ORDINARY, is_variable=True)
        plain = self._double(inside) if b"$" in inside else None
        if plain is not None and not plain.is_known:
            return Part(text, Change.NONE, is_known=False)
        command = inside if plain is None else plain.value
        try:
            value = carried_out(command) if b"|" in command else said(words_of(command))
        except ValueError:
            return Part(text, Change.NONE, is_known=False)
        return Part(value.rstrip(b"\n")[:LONGEST_VALUE], Change.TRICK)


def _is_odd(inside: bytes) -> bool:
    """Whether a parameter is asked for in a way that only hides what it is."""
    return inside.startswith((b"!", b"IFS")) or _PIECE.fullmatch(inside) is not None


def _leaves_room(word: Word) -> bool:
    """Whether a command can still follow: behind assignments and words such as `export`."""
    value = word.value
    return _ASSIGNMENT.fullmatch(value) is not None or value in _DECLARING or value in (b"$", b">")


def _in_quotes(inside: bytes, change: Change) -> Part:
    plain = _NESTED_QUOTES.sub(b"", inside)
    return Part(plain, Change.TRICK if plain != inside else change, is_quoting=True)
