"""Makefiles as the shell gets them: recipes with the variables put in that make knows, and the commands that make runs itself.

Which of several values a variable has may depend on the machine, so that the first and the last of them are both read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

LONGEST_VALUE = 1_000
LONGEST_LINE = 20_000
MOST_EXPANDED = 2_000_000
"""Characters that all lines together may become: more than a reader of shell takes, who then says that something is unread."""
DEEPEST = 12
_DEFINITION = re.compile(
    r" {0,3}(?:export[ \t]+|override[ \t]+){0,2}([A-Za-z_][\w.-]{0,100})[ \t]*(?:(\+)|\?|:{1,3}|!)?=[ \t]*(.*)"
)
_NAME = re.compile(r"[A-Za-z_][\w.-]*")
_FUNCTION = re.compile(r"(subst|strip|shell|addprefix|addsuffix|firstword|lastword)[ \t]+")
_BRACKET = re.compile(r"[(){}]")
_QUOTE = re.compile(r"['\"]")
_PAIRS = {"(": ")", "{": "}"}
_RUN = re.compile("\x01(\\d+)\x02")
"""What stands for the output of a command that make runs, until it is known between which quotes that is."""


def recipes(lines: Sequence[str]) -> Iterator[str]:
    """The shell code of a Makefile, line for line: once, or twice where variables have more than one value."""
    first, last = _definitions(lines)
    yield _text(lines, last)
    if first != last:
        yield _text(lines, first)


def _text(lines: Sequence[str], variables: Mapping[str, str]) -> str:
    expansion, made, left = _Expansion(variables), list[str](), MOST_EXPANDED
    is_continued = False
    for line in lines:
        given = line if left < 0 or len(line) > LONGEST_LINE else expansion.of(line.replace("\x01", " "))
        is_recipe = line.startswith(("\t", "    "))
        code = _recipe(given, is_continued=is_continued) if is_recipe else ""
        made.append(expansion.with_commands(code) if is_recipe else _own_commands(line, given, expansion))
        left -= len(made[-1])
        is_continued = line.endswith("\\")
    return "\n".join(made)


def _recipe(line: str, *, is_continued: bool) -> str:
    """A line of a recipe with the sigils of make taken off, which only stand before a command."""
    return line.lstrip("\t " if is_continued else "\t @-+").replace("$$", "$")


def _own_commands(line: str, expanded: str, expansion: _Expansion) -> str:
    """The commands that make runs while it reads a line; nothing of a line that has none."""
    if line.lstrip().startswith("#") or "shell" not in line:
        return ""
    return "; ".join(expansion.command(int(found[1])) for found in _RUN.finditer(expanded))


def _definitions(lines: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    """The first and the last value of each variable."""
    first: dict[str, str] = {}
    last: dict[str, str] = {}
    for line in lines:
        found = _DEFINITION.match(line) if "=" in line and not line.startswith("\t") else None
        if found is None:
            continue
        name, value = found[1], found[3].rstrip()[: LONGEST_VALUE * 2].replace("\x01", " ")
        if found[2] and name in last:
            is_only = first[name] == last[name]
            last[name] = f"{last[name]} {value}"[: LONGEST_VALUE * 2]
            first[name] = last[name] if is_only else first[name]
        else:
            first.setdefault(name, value)
            last[name] = value
    return first, last


class _Expansion:
    """Puts values in place of references, as far as there are some. Each variable is asked once."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables
        self._known: dict[str, str | None] = {}
        self._commands: list[str] = []

    def of(self, text: str, *, depth: int = 0, longest: int = LONGEST_LINE) -> str:
        """The text with its references carried out; those that nothing is known of stay, and all where it becomes too long."""
        if "$" not in text or depth > DEEPEST:
            return text
        closing, parts, at, length = _closing(text), list[str](), 0, len(text)
        while (sign := text.find("$", at)) >= 0 and length <= longest:
            end = closing.get(sign + 1)
            value = self._value(text[sign + 2 : end], depth + 1) if end is not None else None
            stop = sign + 2 if end is None else end + 1
            parts += [text[at:sign], text[sign:stop] if value is None else value]
            length += len(value or "")
            at = stop
        return "".join([*parts, text[at:]])

    def command(self, number: int, *, depth: int = 0) -> str:
        """A command that make runs, as a shell reads it."""
        return self.with_commands(self._commands[number].replace("$$", "$"), depth=depth + 1)

    def with_commands(self, code: str, *, depth: int = 0) -> str:
        """Shell code with the commands in it whose output make puts there; what they print is no code, and no quotes hold it."""
        if "\x01" not in code:
            return code
        parts, at, quote = list[str](), 0, ""
        for found in _RUN.finditer(code):
            quote = _quote_behind(code[at : found.start()], quote)
            inner = self.command(int(found[1]), depth=depth) if depth < DEEPEST else ""
            parts += [code[at : found.start()], f"'\"$({inner})\"'" if quote == "'" else f"$({inner})"]
            at = found.end()
        return "".join([*parts, code[at:]])[: LONGEST_LINE * 2]

    def _value(self, inside: str, depth: int) -> str | None:
        if _NAME.fullmatch(inside):
            return self._variable(inside, depth)
        found = _FUNCTION.match(inside)
        if found is None:
            return None
        rest = inside[found.end() :]
        if found[1] == "shell":
            self._commands.append(self.of(rest, depth=depth))
            return f"\x01{len(self._commands) - 1}\x02"
        wanted = {"subst": 3, "addprefix": 2, "addsuffix": 2}.get(found[1], 1)
        given = [self.of(part, depth=depth) for part in rest.split(",", wanted - 1)]
        return _FUNCTIONS[found[1]](given)[:LONGEST_VALUE] if len(given) == wanted else None

    def _variable(self, name: str, depth: int) -> str | None:
        if name not in self._known and name in self._variables:
            self._known[name] = None
            value = self.of(self._variables[name], depth=depth, longest=LONGEST_VALUE)
            self._known[name] = value if len(value) <= LONGEST_VALUE * 3 else None
        return self._known.get(name)


_FUNCTIONS: dict[str, Callable[[list[str]], str]] = {
    "subst": lambda given: given[2].replace(given[0], given[1]) if given[0] else given[2] + given[1],
    "strip": lambda given: " ".join(given[0].split()),
    "addprefix": lambda given: " ".join(given[0] + word for word in given[1].split()),
    "addsuffix": lambda given: " ".join(word + given[0] for word in given[1].split()),
    "firstword": lambda given: "".join(given[0].split()[:1]),
    "lastword": lambda given: "".join(given[0].split()[-1:]),
}


def _closing(text: str) -> dict[int, int]:
    """Where each bracket closes, in one pass."""
    opened: dict[str, list[int]] = {")": [], "}": []}
    closing: dict[int, int] = {}
    for found in _BRACKET.finditer(text):
        sign = found[0]
        if sign in _PAIRS:
            opened[_PAIRS[sign]].append(found.start())
        elif opened[sign]:
            closing[opened[sign].pop()] = found.start()
    return closing


def _quote_behind(text: str, quote: str) -> str:
    """The quote that is open behind a stretch of shell code."""
    for sign in _QUOTE.findall(text):
        if quote in {"", sign}:
            quote = "" if quote else sign
    return quote
