"""gzip for text: whether a client takes it, whether an answer is worth it, and doing it without holding others up."""

from __future__ import annotations

import asyncio
import gzip
from functools import lru_cache

MIN_BYTES = 1024
_LEVEL = 4
_INLINE_BYTES = 32 * 1024
_REMEMBERED_BYTES = 8 * 1024 * 1024
_TEXT = ("text/", "application/json", "application/problem+json", "application/x-ndjson", "image/svg+xml")
_XML = ("+xml", "/xml", "+json")


@lru_cache(256)
def takes_gzip(accept_encoding: bytes) -> bool:
    """Whether a client says that it takes gzip."""
    for item in accept_encoding.decode("latin-1").lower().split(","):
        coding, _, quality = item.partition(";")
        if coding.strip() in ("gzip", "*"):
            return quality.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


@lru_cache(256)
def is_text(content_type: bytes) -> bool:
    """Whether an answer of this type gets smaller by it."""
    kind = content_type.decode("latin-1").partition(";")[0].strip().lower()
    return kind != "text/event-stream" and (kind.startswith(_TEXT) or kind.endswith(_XML))


class Compressor:
    """Compresses bodies, and remembers the last ones by their tags: the same list or page is asked for again and again."""

    def __init__(self) -> None:
        self._done: dict[bytes, bytes] = {}
        self._size = 0

    async def compress(self, body: bytes, *, tag: bytes | None) -> bytes:
        """The body compressed; a large one on a thread."""
        known = None if tag is None else self._done.get(tag)
        if known is not None:
            return known
        packed = _compress(body) if len(body) <= _INLINE_BYTES else await asyncio.to_thread(_compress, body)
        if tag is not None:
            self._remember(tag, packed)
        return packed

    def _remember(self, tag: bytes, packed: bytes) -> None:
        if self._size + len(packed) > _REMEMBERED_BYTES:
            self._done.clear()
            self._size = 0
        self._done[tag] = packed
        self._size += len(packed)


def _compress(body: bytes) -> bytes:
    return gzip.compress(body, _LEVEL, mtime=0)
