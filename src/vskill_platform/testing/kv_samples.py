"""Keys, prefixes and cursors, good and bad, that the contracts of the KV are tried with."""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Iterable, Mapping

from vskill_platform.domain.errors import InvalidInput, InvalidKey
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.kv import (
    MAX_KEY_BYTES,
    MAX_PAGE_KEYS,
    BulkGet,
    DueIndex,
    Entry,
    Scan,
)

LAST_BEFORE_SURROGATES = "\ud7ff"
FIRST_AFTER_SURROGATES = "\ue000"
LAST_POINT = "\U0010ffff"
ENDS = (LAST_BEFORE_SURROGATES, FIRST_AFTER_SURROGATES, LAST_POINT)
# In their order: characters of one, two and four bytes, and the last of all keys.
LONGEST_KEYS = tuple(char * (MAX_KEY_BYTES // len(char.encode())) for char in ("a", "é", "😀", LAST_POINT))
PREFIXES = (
    *("", "a", "A", "%", "_", "*", "[", "\\", "'", "é", "😀", "a:", "sub:"),
    *(f"{stem}{end}" for stem in ("", "a", LAST_BEFORE_SURROGATES, LAST_POINT) for end in ENDS),
)
BAD_KEYS = {
    "empty": "",
    "513 bytes": "a" * (MAX_KEY_BYTES + 1),
    "513 bytes in 257 characters": "é" * (MAX_KEY_BYTES // 2) + "a",
    "NUL": "\0",
    "NUL inside": "a\0b",
    "lone surrogate": "a\ud800",
}
BAD_PREFIXES = {name: key for name, key in BAD_KEYS.items() if key}
# Each is a key of its own, whatever a collation, a pattern language or a normaliser would make of it.
DISTINCT_KEYS = (
    "a",
    "A",
    "a ",
    " a",
    "é",
    "e\u0301",
    "ß",
    "ss",
    "%",
    "_",
    "*",
    "[a]",
    "?",
    "'",
    '"',
    "\\",
    "\n",
    "\ufeff",
)
ORDERED_KEYS = (
    "\x01",
    "\n",
    " ",
    "0",
    "A",
    "Z",
    "a",
    "a\x01",
    "aa",
    "b",
    "\x7f",
    "\x80",
    "é",
    "ÿ",
    "Ā",
    "\u07ff",
    "ࠀ",
    "日本",
    LAST_BEFORE_SURROGATES,
    FIRST_AFTER_SURROGATES,
    "\uffff",
    "𐀀",
    "😀",
    LAST_POINT,
    LAST_POINT * 2,
)
GARBAGE_CURSORS = {
    "empty": "",
    "words": "not a cursor",
    "NUL": "\0",
    "lone surrogate": "\ud800",
    "not ASCII": "日本語",
    "long": "A" * 100_000,
    "empty list": base64.urlsafe_b64encode(b"[]").decode(),
    "null": base64.urlsafe_b64encode(b"null").decode(),
    "wrong type inside": base64.urlsafe_b64encode(b'["p:", {"p:": 1}]').decode(),
    "deeply nested": base64.urlsafe_b64encode(b"[" * 100_000).decode(),
}
BAD_LIMITS = (0, -1, MAX_PAGE_KEYS + 1)
COUNTS = (0, 1, 999, 1000, 1001, 2500)


def keys_around(prefixes: Iterable[str]) -> list[str]:
    """Keys that begin with each prefix, and keys just before and after them, in order."""
    keys: set[str] = set()
    for prefix in filter(None, prefixes):
        before = prefix[:-1] + neighbour(prefix[-1], -1)
        after = prefix[:-1] + neighbour(prefix[-1], +1)
        under = (prefix, f"{prefix}%", f"{prefix}a", f"{prefix}\u0301", f"{prefix}{LAST_POINT}")
        keys |= {*under, before, f"{before}{LAST_POINT}", after, f"x{prefix}"}
    return sorted(keys)


def neighbour(char: str, step: int) -> str:
    """The character before or after, leaping over the surrogates; the last one is its own successor."""
    point = min(ord(char) + step, ord(LAST_POINT))
    return {0xD800: FIRST_AFTER_SURROGATES, 0xDFFF: LAST_BEFORE_SURROGATES}.get(point, chr(point))


async def outcome_of(call: Awaitable[object]) -> object:
    """What a call returns, or the type of what it raises."""
    try:
        return await call
    except Exception as error:
        return type(error)


def unexpected(outcomes: Mapping[str, object]) -> list[str]:
    """The names of those that neither found nothing nor refused."""
    return [name for name, outcome in outcomes.items() if outcome not in ([], InvalidKey, InvalidInput)]


def bulk_get_of(engine: Engine) -> BulkGet:
    assert isinstance(engine.kv, BulkGet)
    return engine.kv


def scan_of(engine: Engine) -> Scan:
    assert isinstance(engine.kv, Scan)
    return engine.kv


def due_index_of(engine: Engine) -> DueIndex:
    assert isinstance(engine.kv, DueIndex)
    return engine.kv


def value_of(outcome: object) -> bytes | None:
    """The value of an entry; None for anything else."""
    return outcome.value if isinstance(outcome, Entry) else None
