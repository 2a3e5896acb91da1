"""The one way to read many keys: bounded, in bulk where the engine can, and settled.

Settled means that one key that is missing, malformed or failing does not spoil the rest: it is left out and counted. A
caller for whom "could not read" must not look like "nothing there" calls `require_readable`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import TypeVar

import structlog

from vskill_platform.domain.errors import MalformedRecord, StoreUnavailable, VskillError
from vskill_platform.ports.kv import BulkGet, Entry, Scan
from vskill_platform.stores.fan_out import settle_each
from vskill_platform.worker_context import current_env

T = TypeVar("T")
Decode = Callable[[str, bytes], T | None]
"""Makes a result of a key and its value; None leaves it out. Raises MalformedRecord for what it cannot read."""

BULK_KEYS = 1000
_log = structlog.get_logger(__name__)


class Settled(list[T]):
    """What could be read, in the order of the keys, and how many keys were missing, malformed or failing."""

    def __init__(self, items: Iterable[T] = (), *, missing: int = 0, malformed: int = 0, failed: int = 0) -> None:
        super().__init__(items)
        self.missing = missing
        self.malformed = malformed
        self.failed = failed

    def add_value(self, key: str, value: bytes, decode: Decode[T]) -> None:
        """Decode one value into the list, or count it as malformed."""
        try:
            item = decode(key, value)
        except MalformedRecord as error:
            self.add_found(key, error)
        else:
            if item is not None:
                self.append(item)

    def add_outcome(self, key: str, outcome: Entry | Exception | None, decode: Decode[T]) -> None:
        """Decode one outcome of a read into the list, or count what it was instead."""
        if isinstance(outcome, Entry):
            self.add_value(key, outcome.value, decode)
        else:
            self.add_found(key, outcome)

    def add_found(self, key: str, found: T | Exception | None) -> None:
        """Take what was found under a key into the list, or count what it was instead."""
        if found is None:
            self.missing += 1
        elif isinstance(found, MalformedRecord):
            self.malformed += 1
            _log.warning("record_malformed", key=key, error=found.message)
        elif isinstance(found, Exception):
            self.failed += 1
            _log.warning("read_failed", key=key, error=str(found))
        else:
            self.append(found)

    def add_settled(self, other: Settled[T]) -> None:
        """Append another settled read."""
        self.extend(other)
        self.missing += other.missing
        self.malformed += other.malformed
        self.failed += other.failed


def require_readable(settled: Settled[T]) -> Settled[T]:
    """The same, unless keys failed and nothing could be read: then StoreUnavailable, because unknown is not empty."""
    if settled.failed and not settled:
        raise StoreUnavailable(
            f"{settled.failed} records could not be read, and none could. Try again shortly.", failed=settled.failed
        )
    return settled


def require_complete(settled: Settled[T]) -> Settled[T]:
    """The same, unless anything that is there could not be read: then StoreUnavailable, because a part is not the whole."""
    if settled.failed or settled.malformed:
        raise StoreUnavailable(
            f"{settled.failed} records could not be read and {settled.malformed} are malformed. The log names them.",
            failed=settled.failed,
            malformed=settled.malformed,
        )
    return settled


async def list_keys(prefix: str) -> AsyncIterator[Sequence[str]]:
    """Pages of keys, to the end of the listing. A page that fails raises."""
    kv = current_env("kv").kv
    cursor: str | None = None
    while True:
        page = await kv.list(prefix, cursor=cursor)
        if page.keys:
            yield page.keys
        if page.complete:
            return
        cursor = page.cursor


async def read_keys(keys: Sequence[str], decode: Decode[T]) -> Settled[T]:
    """Read the keys: in bulk where the engine can, else side by side up to the bound."""
    settled: Settled[T] = Settled()
    for key, outcome in zip(keys, await _read_outcomes(keys), strict=True):
        settled.add_outcome(key, outcome, decode)
    return settled


async def read_prefix(prefix: str, decode: Decode[T], *, exclude: str | None = None) -> Settled[T]:
    """Read everything under a prefix; keys under `exclude` are never read."""
    settled: Settled[T] = Settled()
    async for chunk in scan_prefix(prefix, decode, exclude=exclude):
        settled.add_settled(chunk)
    return settled


async def scan_prefix(prefix: str, decode: Decode[T], *, exclude: str | None = None) -> AsyncIterator[Settled[T]]:
    """The same as a stream of chunks.

    One pass where the engine can scan; otherwise the listing is followed to its end and then the keys are read.
    """
    kv = current_env("kv").kv
    if isinstance(kv, Scan):
        async for chunk in kv.scan(prefix, exclude=exclude):
            settled: Settled[T] = Settled()
            for key, value in chunk:
                settled.add_value(key, value, decode)
            yield settled
        return
    keys = [key async for page in list_keys(prefix) for key in page if not (exclude and key.startswith(exclude))]
    chunk_keys = max(BULK_KEYS, current_env("kv").settings.reads_in_flight)
    for start in range(0, len(keys), chunk_keys):
        yield await read_keys(keys[start : start + chunk_keys], decode)


async def _read_outcomes(keys: Sequence[str]) -> Sequence[Entry | Exception | None]:
    env = current_env("kv")
    if not isinstance(env.kv, BulkGet):
        return await settle_each(keys, env.kv.get, in_flight=env.settings.reads_in_flight)
    outcomes: list[Entry | Exception | None] = []
    for start in range(0, len(keys), BULK_KEYS):
        chunk = keys[start : start + BULK_KEYS]
        try:
            outcomes.extend(await env.kv.get_many(chunk))
        except VskillError as error:
            outcomes.extend([error] * len(chunk))
    return outcomes
