"""What of a text is not ASCII: few letters of most texts, so that it is quicker to pick them out than to look at them all."""

from __future__ import annotations

_ASCII = bytes(range(128))


def beyond_ascii(data: bytes) -> str:
    """The letters of a text in UTF-8 that are not ASCII, in their order."""
    return "" if data.isascii() else data.translate(None, _ASCII).decode(errors="ignore")
