"""The key-value store, read side. All writes go through `ports.commit`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from vskill_platform.domain.errors import InvalidInput, InvalidKey, ValueTooLarge, VskillError

MAX_KEY_BYTES = 512
MAX_VALUE_BYTES = 25 * 1024 * 1024
MAX_PAGE_KEYS = 1000


class Entry(NamedTuple):
    """A value and the sequence number of the commit that wrote it. A version is never reused, not even after a delete."""

    value: bytes
    version: int


class Page(NamedTuple):
    """One page of a listing. Only `complete` ends the listing: an empty page may have a successor."""

    keys: list[str]
    cursor: str | None
    complete: bool


class DueEntry(NamedTuple):
    """A key whose `due` has come, with its entry."""

    key: str
    due_ms: int
    entry: Entry


class DuePage(NamedTuple):
    """One page of due entries, ordered by due, then key."""

    entries: list[DueEntry]
    cursor: str | None
    complete: bool


class KV(Protocol):
    """What every engine can do.

    Keys are text of 1 to 512 UTF-8 bytes without NUL, ordered by their bytes. An entry whose `ttl` has passed is absent
    to every call, before any purge. A read sees every commit that was acknowledged before the read began. A store that
    cannot be read raises StoreUnavailable; it never answers "absent" or "empty" instead.
    """

    async def get(self, key: str) -> Entry | None:
        """The entry under the key, or None. Raises InvalidKey for what cannot be a key."""
        ...

    async def list(self, prefix: str, *, cursor: str | None = None, limit: int = MAX_PAGE_KEYS) -> Page:
        """Keys that begin with the prefix, in order, from where the cursor left off.

        `limit` is 1 to 1000. A key that is there from the first page to the last is listed exactly once; one that comes
        or goes meanwhile may or may not be listed. Raises InvalidCursor for a cursor that this listing did not give.
        """
        ...


@runtime_checkable
class BulkGet(Protocol):
    """An engine that reads many keys in one round trip."""

    async def get_many(self, keys: Sequence[str]) -> Sequence[Entry | VskillError | None]:
        """For each key, in order: its entry, None where it is absent, or the error that reading it gave.

        Any number of keys; a key may come twice. Raises only when nothing at all could be read.
        """
        ...


@runtime_checkable
class Scan(Protocol):
    """An engine that reads keys with their values in one pass."""

    def scan(self, prefix: str, *, exclude: str | None = None) -> AsyncIterator[Sequence[tuple[str, bytes]]]:
        """Chunks of (key, value) in key order, for keys that begin with `prefix` and not with `exclude`.

        Excluded keys are not read. Each chunk is consistent in itself; a key that is there throughout comes exactly
        once. Chunks are bounded, so that memory does not grow with the store.
        """
        ...


@runtime_checkable
class DueIndex(Protocol):
    """An engine that finds what is due without reading what is not."""

    async def list_due(self, prefix: str, *, before_ms: int, cursor: str | None = None, limit: int) -> DuePage:
        """Entries under the prefix whose `due` is at or before `before_ms`, oldest first, from where the cursor left off.

        An entry that is re-armed past the horizon while the listing runs does not come again.
        """
        ...


@runtime_checkable
class TellsTime(Protocol):
    """An engine that goes by a clock other than this machine's: its server's."""

    async def server_ms(self) -> int:
        """Milliseconds since 1970 by the clock that ends leases and times to live."""
        ...


def check_key(key: str) -> None:
    """Raise InvalidKey unless the text can be a key."""
    try:
        size = len(key.encode())
    except UnicodeEncodeError as exc:
        raise InvalidKey("A key must be valid Unicode text.", key=ascii(key)) from exc
    if not 0 < size <= MAX_KEY_BYTES or "\0" in key:
        raise InvalidKey(
            f"A key has 1 to {MAX_KEY_BYTES} UTF-8 bytes and no NUL; this one has {size} bytes.",
            key=key[:64],
            size=size,
        )


def check_text(*texts: str) -> None:
    """Raise InvalidInput for what is not valid Unicode text (a lone surrogate)."""
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError as exc:
            raise InvalidInput("The text is not valid Unicode.", text=ascii(text[:64])) from exc


def check_value(key: str, value: bytes) -> None:
    """Raise ValueTooLarge unless the value fits."""
    if len(value) > MAX_VALUE_BYTES:
        raise ValueTooLarge(
            f"The value of '{key[:64]}' has {len(value)} bytes; a value has at most {MAX_VALUE_BYTES}. "
            "Put large content into the blob store and keep its digest here.",
            key=key,
            size=len(value),
        )


def check_limit(limit: int, *, most: int = MAX_PAGE_KEYS) -> None:
    """Raise InvalidInput unless a page size is 1 to `most`."""
    if not 1 <= limit <= most:
        raise InvalidInput(f"A page holds 1 to {most} items; {limit} were asked for.", limit=limit)


def prefix_end(prefix: str) -> str | None:
    """The first text after all texts with the prefix, by UTF-8 bytes; None where there is none."""
    for position in range(len(prefix) - 1, -1, -1):
        point = ord(prefix[position])
        if point < 0x10FFFF:
            following = 0xE000 if point == 0xD7FF else point + 1
            return prefix[:position] + chr(following)
    return None
