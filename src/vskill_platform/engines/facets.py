"""Facets with several values, as one text of a column."""

from __future__ import annotations

import msgspec

_texts = msgspec.json.Decoder(tuple[str, ...])


def encode_facet(value: str | tuple[str, ...]) -> str:
    """A facet's value as a column holds it: a text as it is, several as a JSON array."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def decode_facet(column: str) -> tuple[str, ...]:
    """The values in a column of a many-valued facet. What `encode_facet` cannot have made gives none."""
    try:
        return _texts.decode(column)
    except msgspec.MsgspecError:
        return ()
