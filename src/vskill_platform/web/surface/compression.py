"""gzip for text: whether a client takes it, whether an answer is worth it, and doing it without holding others up."""

from __future__ import annotations

import asyncio
import gzip
from functools import lru_cache

MIN_BYTES = 1024
_LEVEL = 4
_INLINE_BYTES = 32 * 1024
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


async def compress(body: bytes) -> bytes:
    """The body compressed; a large one on a thread."""
    if len(body) <= _INLINE_BYTES:
        return _compress(body)
    return await asyncio.to_thread(_compress, body)


def _compress(body: bytes) -> bytes:
    return gzip.compress(body, _LEVEL, mtime=0)
