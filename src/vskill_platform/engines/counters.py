"""Counters as every engine keeps them: a JSON object of integers."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from vskill_platform.domain.errors import MalformedRecord

_counters = msgspec.json.Decoder(dict[str, int])


def decode_counter(key: str, value: bytes | None) -> dict[str, int]:
    """The counter in a value; an absent one is empty. Raises MalformedRecord for a value that is none."""
    if value is None:
        return {}
    try:
        return _counters.decode(value)
    except (msgspec.MsgspecError, UnicodeDecodeError) as exc:
        raise MalformedRecord(f"'{key}' is not a counter: {exc}", key=key) from exc


def encode_sum(counter: Mapping[str, int], amounts: Mapping[str, int]) -> bytes:
    """The counter with the amounts added."""
    added = {name: counter.get(name, 0) + amount for name, amount in amounts.items()}
    return msgspec.json.encode({**counter, **added})
