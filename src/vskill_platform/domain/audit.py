"""The audit log: what people and the operator did, each entry bound to the one before by its hash.

An entry that is changed, left out or put elsewhere breaks the chain, and the head says where the chain ends. Whoever can
write the whole store can also forge a whole chain: what was exported, or noted of the head, elsewhere, tells that.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import msgspec

from vskill_platform.domain.records import Record

AUDIT_PREFIX = "audit:"
AUDIT_HEAD_KEY = "audit-head"
START = "0" * 64
"""The hash before the first entry."""


class Act(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody is about to do, and why: the fields of an entry that are known before it is done."""

    act: str
    subject: str
    reason: str
    actor: str
    actor_id: str
    role: str
    via: str
    request: str = ""


class AuditEntry(Record, frozen=True, kw_only=True, rename="camel"):
    """One commit of an act. `touched` are the records and messages that it changed, cut where there are many."""

    number: int
    at: str
    act: str
    subject: str
    reason: str
    actor: str
    actor_id: str
    role: str
    via: str
    request: str = ""
    touched: tuple[str, ...] = ()
    previous: str
    hash: str = ""


_entries = msgspec.json.Decoder(AuditEntry)


class AuditHead(Record, frozen=True, kw_only=True, rename="camel"):
    """The end of the chain."""

    number: int = 0
    hash: str = START


def audit_key(number: int) -> str:
    """The key of an entry."""
    return f"{AUDIT_PREFIX}{number:012d}"


def seal(entry: AuditEntry) -> AuditEntry:
    """The entry with its hash, which covers everything in it and the hash of the entry before."""
    return msgspec.structs.replace(entry, hash=hash_entry(entry))


def hash_entry(entry: AuditEntry) -> str:
    """What the hash of an entry has to be."""
    bare = msgspec.structs.replace(entry, hash="")
    return hashlib.sha256(msgspec.json.encode(bare, order="sorted")).hexdigest()


class ChainFault(NamedTuple):
    """Where the chain is broken, and how, in a sentence."""

    number: int
    text: str


class Chain:
    """A walk along the chain: it is handed the bytes of each entry in turn, and holds nothing but the end of what it saw."""

    def __init__(self, after: AuditHead | None = None) -> None:
        self.end = after or AuditHead()

    def follow(self, value: bytes | None) -> ChainFault | None:
        """Go on to the next entry, which has these bytes, or none. What is wrong with it, or None where it is sound."""
        number = self.end.number + 1
        if value is None:
            return ChainFault(number, f"Entry {number} is missing.")
        try:
            entry = _entries.decode(value)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return ChainFault(number, f"Entry {number} was changed: it cannot be read as an entry.")
        fault = self._fault_of(entry, value, number)
        self.end = AuditHead(number=number, hash=entry.hash)
        return None if fault is None else ChainFault(number, fault)

    def _fault_of(self, entry: AuditEntry, value: bytes, number: int) -> str | None:
        if entry.number != number:
            return f"Entry {number} is not there: entry {entry.number} stands in its place."
        if hash_entry(entry) != entry.hash:
            return f"Entry {number} was changed: its hash is not that of what it says."
        if msgspec.json.encode(entry) != value:
            # A byte of a field's name or of what no field has is not in the hash, and is as little ours to overlook.
            return f"Entry {number} was changed: its bytes are not as they were written."
        if entry.previous != self.end.hash:
            return f"Entry {number} does not follow the entry before it."
        return None
