"""What of a text is not ASCII: few letters of most texts, so that it is quicker to pick them out than to look at them all."""

from __future__ import annotations

import re

_ASCII = bytes(range(128))

NEAR = 8
"""Characters to each side of a place that tell whether it is in text."""
_NO_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffd]")


def beyond_ascii(data: bytes) -> str:
    """The letters of a text in UTF-8 that are not ASCII, in their order."""
    return "" if data.isascii() else data.translate(None, _ASCII).decode(errors="ignore")


def is_of_text(text: str, start: int, end: int) -> bool:
    """Whether what stands around a place could be text: in data that are none, letters of any script come up by chance."""
    return (
        _NO_TEXT.search(text[max(0, start - NEAR) : start]) is None and _NO_TEXT.search(text[end : end + NEAR]) is None
    )
