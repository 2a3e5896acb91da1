"""What a shell text consists of: words made of parts, commands made of words, and commands in pipelines and branches.

Nothing of it is changed once it has been read. The classes do not say so, because those that do take twice as long to make.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Text:
    """Characters that stand for themselves. `is_spelled` says that they were given as character codes."""

    text: str
    is_quoted: bool
    is_spelled: bool = False


@dataclass(slots=True)
class Variable:
    """`$name` or `${name...}` with what follows the name: `operator` such as `:-`, and its `operand`."""

    name: str
    is_quoted: bool
    operator: str = ""
    operand: Word | None = None
    key: str = ""


@dataclass(slots=True)
class Substitution:
    """`$(...)`, backticks, `<(...)` or `>(...)`; `direction` is empty for the first two."""

    program: Program
    is_quoted: bool
    direction: str = ""


Part = Text | Variable | Substitution


@dataclass(slots=True)
class Word:
    """Parts without a space between them. `start` and `end` are offsets in the text that it was read from."""

    parts: tuple[Part, ...]
    start: int
    end: int


@dataclass(slots=True)
class Redirection:
    """`operator` with the file, descriptor or text behind it; of a here-document, the word is its text."""

    descriptor: str
    operator: str
    target: Word


@dataclass(slots=True)
class Assignment:
    """`name=value`, or `name=(...)` with several values."""

    name: str
    value: Word
    is_added: bool = False
    values: tuple[Word, ...] | None = None


@dataclass(slots=True)
class Simple:
    """A command as it is typed: assignments, a name with arguments, redirections."""

    at: int
    assignments: tuple[Assignment, ...]
    words: tuple[Word, ...]
    redirections: tuple[Redirection, ...] = ()


@dataclass(slots=True)
class Compound:
    """Commands inside commands: a group, a loop, a branch.

    `conditions` run before `bodies`. `name` and `words` are those of a `for` or a `case`.
    """

    at: int
    kind: str
    conditions: tuple[Program, ...] = ()
    bodies: tuple[Program, ...] = ()
    name: str = ""
    words: tuple[Word, ...] = ()
    redirections: tuple[Redirection, ...] = ()


@dataclass(slots=True)
class Function:
    """A function's definition."""

    at: int
    name: str
    body: Program


Command = Simple | Compound | Function


@dataclass(slots=True)
class Pipeline:
    """Commands, each fed by the one before. `ending` is what stands behind them: `&`, `&&`, `||`, or nothing of note."""

    commands: tuple[Command, ...]
    ending: str = ""


@dataclass(slots=True)
class Program:
    """Pipelines in the order in which they stand."""

    pipelines: list[Pipeline] = field(default_factory=list)
