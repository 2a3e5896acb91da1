"""Cursors: opaque to callers, bound to the listing that gave them."""

from __future__ import annotations

import base64
from typing import Annotated, TypeVar

import msgspec

from vskill_platform.domain.errors import InvalidCursor

P = TypeVar("P")
Number = Annotated[int, msgspec.Meta(ge=-(2**62), le=2**62)]
_MAX_CHARS = 4096


def encode_cursor(*, listing: str, position: str | int | tuple[int, str]) -> str:
    """A cursor that only `listing` accepts."""
    return base64.urlsafe_b64encode(msgspec.json.encode((listing, position))).decode()


def text_position(cursor: str | None, *, listing: str) -> str:
    """The text in a cursor; empty without one."""
    return "" if cursor is None else _decode(cursor, msgspec.json.Decoder(tuple[str, str]), listing=listing)


def number_position(cursor: str | None, *, listing: str) -> int:
    """The number in a cursor; 0 without one."""
    return 0 if cursor is None else _decode(cursor, msgspec.json.Decoder(tuple[str, Number]), listing=listing)


def number_and_text_position(cursor: str | None, *, listing: str) -> tuple[int, str]:
    """The number and text in a cursor; before everything without one."""
    if cursor is None:
        return (-(2**62), "")
    return _decode(cursor, msgspec.json.Decoder(tuple[str, tuple[Number, str]]), listing=listing)


def _decode(cursor: str, decoder: msgspec.json.Decoder[tuple[str, P]], *, listing: str) -> P:
    """The position in a cursor of this listing. Raises InvalidCursor for any other text."""
    try:
        if len(cursor) > _MAX_CHARS:
            raise ValueError("too long")
        named, position = decoder.decode(base64.b64decode(cursor, altchars=b"-_", validate=True))
    except ValueError as exc:  # msgspec's and base64's errors are ValueErrors
        raise InvalidCursor("The cursor is damaged. Begin the listing again without one.") from exc
    if named != listing:
        raise InvalidCursor("The cursor belongs to another listing. Begin this one without a cursor.")
    return position
