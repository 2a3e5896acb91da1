"""SKILL.md under anything: one error, no loss, and no more than linear work."""

from __future__ import annotations

import sys
from types import FrameType

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from vskill_platform.domain.errors import InvalidFrontmatter
from vskill_platform.ingest.skill_md import parse_skill_md

PIECES = [
    *("---", "\n", "\r\n", "\r", " ", "  ", "\t", ":", ": ", "- ", "? ", "[", "]", "{", "}", ",", "(", ")", "|", ">"),
    *("&a", "*a", "!x", "!!y", "<<", "'", '"', "\\", "\\0", "#", "%TAG", "...", "-", "a", "1"),
    *("name", "description", "metadata", "allowed-tools", "\ufeff", "\u2028", "\u202e", "\x00", "\x85", "é", "😀"),
]
frontmatter_like = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)
words = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=12)
keys = st.from_regex(r"[a-z][a-z0-9_-]{0,15}", fullmatch=True).filter(
    lambda key: key not in ("name", "description", "license", "compatibility", "metadata", "allowed-tools", "version")
)


def parse_or_refuse(content: bytes) -> None:
    """Parse; the one error that may be raised carries a reason and speaks in a sentence."""
    skill, refusal = None, None
    try:
        skill = parse_skill_md(content, folder_name="folder")
    except InvalidFrontmatter as error:
        refusal = error
    assert refusal is None or (refusal.fields["reason"] and refusal.message.endswith("."))
    assert skill is None or (skill.name and 1 <= skill.body_line <= len(content.splitlines()) + 2)


@given(st.binary(max_size=400))
@example(b"---\n---")
@example(b"---\n: x\n---\n")
def test_parsing_raises_only_its_own_error__when_given_any_bytes(content: bytes) -> None:
    parse_or_refuse(content)


@settings(max_examples=500)
@given(frontmatter_like)
def test_parsing_raises_only_its_own_error__when_given_what_looks_like_frontmatter(text: str) -> None:
    parse_or_refuse(f"---\n{text}\n---\nbody".encode())
    parse_or_refuse(text.encode())


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


@given(st.dictionaries(keys, words, max_size=10), st.dictionaries(keys, words, max_size=5))
def test_simple_mapping_comes_back_whole(extra: dict[str, str], metadata: dict[str, str]) -> None:
    lines = [f"{key}: {quoted(value)}" for key, value in extra.items()]
    lines += ["metadata:", *(f"  {key}: {quoted(value)}" for key, value in metadata.items())]
    skill = parse_skill_md("\n".join(["---", *lines, "---", "body"]).encode())
    assert (skill.extra, skill.metadata, skill.body) == (extra, metadata, "body")


@given(st.dictionaries(keys, words, max_size=6), words)
def test_other_fields_are_the_same__when_the_description_is_no_yaml(extra: dict[str, str], word: str) -> None:
    lines = [f"{key}: {quoted(value)}" for key, value in extra.items()]
    broken = "\n".join(["---", *lines, f"description: Use when: {word}", "---", ""])
    skill = parse_skill_md(broken.encode())
    assert skill.extra == extra
    assert skill.description == f"Use when: {word}"


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=200))
def test_body_comes_back_whole(body: str) -> None:
    assert parse_skill_md(f"---\nname: a\n---\n{body}".encode()).body == body


def count_calls(content: bytes) -> int:
    """How many calls, of Python and of C, a parse makes: a measure of work that no clock disturbs."""
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        parse_or_refuse(content)
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize(
    "fragment",
    ["k{n}: v\n", "k{n}: a: b\n", "k{n}: [a]\n", "k{n}: &\n", "k{n}:\n\t- a\n", "# {n}\n", "k{n}: a # b\n", "{n}\n"],
)
def test_work_grows_no_faster_than_the_frontmatter(fragment: str) -> None:
    small, large = (
        count_calls(f"---\n{''.join(fragment.format(n=n) for n in range(count))}---\n".encode()) for count in (200, 800)
    )
    # Four times the text. The collector of garbage may call something in between; to grow with the square is sixteen times.
    assert large <= 5 * small
