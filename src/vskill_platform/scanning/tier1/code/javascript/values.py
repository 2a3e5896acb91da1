"""What a scanner can know of a value in a JavaScript program: its text where it is fixed, what it refers to, "
"where it came from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from vskill_platform.scanning.tier1.code.hosts import UNKNOWN
from vskill_platform.scanning.tier1.code.origins import NOWHERE, Origin, Source

__all__ = [
    "LONGEST_TEXT",
    "NOTHING",
    "NOWHERE",
    "UNKNOWN",
    "Function",
    "Origin",
    "Source",
    "Value",
    "all_origins",
    "bounded",
    "text_of",
]
LONGEST_TEXT = 64 * 1024
MOST_ITEMS = 500
MOST_ORIGINS = 500
"""Origins of what a function gives; with more, each further one would cost more than the one before."""


@dataclass(slots=True, eq=False)
class Function:
    """A function of the program: where its parameters end up, and what it gives back."""

    key: int
    is_handler: bool = False
    is_used: bool = False
    """Whether it has been called before all of it was read."""
    length: int = 0
    """Tokens from its first to its last; 0 where it cannot be read again by itself."""
    result: Value | None = None
    """What it gave back when it was read last."""
    returns: frozenset[Origin] = NOWHERE
    resolved: Value | None = None
    """What it calls its first parameter with, as functions do that make a promise."""
    sinks: dict[int, set[tuple[str, str]]] = field(default_factory=dict)

    def add_sink(self, parameter: int, kind: str, detail: str) -> None:
        """Notes that a parameter ends up somewhere that matters."""
        kept = self.sinks.setdefault(parameter, set())
        if len(kept) < 20:
            kept.add((kind, detail))


@dataclass(slots=True, eq=False)
class Value:
    """One value. It is never changed; a class that says so takes twice as long to make one, and they are made by the million.

    `text` is its text where it is fixed, with `UNKNOWN` around the name of a piece that is not; None where nothing is known.
    `path` says what it refers to among modules and globals, such as `child_process.exec`. `is_built` says that the text was
    put together from pieces. `base` and `name` are those of a member.
    """

    text: str | None = None
    path: str = ""
    origins: frozenset[Origin] = NOWHERE
    is_built: bool = False
    items: tuple[Value, ...] | None = None
    fields: dict[str, Value] | None = None
    function: Function | None = None
    base: Value | None = None
    name: str = ""
    is_number: bool = False

    @property
    def is_known(self) -> bool:
        """Whether the text is fixed as a whole."""
        return self.text is not None and UNKNOWN not in self.text

    def comes_from(self, source: Source) -> bool:
        """Whether some of it comes from there."""
        return any(origin.source is source for origin in self.origins)

    def details(self, source: Source) -> list[str]:
        """What is known of the origins of one kind, in a fixed order."""
        return sorted(origin.detail for origin in self.origins if origin.source is source)

    def field(self, *names: str) -> Value:
        """The first of these fields that the object has."""
        found = (self.fields[name] for name in names if self.fields and name in self.fields)
        return next(found, NOTHING)

    def having(self, origins: Iterable[Origin]) -> Value:
        """The same value with more origins."""
        more = self.origins.union(origins)
        if len(more) == len(self.origins):
            return self
        return Value(
            self.text,
            self.path,
            more,
            self.is_built,
            self.items,
            self.fields,
            self.function,
            self.base,
            self.name,
            self.is_number,
        )


NOTHING = Value()


def all_origins(values: Iterable[Value]) -> frozenset[Origin]:
    """The origins of all values together."""
    return NOWHERE.union(*(value.origins for value in values))


def either_of(one: Value, other: Value) -> Value:
    """What is one or the other: the later, unless more is known of the one before."""
    is_more = one.path or one.items or one.fields or one.function or (one.text and not other.text)
    is_text = not (other.path or other.items or other.fields or other.function)
    return one.having(other.origins) if is_more and is_text else other.having(one.origins)


def text_of(value: Value, name: str = "?") -> str:
    """The text of a value, with a mark in its place where it is not known."""
    return value.text if value.text is not None else f"{UNKNOWN}{name}{UNKNOWN}"


def bounded(text: str) -> str | None:
    """The text, or None where it is longer than is kept."""
    return text if len(text) <= LONGEST_TEXT else None
