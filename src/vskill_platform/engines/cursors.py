"""Cursors: opaque to callers, bound to the listing that gave them."""

from __future__ import annotations

import base64
import binascii
import json

from vskill_platform.domain.errors import InvalidCursor


def encode_cursor(*, listing: str, position: str | int | list[str | int]) -> str:
    """A cursor that only `listing` accepts."""
    return base64.urlsafe_b64encode(json.dumps([listing, position]).encode()).decode()


def decode_cursor(cursor: str, *, listing: str) -> object:
    """The position in a cursor of this listing. Raises InvalidCursor for any other text."""
    try:
        named, position = json.loads(base64.urlsafe_b64decode(cursor.encode()))
    except (ValueError, TypeError, binascii.Error) as exc:
        raise InvalidCursor("The cursor is damaged. Begin the listing again without one.") from exc
    if named != listing:
        raise InvalidCursor("The cursor belongs to another listing. Begin this one without a cursor.")
    return position


def text_position(cursor: str | None, *, listing: str) -> str:
    """The text in a cursor; empty without one."""
    if cursor is None:
        return ""
    position = decode_cursor(cursor, listing=listing)
    if not isinstance(position, str):
        raise InvalidCursor("The cursor is damaged. Begin the listing again without one.")
    return position


def number_and_text_position(cursor: str | None, *, listing: str) -> tuple[int, str]:
    """The number and text in a cursor; before everything without one."""
    if cursor is None:
        return (-(2**62), "")
    match decode_cursor(cursor, listing=listing):
        case [int(number), str(text)]:
            return (number, text)
        case _:
            raise InvalidCursor("The cursor is damaged. Begin the listing again without one.")


def number_position(cursor: str | None, *, listing: str) -> int:
    """The number in a cursor; 0 without one."""
    if cursor is None:
        return 0
    position = decode_cursor(cursor, listing=listing)
    if not isinstance(position, int):
        raise InvalidCursor("The cursor is damaged. Begin the listing again without one.")
    return position
