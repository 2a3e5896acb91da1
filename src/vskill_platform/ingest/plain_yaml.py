"""YAML as frontmatter needs it: text, lists and mappings, built from the parser's events under caps.

Nothing is ever resolved. A scalar stays the text that was written, so `1.0` is not a number and `no` is not a boolean.
Aliases, anchors, tags, merge keys, duplicate keys and second documents are refused: they are how a small file becomes a
large one, or means one thing to this program and another to the client that installs the skill.

libyaml takes time that grows with the square of the nesting, but it reads at most 1,024 characters ahead of the event it
gives. Stopping at the first event that is too deep is therefore enough; no scan before the parser is needed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from typing import NamedTuple, Protocol, TypeAlias

import yaml

from vskill_platform.ingest.refusals import Place, duplicate_key, refuse, refuse_controls, refuse_escaped_controls

MAX_DEPTH = 16
MAX_NODES = 2000
MAX_SCALAR_CHARACTERS = 16 * 1024

Value: TypeAlias = "str | list[Value] | dict[str, Value]"


class _Mark(Protocol):
    """A place as the parser counts, from 0."""

    @property
    def line(self) -> int: ...
    @property
    def column(self) -> int: ...


class SyntaxFault(NamedTuple):
    """Where and why a text is no YAML."""

    place: Place
    reason: str


class Document(NamedTuple):
    """What a text says, with the lines of its top-level keys and where the unquoted values of those end.

    `odd_keys` are the places of keys that are lists or mappings; they and their values are left out. `flows` are the places
    of lists and mappings in brackets.
    """

    value: Value | None
    key_lines: dict[str, int]
    plain_ends: dict[str, Place]
    odd_keys: list[Place]
    flows: list[Place]


def read_yaml(text: str, *, first_line: int) -> Document | SyntaxFault:
    """The document in the text, whose first line is `first_line` of the file.

    Raises InvalidFrontmatter for what is over a limit or not allowed at all.
    """
    refuse_controls(text, first_line=first_line)
    with closing(yaml.parse(text, Loader=yaml.CSafeLoader)) as events:
        reader = _Reader(events, first_line=first_line)
        try:
            value = reader.read_document()
        except yaml.YAMLError as exc:
            return _syntax_fault(exc, first_line=first_line)
    return Document(value, reader.key_lines, reader.plain_ends, reader.odd_keys, reader.flows)


def as_text(value: Value) -> str:
    """A value as text: itself, or JSON for a list or a mapping."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _syntax_fault(exc: yaml.YAMLError, *, first_line: int) -> SyntaxFault:
    mark = getattr(exc, "problem_mark", None)
    place = Place(first_line, 1) if mark is None else Place(first_line + mark.line, mark.column + 1)
    return SyntaxFault(place, getattr(exc, "problem", None) or "it cannot be read")


class _Reader:
    """Builds one document from events. Stops at the first event that may not be."""

    def __init__(self, events: Iterator[yaml.Event], *, first_line: int) -> None:
        self._events = events
        self._first_line = first_line
        self._nodes = 0
        self.key_lines: dict[str, int] = {}
        self.plain_ends: dict[str, Place] = {}
        self.odd_keys: list[Place] = []
        self.flows: list[Place] = []

    def read_document(self) -> Value | None:
        """The value of the only document; None for a text without one."""
        value: Value | None = None
        documents = 0
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                self._refuse_second_document(documents, event)
            elif isinstance(event, yaml.NodeEvent):
                value = self._read_node(event, depth=0)
        return value

    def _read_node(self, event: yaml.Event, *, depth: int) -> Value:
        self._check_node(event, depth=depth)
        if isinstance(event, yaml.ScalarEvent):
            return self._read_scalar(event)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._read_list(depth=depth + 1)
        return self._read_mapping(depth=depth + 1)

    def _read_scalar(self, event: yaml.ScalarEvent) -> str:
        text: str = event.value
        if len(text) > MAX_SCALAR_CHARACTERS:
            raise refuse(
                "scalar_too_long",
                place=self._place(event),
                message=f"A value has more than {MAX_SCALAR_CHARACTERS} characters",
                fix="Move the text to the body of the file.",
            )
        refuse_escaped_controls(text, place=self._place(event))
        return text

    def _read_list(self, *, depth: int) -> list[Value]:
        items: list[Value] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            items.append(self._read_node(event, depth=depth))
        return items

    def _read_mapping(self, *, depth: int) -> dict[str, Value]:
        values: dict[str, Value] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._read_key(event, values, depth=depth)
            value_event = next(self._events)
            value = self._read_node(value_event, depth=depth)
            if key is None:
                self.odd_keys.append(self._place(event))
                continue
            values[key] = value
            if depth == 1:
                self._note_places(key, event, value_event)
        return values

    def _read_key(self, event: yaml.Event, taken: dict[str, Value], *, depth: int) -> str | None:
        """The key as text; None for one that is a list or a mapping."""
        key = self._read_node(event, depth=depth)
        if not isinstance(key, str):
            return None
        if key == "<<" and isinstance(event, yaml.ScalarEvent) and not event.style:
            raise refuse(
                "merge_key",
                place=self._place(event),
                message="The frontmatter merges one mapping into another with '<<'",
                fix="Write the values out.",
            )
        if key in taken:
            raise duplicate_key(key, place=self._place(event))
        return key

    def _note_places(self, key: str, key_event: yaml.Event, value_event: yaml.Event) -> None:
        self.key_lines[key] = self._place(key_event).line
        if isinstance(value_event, yaml.ScalarEvent) and not value_event.style:
            self.plain_ends[key] = self._place_of(value_event.end_mark)

    def _check_node(self, event: yaml.Event, *, depth: int) -> None:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise refuse(
                "too_many_nodes",
                place=self._place(event),
                message=f"The frontmatter has more than {MAX_NODES} values",
                fix="Move the data to a file of its own.",
            )
        if depth >= MAX_DEPTH and isinstance(event, yaml.CollectionStartEvent):
            raise refuse(
                "too_deep",
                place=self._place(event),
                message=f"The frontmatter is nested more than {MAX_DEPTH} levels deep",
                fix="Flatten it.",
            )
        self._refuse_references(event)
        if isinstance(event, yaml.CollectionStartEvent) and event.flow_style:
            self.flows.append(self._place(event))

    def _refuse_references(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.AliasEvent):
            code, what, fix = "alias", "an alias (*)", "Write the value out, or put the text in quotes."
        elif isinstance(event, yaml.NodeEvent) and event.anchor is not None:
            code, what, fix = "anchor", "an anchor (&)", "Delete it, or put the text in quotes."
        elif isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent) and event.tag is not None:
            code, what, fix = "tag", "a tag (!)", "Delete it, or put the text in quotes."
        else:
            return
        raise refuse(code, place=self._place(event), message=f"The frontmatter uses {what}", fix=fix)

    def _refuse_second_document(self, documents: int, event: yaml.Event) -> None:
        if documents > 1:
            raise refuse(
                "several_documents",
                place=self._place(event),
                message="The frontmatter holds more than one YAML document",
                fix="Keep one, between two lines of '---'.",
            )

    def _place(self, event: yaml.Event) -> Place:
        return self._place_of(event.start_mark)

    def _place_of(self, mark: _Mark | None) -> Place:
        assert mark is not None, "events of a parser have marks"
        return Place(self._first_line + mark.line, mark.column + 1)
