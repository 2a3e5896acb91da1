"""JavaScript is taken apart as the language does it: patterns or divisions, templates, brackets, names in disguise."""

from __future__ import annotations

import pytest

from vskill_platform.scanning.tier1.code.budget import Budget, TooDeep
from vskill_platform.scanning.tier1.code.javascript.folding import number_text, unescape_string
from vskill_platform.scanning.tier1.code.javascript.tokens import Kind, Tokens


def tokens_of(text: str) -> Tokens:
    return Tokens(text, budget=Budget())


def words_of(text: str) -> list[str]:
    tokens = tokens_of(text)
    return [tokens.word(number) for number in range(len(tokens) - 1)]


def patterns_in(text: str) -> list[str]:
    tokens = tokens_of(text)
    return [tokens.word(number) for number in range(len(tokens)) if tokens.kinds[number] == Kind.PATTERN]


@pytest.mark.parametrize(
    ("text", "patterns"),
    [
        ("a / b / c", []),
        ("x = /a/g", ["/a/g"]),
        ("if (x) /'/.test(y)", ["/'/"]),
        ("f(x) / 2 / y", []),
        ("function f() {}\n/'/.test(y)", ["/'/"]),
        ("x => {}\n/'/.test(y)", ["/'/"]),
        ("x = {a: 1} / 2 / y", []),
        ("return /['\"]/.test(y)", ["/['\"]/"]),
        ("a[/x/]", ["/x/"]),
        ("i++ / 2 / x", []),
        ("`${a}` / 2 / x", []),
        ("[1] / 2 / x", []),
    ],
)
def test_slash_divides_or_begins_a_pattern__by_what_stands_before_it(text: str, patterns: list[str]) -> None:
    """Otherwise a quotation mark in a pattern would turn the code behind it into text."""
    assert patterns_in(text) == patterns


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a=`x${b+`y${c}`}z`", ["a", "=", "`", "x", "{", "b", "+", "`", "y", "{", "c", "}", "", "`", "}", "z", "`"]),
        ("a?.b ?? c=>d", ["a", "?.", "b", "??", "c", "=>", "d"]),
        ("'un\nnext", ["'un", "next"]),
        ("a // 'b\nc /* ' */ d", ["a", "c", "d"]),
        ("#!/usr/bin/node it's\na", ["a"]),
        ("\\u0065val(x)", ["\\u0065val", "(", "x", ")"]),
        ("/* open", []),
    ],
)
def test_text_falls_into_tokens(text: str, words: list[str]) -> None:
    assert words_of(text) == words


def test_brackets_are_paired__and_those_that_are_never_closed_stand_alone() -> None:
    tokens = tokens_of("f(a, [b]) + { c: (d }")
    pairs = {tokens.word(n) + str(n): tokens.pair[n] for n in range(len(tokens)) if tokens.word(n) in {"(", "[", "{"}}
    assert pairs == {"(1": 7, "[4": 6, "{9": 14, "(12": 12}


@pytest.mark.parametrize("opening", ["(", "[", "{", "`${"])
def test_brackets_beyond_a_depth_are_refused(opening: str) -> None:
    with pytest.raises(TooDeep):
        tokens_of(opening * 100_000)


def test_strings_and_numbers_are_what_the_language_takes_them_for() -> None:
    assert unescape_string(r"'\x65\u0076\u{61}\154\n'") == "eval\n"
    assert unescape_string("'open") == "open"
    assert [number_text(word) for word in ("0x10", "0b11", "0o17", "1_000", "0of", "9n")] == [
        "16",
        "3",
        "15",
        "1000",
        "0of",
        "9",
    ]
