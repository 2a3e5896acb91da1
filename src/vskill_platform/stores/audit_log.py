"""Reading the audit log: pages of it from the newest back, all of it in order, and whether it is whole.

Entries are numbered without a gap, so their keys are known, and nothing here holds more than a chunk of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple

import msgspec

from vskill_platform.domain.audit import (
    AUDIT_HEAD_KEY,
    AuditEntry,
    AuditHead,
    Chain,
    ChainFault,
    audit_key,
)
from vskill_platform.domain.errors import MalformedRecord, StoreUnavailable
from vskill_platform.domain.times import ms_from_iso
from vskill_platform.stores.reads import read_keys, require_complete
from vskill_platform.stores.records import decode_record, encode_record
from vskill_platform.worker_context import current_env

CHUNK = 500
MOST_LOOKED_AT = 20_000
"""How many entries one page is looked for in."""
_CLOCKS_DIFFER_MS = 3600 * 1000
_heads = msgspec.json.Decoder(AuditHead)
_entries = msgspec.json.Decoder(AuditEntry)


class AuditFilter(NamedTuple):
    """Which entries: what is given must match; an actor by name or id, an act also by its beginning, up to a dot."""

    actor: str = ""
    act: str = ""
    subject: str = ""
    since_ms: int | None = None
    until_ms: int | None = None

    def matches(self, entry: AuditEntry) -> bool:
        """Whether an entry is one of those."""
        if self.actor and self.actor not in (entry.actor, entry.actor_id):
            return False
        if self.act and entry.act != self.act and not entry.act.startswith(f"{self.act}."):
            return False
        if self.subject and self.subject not in (entry.subject, *entry.touched):
            return False
        return self._is_in_time(ms_from_iso(entry.at))

    def _is_in_time(self, at_ms: int) -> bool:
        is_early = self.since_ms is not None and at_ms < self.since_ms
        return not is_early and not (self.until_ms is not None and at_ms > self.until_ms)


class AuditPage(NamedTuple):
    """Entries, newest first; `before` leads on to older ones, and is None at the beginning of the log."""

    entries: list[AuditEntry]
    before: int | None
    looked_at: int


class Verification(NamedTuple):
    """Whether the chain is whole: how many entries were followed, where it ends, and the first fault."""

    entries: int
    head: AuditHead
    fault: ChainFault | None


async def read_head() -> AuditHead:
    """The end of the chain."""
    entry = await current_env("kv").kv.get(AUDIT_HEAD_KEY)
    return AuditHead() if entry is None else decode_record(AUDIT_HEAD_KEY, entry.value, decoder=_heads)


async def page_entries(wanted: AuditFilter, *, before: int | None = None, limit: int = 50) -> AuditPage:
    """The newest entries that match, from before a number on. Raises StoreUnavailable where some could not be read.

    A filter that matches little is looked for in so many entries; `before` then leads on, though nothing may have been found.
    """
    last = (await read_head()).number if before is None else before - 1
    if wanted.until_ms is not None:
        last = await _last_until(wanted.until_ms + _CLOCKS_DIFFER_MS, last)
    found: list[AuditEntry] = []
    lowest = max(0, last - MOST_LOOKED_AT)
    looked_at = 0
    chunk = min(CHUNK, 2 * limit)
    while last > lowest:
        first = max(lowest, last - chunk) + 1
        looked_at += last + 1 - first
        for entry in reversed(await _read(range(first, last + 1))):
            if wanted.since_ms is not None and ms_from_iso(entry.at) < wanted.since_ms - _CLOCKS_DIFFER_MS:
                return AuditPage(found, None, looked_at)
            if wanted.matches(entry):
                found.append(entry)
            if len(found) == limit:
                return AuditPage(found, entry.number if entry.number > 1 else None, looked_at)
        last, chunk = first - 1, CHUNK
    return AuditPage(found, last + 1 if last > 0 else None, looked_at)


async def _last_until(moment_ms: int, last: int) -> int:
    """The last entry up to a moment, by halving: entries are in the order of time as far as clocks agree."""
    low, high = 0, last
    while low < high:
        middle = (low + high + 1) // 2
        entries = await _read([middle])
        if entries and ms_from_iso(entries[0].at) <= moment_ms:
            low = middle
        else:
            high = middle - 1
    return low


async def iter_entries(wanted: AuditFilter, *, after: int = 0) -> AsyncIterator[list[AuditEntry]]:
    """Every entry that matches, oldest first, in chunks, up to where the log ended when this began."""
    last = (await read_head()).number
    for first in range(after + 1, last + 1, CHUNK):
        entries = await _read(range(first, min(first + CHUNK, last + 1)))
        yield [entry for entry in entries if wanted.matches(entry)]


async def verify_log() -> Verification:
    """Follow the chain from its first entry to its end. Raises StoreUnavailable where an entry could not be read."""
    try:
        head = await _read_sound_head()
    except MalformedRecord as error:
        return Verification(0, AuditHead(), ChainFault(0, error.message))
    chain = Chain()
    for first in range(1, head.number + 1, CHUNK):
        values = await _read_values(range(first, min(first + CHUNK, head.number + 1)))
        fault = await asyncio.to_thread(_follow, chain, values)
        if fault is not None:
            return Verification(fault.number, head, fault)
    return Verification(head.number, head, await _fault_at_end(chain, head))


def _follow(chain: Chain, values: Sequence[bytes | None]) -> ChainFault | None:
    """The first fault among some entries. Hashing many of them is no work for the event loop."""
    return next((fault for fault in map(chain.follow, values) if fault is not None), None)


async def _read_sound_head() -> AuditHead:
    entry = await current_env("kv").kv.get(AUDIT_HEAD_KEY)
    head = AuditHead() if entry is None else decode_record(AUDIT_HEAD_KEY, entry.value, decoder=_heads)
    if entry is not None and entry.value != encode_record(AuditHead(number=head.number, hash=head.hash)):
        raise MalformedRecord("The end of the log was changed: its bytes are not as they were written.")
    return head


async def _fault_at_end(chain: Chain, head: AuditHead) -> ChainFault | None:
    if chain.end.hash != head.hash:
        return ChainFault(head.number, f"The log ends with entry {head.number}, but its end names another hash.")
    (beyond,) = await _read_values([head.number + 1])
    if beyond is None or (await read_head()).number > head.number:
        return None
    number = head.number + 1
    return ChainFault(number, f"Entry {number} stands after the end of the log, which is entry {head.number}.")


async def _read(numbers: Sequence[int]) -> list[AuditEntry]:
    """The entries of these numbers, but those that are missing or damaged: that is for a verification to say."""
    found = await read_keys([audit_key(number) for number in numbers], _decode)
    if found.failed:
        raise StoreUnavailable(f"{found.failed} entries of the audit log could not be read. Try again shortly.")
    return list(found)


async def _read_values(numbers: Sequence[int]) -> list[bytes | None]:
    keys = [audit_key(number) for number in numbers]
    found = dict(require_complete(await read_keys(keys, lambda key, value: (key, value))))
    return [found.get(key) for key in keys]


def _decode(key: str, value: bytes) -> AuditEntry:
    return decode_record(key, value, decoder=_entries)
