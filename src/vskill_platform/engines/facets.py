"""Documents as rows of a table: facets with several values as one text, and rows as the lines that columns are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from vskill_platform.domain.catalog import Collection
from vskill_platform.engines.columns import Line

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


def line_of(collection: Collection, row: Sequence[Any]) -> Line:
    """What columns hold of a document, from its number, id, facets, sorts and weight."""
    number, identity, *values, weight = row
    count = len(collection.facets)
    facets = tuple(
        decode_facet(value) if name in collection.many_valued else (value,)
        for name, value in zip(collection.facets, values[:count], strict=True)
    )
    return Line(number, identity, facets, tuple(values[count:]), weight)
