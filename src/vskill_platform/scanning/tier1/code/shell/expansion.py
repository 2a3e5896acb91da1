"""From words to values: what a shell makes of variables, substitutions, braces and spaces before it runs a command."""

from __future__ import annotations

import re
from collections.abc import Callable

from vskill_platform.scanning.tier1.code.hosts import UNKNOWN
from vskill_platform.scanning.tier1.code.shell.syntax import Part, Program, Substitution, Text, Variable, Word
from vskill_platform.scanning.tier1.code.shell.values import NOTHING, Origin, Source, Value, bounded, joined, unknown

MOST_FIELDS = 200
MOST_ALTERNATIVES = 64
LONGEST_SPREAD = 1_000
_SPACE = re.compile(r"[ \t\n]+")
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
_SLICE = re.compile(r"\s*(-?\d{1,6})(?:\s*:\s*(-?\d{1,6}))?\s*\Z")
_GLOB = re.compile(r"[*?\[]")
_DEFAULTS = {"IFS": " \t\n", "HOME": "~", "PWD": ".", "OLDPWD": ".", "SHELL": "/bin/bash", "BASH": "/bin/bash"}
"""Variables that every shell has."""
_MACHINE = {
    "HOSTNAME": "host",
    "HOST": "host",
    "COMPUTERNAME": "host",
    "USER": "user",
    "LOGNAME": "user",
    "USERNAME": "user",
}
"""Variables that tell one machine from another."""

RunProgram = Callable[[Program], Value]
NamePipe = Callable[[Program, str], Value]


class Variables:
    """The variables of a shell, those with one value and those with several."""

    def __init__(self) -> None:
        self._values: dict[str, Value] = {}
        self._lists: dict[str, list[Value]] = {}
        self.arguments: list[Value] | None = None

    def set(self, name: str, value: Value, *, is_added: bool = False) -> None:
        """Gives a variable its value, or adds to the one it has."""
        before = self._values.get(name, NOTHING) if is_added else NOTHING
        self._values[name] = joined((before, value)) if is_added else value
        self._lists.pop(name, None)

    def set_list(self, name: str, values: list[Value], *, is_added: bool = False) -> None:
        """Gives a variable several values."""
        before = self._lists.get(name, []) if is_added else []
        self._lists[name] = (before + values)[:MOST_FIELDS]
        self._values[name] = self._lists[name][0] if self._lists[name] else NOTHING

    def is_set(self, name: str) -> bool:
        """Whether the text has given it a value."""
        return name in self._values

    def get(self, name: str) -> Value:
        """What a variable holds; what only the running shell knows of it is unknown."""
        if name in self._values:
            held = self._values[name]
            return held if held.text or held.origins else Value("", frozenset([Origin(Source.VARIABLE, name)]))
        if name in _DEFAULTS:
            return Value(_DEFAULTS[name])
        if name.isdigit() or name in "@*":
            return self._argument(name)
        if not name or not (name[0].isalpha() or name[0] == "_"):
            return unknown(name)
        origins = [Origin(Source.VARIABLE, name)]
        if name in _MACHINE:
            origins.append(Origin(Source.MACHINE, _MACHINE[name]))
        return unknown(name, origins=origins)

    def all_of(self, name: str) -> list[Value]:
        """The values of a list, or of all arguments."""
        if name in "@*":
            return self.arguments if self.arguments is not None else [self._argument(name)]
        return self._lists.get(name) or [self.get(name)]

    def _argument(self, name: str) -> Value:
        if self.arguments is None or name == "0":
            return unknown(name, origins=[Origin(Source.ARGUMENT, name)])
        if name in "@*":
            return joined(self.arguments, by=" ")
        return self.arguments[int(name) - 1] if int(name) <= len(self.arguments) else NOTHING


class Expander:
    """Expands words with these variables. `run` gives what a program prints, `name_pipe` the path of a pipe to or "
    "from one."""

    def __init__(self, variables: Variables, *, run: RunProgram, name_pipe: NamePipe) -> None:
        self._variables = variables
        self._run = run
        self._name_pipe = name_pipe

    def fields(self, word: Word) -> list[Value]:
        """What becomes of one word: mostly one value, none or many after braces, spaces and lists."""
        if len(word.parts) == 1 and isinstance(word.parts[0], Text) and "{" not in word.parts[0].text:
            return [Value(word.parts[0].text)]
        if fixed := _fixed_text(word):
            return [Value(bounded(fixed))]
        alternatives = _alternatives(word)
        if alternatives:
            return [Value(text) for text in alternatives]
        done: list[Value] = []
        current: list[Value] = []
        for part in word.parts:
            pieces = self._pieces(part)
            if len(pieces) > 1:
                done.append(joined([*current, pieces[0]]))
                done += pieces[1:-1]
                current = [pieces[-1]]
            elif pieces:
                current += pieces
        if current or not word.parts:
            done.append(joined(current) if current else NOTHING)
        may_vanish = len(word.parts) != 1 and not all(value.text for value in done)
        if may_vanish and not any(part.is_quoted for part in word.parts):
            done = [value for value in done if not value.is_empty]
        return done[:MOST_FIELDS]

    def value(self, word: Word) -> Value:
        """What becomes of a word where it stays one, as behind `=` or a redirection."""
        if len(word.parts) == 1:
            return self._part(word.parts[0])
        if fixed := _fixed_text(word):
            return Value(bounded(fixed))
        return joined(map(self._part, word.parts)) if word.parts else NOTHING

    def _pieces(self, part: Part) -> list[Value]:
        """The value of a part, taken apart at spaces where it has no quotes."""
        if isinstance(part, Text):
            return [Value(part.text)]
        if isinstance(part, Variable) and _is_all(part):
            return self._variables.all_of(part.name) or [NOTHING]
        value = self._part(part)
        if part.is_quoted or not _SPACE.search(value.text):
            return [value]
        return [Value(piece, value.origins) for piece in _SPACE.split(value.text)[:MOST_FIELDS]]

    def _part(self, part: Part) -> Value:
        if isinstance(part, Text):
            return Value(part.text)
        if isinstance(part, Substitution):
            if part.direction:
                return self._name_pipe(part.program, part.direction)
            found = self._run(part.program)
            return found.with_text(found.text.rstrip("\n"))
        return self._variable(part)

    def _variable(self, part: Variable) -> Value:
        held = self._held(part)
        if not part.operator:
            return held
        if part.operator[0] == "!":
            return self._variables.get(held.text) if held.is_known else held
        if part.operator[0] == "#":
            return unknown("length")
        operand = self.value(part.operand) if part.operand else NOTHING
        return self._operated(part, held, operand)

    def _held(self, part: Variable) -> Value:
        if not part.key:
            return self._variables.get(part.name)
        values = self._variables.all_of(part.name)
        if part.key in "@*":
            return joined(values, by=" ")
        number = int(part.key) if re.fullmatch(r"-?\d{1,4}", part.key) else 0
        return values[number] if -len(values) <= number < len(values) else NOTHING

    def _operated(self, part: Variable, held: Value, operand: Value) -> Value:
        sign = part.operator
        is_unset = held.text == "" or (not held.is_known and not self._variables.is_set(part.name))
        if sign in {":-", "-", ":=", "="}:
            if is_unset and sign in {":=", "="}:
                self._variables.set(part.name, operand)
            return operand.having(Source.VARIABLE, part.name) if is_unset else held
        if sign in {":+", "+"}:
            return operand
        if sign in {":?", "?"} and not held.is_known:
            # The shell stops where it is empty, so it never is.
            return unknown(f"{part.name}:?", origins=held.origins)
        if sign in {":?", "?"} or not held.is_known:
            return held
        return held.with_text(_changed(held.text, sign, operand.text))


def _is_all(part: Variable) -> bool:
    return not part.operator and (part.name in "@*" or part.key == "@")


def _changed(text: str, sign: str, operand: str) -> str:
    """What `${name<sign><operand>}` makes of a fixed text; patterns count where they are plain."""
    if sign == ":" and (found := _SLICE.match(operand)):
        start = int(found[1])
        length = int(found[2]) if found[2] else len(text)
        return text[start:][:length]
    if sign[0] == "/":
        old, _, new = operand.partition("/")
        return text if not old or _GLOB.search(old) else text.replace(old, new, -1 if sign == "//" else 1)
    if sign[0] == "^":
        return text.upper() if sign == "^^" else text[:1].upper() + text[1:]
    if sign[0] == ",":
        return text.lower()
    return _trimmed(text, sign, operand)


def _trimmed(text: str, sign: str, pattern: str) -> str:
    """Without a beginning (`#`) or an end (`%`): plain text, or up to a character behind a single `*`."""
    star = pattern.startswith("*") if sign[0] == "#" else pattern.endswith("*")
    plain = pattern.strip("*") if star else pattern
    if not plain or _GLOB.search(plain):
        return text
    if not star:
        return text.removeprefix(plain) if sign[0] == "#" else text.removesuffix(plain)
    find = text.find if sign in {"#", "%%"} else text.rfind
    at = find(plain)
    if at < 0:
        return text
    return text[at + len(plain) :] if sign[0] == "#" else text[:at]


def _fixed_text(word: Word) -> str:
    """The text of a word that holds nothing but text and stands for nothing else; empty for others."""
    texts: list[str] = []
    for part in word.parts:
        if not isinstance(part, Text) or (not part.is_quoted and "{" in part.text):
            return ""
        texts.append(part.text)
    return "".join(texts)


def _alternatives(word: Word) -> list[str]:
    """The texts that `{a,b}` stands for, where the word holds nothing but text; at most a few dozen, or none."""
    has_braces = False
    for part in word.parts:
        if not isinstance(part, Text):
            return []
        has_braces = has_braces or (not part.is_quoted and "{" in part.text)
    if not has_braces:
        return []
    texts = ["".join(part.text for part in word.parts if isinstance(part, Text))]
    while len(texts) < MOST_ALTERNATIVES:
        spread = [one for text in texts for one in _spread(text)]
        if len(spread) == len(texts):
            break
        texts = spread
    return texts[:MOST_ALTERNATIVES] if len(texts) > 1 else []


def _spread(text: str) -> list[str]:
    found = _BRACES.search(text) if UNKNOWN not in text and len(text) <= LONGEST_SPREAD else None
    if not found:
        return [text]
    choices = found[1].split(",", MOST_ALTERNATIVES)[:MOST_ALTERNATIVES]
    return [f"{text[: found.start()]}{choice}{text[found.end() :]}" for choice in choices]
