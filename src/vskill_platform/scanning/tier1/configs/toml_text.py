"""Reads TOML and INI files. Both are read by line where a proper reading fails."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator

from vskill_platform.scanning.tier1.configs.structured import DEEPEST, MOST_ENTRIES, Entry, Reading

MOST_TOML_BYTES = 256 * 1024
MOST_DOTS = 60
"""Dots in a line, beyond which the parser is not asked: it takes time that grows with the square of a key's parts."""


def read_toml(text: str) -> Reading:
    """The values of the text."""
    if len(text) > MOST_TOML_BYTES:
        return read_ini(text[:MOST_TOML_BYTES])._replace(is_cut=True)
    lines = text.split("\n")
    if any(_depth(line) > DEEPEST for line in lines):
        return read_ini(text)._replace(is_cut=True)
    if any(line.count(".") > MOST_DOTS for line in lines):
        return read_ini(text)
    try:
        document = tomllib.loads(text)
    except RecursionError:
        return read_ini(text)._replace(is_cut=True)
    except ValueError:
        return read_ini(text)._replace(is_broken=True)
    places = _Places(lines)
    entries: list[Entry] = []
    for keys, value in _flat(document):
        entries.append(Entry(keys, value, places.line_of(keys, value)))
        if len(entries) >= MOST_ENTRIES:
            return Reading(entries, is_cut=True)
    return Reading(entries)


def _depth(line: str) -> int:
    """How deep the lists of a line are nested."""
    if line.count("[") <= DEEPEST:
        return 0
    deepest = depth = 0
    for character in line:
        depth += {"[": 1, "]": -1}.get(character, 0)
        deepest = max(deepest, depth)
    return deepest


def read_ini(text: str) -> Reading:
    """The values of a text of sections, keys and values; a value without a key has an empty one."""
    entries: list[Entry] = []
    section: tuple[str, ...] = ()
    last_key = ""
    for number, line in enumerate(text.split("\n"), start=1):
        plain = line.strip()
        if not plain or plain[0] in "#;":
            continue
        if plain.startswith("[") and plain.endswith("]"):
            section = tuple(part.strip("\"' ") for part in plain.strip("[]").split("."))[:DEEPEST]
            continue
        key, is_pair, value = plain.partition("=")
        goes_on = line[0].isspace() and bool(last_key) and (value[:1] == "=" or key[-1:] in tuple("<>~!"))
        if is_pair and not goes_on:
            last_key = key.strip("\"' ")
            entries.append(Entry((*section, last_key), value.strip("\"' "), number))
        else:
            entries.append(Entry((*section, last_key), plain.strip("\"',[] "), number))
        if len(entries) >= MOST_ENTRIES:
            return Reading(entries, is_cut=True)
    return Reading(entries)


def _flat(document: dict[str, object]) -> Iterator[tuple[tuple[str, ...], str]]:
    waiting: list[tuple[tuple[str, ...], object]] = [((), document)]
    while waiting:
        keys, value = waiting.pop()
        inside: list[tuple[tuple[str, ...], object]] = []
        if isinstance(value, dict):
            inside = [((*keys, str(key)), one) for key, one in value.items()]
        elif isinstance(value, list):
            inside = [((*keys, str(number)), one) for number, one in enumerate(value)]
        if inside:
            waiting.extend(reversed(inside))
        else:
            yield keys, _text(value)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if isinstance(value, dict | list) else str(value)


class _Places:
    """Finds the line that a value stands in, which the parser does not tell. Looks on from where it was."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._at = 0

    def line_of(self, keys: tuple[str, ...], value: str) -> int:
        """The next line that has the value or its key in it; the current one where there is none nearby."""
        wanted = value.split("\n", maxsplit=1)[0][:60] or (keys[-1] if keys else "")
        for number in range(self._at, min(len(self._lines), self._at + 200)):
            if wanted in self._lines[number]:
                self._at = number
                return number + 1
        return self._at + 1
