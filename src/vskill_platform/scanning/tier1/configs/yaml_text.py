"""Reads YAML from the events of its parser. Nothing is resolved: `no` and `1.0` stay what was written.

The parser takes time that grows with the square of the nesting, but reads little ahead of the event it gives; stopping at the
first event that is too deep is enough.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from vskill_platform.scanning.tier1.configs.structured import MOST_BYTES, Collector, Entry, Reading

if TYPE_CHECKING:
    import yaml


def read_yaml(text: str, *, first_line: int = 1) -> Reading:
    """The values of the text, of all its documents. Its first line has the number `first_line`."""
    # Most skills have no YAML that is looked at, and the parser takes long to import.
    import yaml

    reader = _Reader(first_line)
    with closing(yaml.parse(text[:MOST_BYTES], Loader=yaml.CSafeLoader)) as events:
        try:
            for event in events:
                reader.take(event)
                if reader.collector.is_full:
                    break
        except (yaml.YAMLError, UnicodeError, ValueError):
            reader.collector.is_broken = True
    reading = reader.collector.end()
    if reading.is_broken and not reading.entries:
        reading = _lines_of(text, first_line)
    return reading._replace(is_cut=True) if len(text) > MOST_BYTES else reading


class _Named(NamedTuple):
    """What an anchor names: the entries from one number to another, below these keys."""

    first: int
    last: int
    keys: tuple[str, ...]


class _Reader:
    """Takes events one by one."""

    def __init__(self, first_line: int) -> None:
        self.collector = Collector()
        self._first_line = first_line
        self._texts: dict[str, str] = {}
        self._named: dict[str, _Named] = {}
        self._open: list[tuple[str | None, int, tuple[str, ...]]] = []

    def take(self, event: object) -> None:
        """The next event."""
        import yaml

        if isinstance(event, yaml.ScalarEvent):
            if event.anchor:
                self._texts[event.anchor] = event.value
            self._take_text(event.value, self._line(event))
        elif isinstance(event, yaml.AliasEvent):
            self._take_alias(event.anchor or "", self._line(event))
        elif isinstance(event, yaml.CollectionStartEvent):
            self._begin(event, is_mapping=isinstance(event, yaml.MappingStartEvent))
        elif isinstance(event, yaml.CollectionEndEvent):
            self._end(is_mapping=isinstance(event, yaml.MappingEndEvent))

    def _take_text(self, text: str, line: int) -> None:
        if self.collector.needs_key:
            self.collector.take_key(text)
        else:
            self.collector.take_value(text, line)

    def _take_alias(self, name: str, line: int) -> None:
        """What the alias stands for, once more, at its place. A file that grows by this ends at the most entries."""
        named = self._named.get(name)
        if named is None or self.collector.needs_key:
            self._take_text(self._texts.get(name, ""), line)
            return
        self.collector.repeat(named.first, named.last, below=len(named.keys), line=line)

    def _begin(self, event: yaml.CollectionStartEvent, *, is_mapping: bool) -> None:
        if self.collector.needs_key:
            self.collector.is_broken = True
            self.collector.take_key("?")
        self._open.append((event.anchor, len(self.collector.entries), self.collector.keys))
        self.collector.open(is_mapping=is_mapping, line=self._line(event))

    def _end(self, *, is_mapping: bool) -> None:
        self.collector.close(is_mapping=is_mapping)
        anchor, first, keys = self._open.pop()
        if anchor:
            self._named[anchor] = _Named(first, len(self.collector.entries), keys)

    def _line(self, event: yaml.Event) -> int:
        return self._first_line + (event.start_mark.line if event.start_mark else 0)


def _lines_of(text: str, first_line: int) -> Reading:
    """What is written as `key: value`, line by line, where there is no other way."""
    found = []
    for number, line in enumerate(text[:MOST_BYTES].split("\n"), start=first_line):
        key, is_pair, value = line.strip().removeprefix("- ").partition(":")
        if is_pair:
            found.append(Entry((key.strip("\"' "),), value.strip("\"' "), number))
    return Reading(found, is_broken=True)
