"""Ranges of keys, as the engines that keep them in an ordered index read them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vskill_platform.domain.errors import VskillError
from vskill_platform.ports.kv import check_key, prefix_end

PAST_ALL_KEYS = "\U0010ffff" * 129
"""Comes after every key."""


def key_ranges(prefix: str, exclude: str | None) -> Iterator[tuple[str, str | None]]:
    """The ranges of keys with a prefix, less those with the excluded one: from, and up to but not including."""
    if exclude is None or not exclude.startswith(prefix):
        if exclude is None or not prefix.startswith(exclude):
            yield prefix, prefix_end(prefix)
        return
    yield prefix, exclude
    after = prefix_end(exclude)
    if after is not None:
        yield after, prefix_end(prefix)


def refused_keys(keys: Sequence[str]) -> dict[str, VskillError]:
    """Those of the texts that cannot be keys, with the error that says why."""
    refused: dict[str, VskillError] = {}
    for key in keys:
        try:
            check_key(key)
        except VskillError as error:
            refused[key] = error
    return refused
