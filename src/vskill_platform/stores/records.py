"""Records to bytes and back.

A reader decodes only the fields it needs. A writer that changes a record keeps the fields it does not know, because a
newer version may have written them; a record whose `v` is newer than ours can be read but is not written.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from vskill_platform.domain.errors import MalformedRecord, RecordFromFuture
from vskill_platform.domain.records import RECORD_VERSION, Record

R = TypeVar("R")
_as_object = msgspec.json.Decoder(dict[str, msgspec.Raw])


def decode_record(key: str, value: bytes, *, decoder: msgspec.json.Decoder[R]) -> R:
    """The record in a value. Raises MalformedRecord for one that is not JSON or not of the decoder's form."""
    try:
        return decoder.decode(value)
    except (msgspec.MsgspecError, UnicodeDecodeError) as exc:
        raise MalformedRecord(f"The record '{key}' cannot be read: {exc}", key=key) from exc


def encode_record(record: Record) -> bytes:
    """A new record as it is stored."""
    return msgspec.json.encode(record)


def encode_changed(record: Record, *, key: str, previous: bytes) -> bytes:
    """A changed record as it is stored: our fields as they are now, every other field as it was."""
    try:
        before = _as_object.decode(previous)
        version = msgspec.json.decode(before.get("v", msgspec.Raw(b"1")), type=int)
    except (msgspec.MsgspecError, UnicodeDecodeError) as exc:
        raise MalformedRecord(f"The record '{key}' cannot be read: {exc}", key=key) from exc
    if version > RECORD_VERSION:
        raise RecordFromFuture(
            f"The record '{key}' is of version {version}; this version writes up to {RECORD_VERSION}. Update first.",
            key=key,
            version=version,
        )
    ours = _as_object.decode(msgspec.json.encode(record))
    return msgspec.json.encode({**before, **ours})
