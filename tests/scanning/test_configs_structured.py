"""Readers of configuration: what they make of comments, repetitions, broken files and hostile ones."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from vskill_platform.scanning.tier1.configs.json_text import read_json
from vskill_platform.scanning.tier1.configs.structured import MOST_BYTES, MOST_ENTRIES, Entry, Reading
from vskill_platform.scanning.tier1.configs.toml_text import read_ini, read_toml
from vskill_platform.scanning.tier1.configs.yaml_text import read_yaml

Read = Callable[[str], Reading]


def values(reading: Reading) -> list[tuple[str, str, int]]:
    return [(".".join(entry.keys), entry.value, entry.line) for entry in reading.entries]


def test_json_is_flat__with_its_lines() -> None:
    reading = read_json('{"a": {"b": [1,\n "x\\ty"]},\n "c": {}, "d": null}')
    assert values(reading) == [("a.b.0", "1", 1), ("a.b.1", "x\ty", 2), ("c", "", 3), ("d", "null", 3)]
    assert not reading.is_broken
    assert not reading.is_cut


def test_json_is_read_leniently__as_editors_do() -> None:
    text = '\ufeff// one\n{ a: \'x\', /* two\n */ "b": "y", # three\n }'
    assert values(read_json(text)) == [("a", "x", 2), ("b", "y", 3)]
    assert not read_json(text).is_broken


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (read_json, '{"k": "first", "k": "last"}'),
        (read_yaml, "k: first\nk: last\n"),
        (read_ini, "k = first\nk = last\n"),
    ],
)
def test_value_that_is_given_twice_counts_twice__because_programs_differ(read: Read, text: str) -> None:
    assert [entry.value for entry in read(text).entries] == ["first", "last"]


def test_toml_that_repeats_a_key_is_broken__and_read_all_the_same() -> None:
    reading = read_toml('[a]\nk = "first"\nk = "last"\n')
    assert reading.is_broken
    assert [(entry.keys, entry.value) for entry in reading.entries] == [(("a", "k"), "first"), (("a", "k"), "last")]


@pytest.mark.parametrize("text", ['{"a": ', '{"a": ]}', '{"command": "x"', "}", '{"a": "unclosed\n}'])
def test_broken_json_says_so__and_gives_what_it_has(text: str) -> None:
    assert read_json(text).is_broken


def test_broken_json_keeps_its_values__up_to_the_end() -> None:
    assert Entry(("command",), "run", 1) in read_json('{"command": "run", "args": [').entries


def test_yaml_keeps_what_was_written__with_the_lines_of_its_file() -> None:
    reading = read_yaml("a: no\nb:\n  - 1.0\n  - [x, y]\nc: []\nd: |\n  two\n  lines\n", first_line=2)
    assert values(reading)[:5] == [
        ("a", "no", 2),
        ("b.0", "1.0", 4),
        ("b.1.0", "x", 5),
        ("b.1.1", "y", 5),
        ("c", "", 6),
    ]


def test_yaml_alias_is_followed__to_a_text() -> None:
    assert Entry(("b", "command"), "run", 2) in read_yaml("a: &x run\nb: {command: *x}\n").entries


def test_yaml_alias_is_followed__to_a_collection_and_within_limits() -> None:
    reading = read_yaml("d: &d {command: run, args: [a]}\nhooks:\n  Stop: [*d]\n")
    assert Entry(("hooks", "Stop", "0", "command"), "run", 3) in reading.entries
    laughs = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30))
    assert read_yaml(laughs).is_cut
    assert len(read_yaml(laughs).entries) <= MOST_ENTRIES


def test_toml_has_its_lines__found_by_its_values() -> None:
    reading = read_toml('[a]\nb = "x"\n\n[[c]]\nd = ["y", "z"]\ne = true\n')
    assert values(reading) == [("a.b", "x", 2), ("c.0.d.0", "y", 5), ("c.0.d.1", "z", 5), ("c.0.e", "true", 6)]


def test_ini_keeps_sections_and_lines_that_go_on() -> None:
    reading = read_ini("[options]\ninstall_requires =\n  a>=1\n  b\n; no\n[x]\nk=v\n")
    assert [(entry.key, entry.value) for entry in reading.entries if entry.value] == [
        ("install_requires", "a>=1"),
        ("install_requires", "b"),
        ("k", "v"),
    ]


DEEP = 100_000


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (read_json, "[" * DEEP),
        (read_json, '{"a":' * DEEP),
        (read_yaml, "[" * DEEP),
        (read_yaml, "{a: " * DEEP),
        (read_yaml, "\n".join(" " * level + "a:" for level in range(1_000))),
        (read_toml, "a = " + "[" * DEEP),
        (read_toml, "a = [\n" * 5_000),
        (read_toml, ".".join(["a"] * DEEP) + " = 1"),
        (read_ini, "[" + ".".join(["a"] * DEEP) + "]\nk = v"),
        (read_ini, "k = v\n" * DEEP),
        (read_json, "[" + "1," * MOST_ENTRIES + "1]"),
        (read_json, '"' + "a" * (MOST_BYTES + 5)),
        (read_yaml, "- a\n" * (MOST_ENTRIES + 5)),
    ],
    ids=lambda value: str(value)[:12] if isinstance(value, str) else value.__name__,
)
def test_hostile_file_is_read_within_limits__and_says_that_there_is_more(read: Read, text: str) -> None:
    reading = read(text)
    assert reading.is_cut or reading.is_broken or all(len(entry.keys) <= 65 for entry in reading.entries)
    assert len(reading.entries) <= MOST_ENTRIES


def test_deep_and_long_files_are_cut__not_called_broken() -> None:
    assert read_json("[" * DEEP).is_cut
    assert read_yaml("[" * DEEP).is_cut
    assert read_json("[" + "1," * MOST_ENTRIES + "1]").is_cut
    assert read_json('["' + "a" * MOST_BYTES + '"]').is_cut


@pytest.mark.parametrize("read", [read_json, read_yaml, read_toml, read_ini])
@pytest.mark.parametrize(
    "text",
    [
        "",
        "\0\0\0",
        "\ud800".encode("utf-8", "surrogatepass").decode("utf-8", "replace"),
        "\x1b[31m",
        "a: b: c: [",
        "= = =",
    ],
)
def test_anything_is_read__without_an_error(read: Read, text: str) -> None:
    assert isinstance(read(text), Reading)
