"""Words that pages put values into."""

from __future__ import annotations

import pytest

from vskill_platform.web.pages.wording import with_code


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("plain", "plain"),
        ("Send `ETag` as `If-None-Match`.", "Send <code>ETag</code> as <code>If-None-Match</code>."),
        ("`<b>` & more", "<code>&lt;b&gt;</code> &amp; more"),
        ("an odd ` one", "an odd  one"),
    ],
)
def test_code_in_a_sentence_is_marked__and_all_else_is_escaped(text: str, html: str) -> None:
    assert with_code(text) == html
