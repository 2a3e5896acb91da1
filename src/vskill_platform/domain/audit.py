"""The audit log: what people and the operator did, each entry bound to the one before by its hash.

An entry that is changed, left out or put elsewhere breaks the chain, and the head says where the chain ends.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import msgspec

from vskill_platform.domain.records import Record

AUDIT_PREFIX = "audit:"
AUDIT_HEAD_KEY = "audit-head"
START = "0" * 64
"""The hash before the first entry."""


class Act(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody is about to do, and why."""

    name: str
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


def find_break(entries: Iterable[AuditEntry], *, after: AuditHead) -> str | None:
    """What is wrong with entries that follow `after`, in a sentence; None where they are a chain."""
    number, previous = after.number, after.hash
    for entry in entries:
        number += 1
        if entry.number != number:
            return f"Entry {number} is missing: entry {entry.number} stands in its place."
        if entry.previous != previous:
            return f"Entry {number} does not follow the entry before it."
        if hash_entry(entry) != entry.hash:
            return f"Entry {number} was changed: its hash is not that of what it says."
        previous = entry.hash
    return None
