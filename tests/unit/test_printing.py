"""What commands print of text from outside is that text, whatever brackets and backslashes it has."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from vskill_platform.cli.printing import plain


@pytest.mark.parametrize(
    "text",
    [r"\[", r"a\[\w]", r"\s?\[\s?[:x]", "[red]", r"\[red]", r"\\[red] \\[ [", "[/]", "end\\", r"[^\]\\]", r"\\\["],
)
def test_brackets_and_backslashes_are_shown_as_they_are(text: str) -> None:
    assert Text.from_markup(f"[bold]{plain(text)}[/]").plain == text


@given(st.text(alphabet="\\[]/a-z#@ x", max_size=12))
def test_no_text_is_taken_for_markup(text: str) -> None:
    assert Text.from_markup(f"[dim]{plain(text)}[/]").plain == text
