"""Reads JSON, YAML, TOML and INI files as flat lists of values with their keys and lines, under limits.

A value that is given twice stands in the list twice: programs differ in which one they obey, so both count. Nothing is
resolved, nothing is deep, and what cannot be read properly is read as far as possible and marked: a broken file may be whole
to another program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

MOST_BYTES = 1024 * 1024
MOST_ENTRIES = 20_000
DEEPEST = 64


class Entry(NamedTuple):
    """A value that is no collection. `keys` leads to it from outside; a place in a list counts as a key, in digits.

    An empty collection is an entry with an empty value.
    """

    keys: tuple[str, ...]
    value: str
    line: int

    @property
    def key(self) -> str:
        """The last key that is no place in a list."""
        return next((key for key in reversed(self.keys) if not key.isdecimal()), "")

    @property
    def names(self) -> tuple[str, ...]:
        """The keys without places in lists."""
        return tuple(key for key in self.keys if not key.isdecimal())


class Reading(NamedTuple):
    """The values of a file. `is_broken`: it is not what it should be. `is_cut`: there is more than was read."""

    entries: Sequence[Entry] = ()
    is_broken: bool = False
    is_cut: bool = False


Reader = Callable[[str], Reading]


class Collector:
    """Takes the parts of a document one by one and knows which keys lead to the next value."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.is_broken = False
        self.is_full = False
        self._levels: list[_Level] = []

    @property
    def is_in_mapping(self) -> bool:
        """Whether the next thing is a key or the value of one."""
        return bool(self._levels) and self._levels[-1].is_mapping

    @property
    def needs_key(self) -> bool:
        """Whether the next thing is a key."""
        return self.is_in_mapping and self._levels[-1].key is None

    def take_key(self, key: str) -> None:
        """The next value belongs to this key."""
        self._levels[-1].key = key

    def take_value(self, value: str, line: int) -> None:
        """A value that is no collection."""
        self.entries.append(Entry(self.keys, value, line))
        self.is_full = self.is_full or len(self.entries) >= MOST_ENTRIES
        self._advance()

    def repeat(self, first: int, last: int, *, below: int, line: int) -> None:
        """The entries from one number to another once more, here, without the first keys that led to them."""
        for entry in self.entries[first : min(last, first + MOST_ENTRIES - len(self.entries))]:
            self.entries.append(Entry((*self.keys, *entry.keys[below:])[:DEEPEST], entry.value, line))
        self.is_full = self.is_full or len(self.entries) >= MOST_ENTRIES
        self._advance()

    def open(self, *, is_mapping: bool, line: int) -> None:
        """A collection begins."""
        if len(self._levels) >= DEEPEST:
            self.is_full = True
            return
        self._levels.append(_Level(self.keys, is_mapping, line, len(self.entries)))

    def close(self, *, is_mapping: bool) -> None:
        """A collection ends."""
        if not self._levels or self._levels[-1].is_mapping is not is_mapping:
            self.is_broken = True
            return
        level = self._levels.pop()
        if level.entries_before == len(self.entries):
            self.entries.append(Entry(level.keys, "", level.line))
        self._advance()

    def end(self) -> Reading:
        """All that was taken. Nothing more should be given once `is_full`."""
        is_broken = self.is_broken or (bool(self._levels) and not self.is_full)
        return Reading(self.entries, is_broken=is_broken, is_cut=self.is_full)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that lead to the next value."""
        if not self._levels:
            return ()
        level = self._levels[-1]
        return (*level.keys, (level.key or "") if level.is_mapping else str(level.count))

    def _advance(self) -> None:
        if self._levels:
            self._levels[-1].key = None
            self._levels[-1].count += 1


class _Level:
    """A collection that is being read."""

    __slots__ = ("count", "entries_before", "is_mapping", "key", "keys", "line")

    def __init__(self, keys: tuple[str, ...], is_mapping: bool, line: int, entries_before: int) -> None:
        self.keys = keys
        self.is_mapping = is_mapping
        self.line = line
        self.entries_before = entries_before
        self.key: str | None = None
        self.count = 0


def below(entries: Iterable[Entry], *, depth: int) -> dict[tuple[str, ...], list[Entry]]:
    """The entries by their first keys: all that share `depth` of them belong to one thing."""
    found: dict[tuple[str, ...], list[Entry]] = {}
    for entry in entries:
        if len(entry.keys) > depth:
            found.setdefault(entry.keys[:depth], []).append(entry)
    return found
