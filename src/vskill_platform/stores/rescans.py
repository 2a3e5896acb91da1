"""Rescans of everything that is published: how far each has come, and which one is under way. There is one at a time.

What is in flight stands in the record itself, so that whoever goes on with a rescan knows what was started and not yet counted.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import msgspec

from vskill_platform.domain.errors import NotFound
from vskill_platform.domain.records import Record
from vskill_platform.ports.commit import ABSENT, Delete, Operation, Put
from vskill_platform.stores.reads import read_prefix, require_readable
from vskill_platform.stores.records import decode_record, encode_record
from vskill_platform.worker_context import current_env

PREFIX = "rescan:"
ACTIVE_KEY = "rescan-active"
FAILURES_TOLD = 20


class RescanState(StrEnum):
    """Where a rescan stands."""

    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    STOPPED = "STOPPED"
    DONE = "DONE"


class InFlight(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A skill that is being scanned again: its run, and what was said of it before."""

    slug: str
    submission_id: str
    run: int
    verdict: str


class Rescan(Record, frozen=True, kw_only=True, rename="camel"):
    """How far a rescan has come. `examined` skills were `current` (by these rules already), started, `skipped`
    because they are in work or wait for a person, or failed to start.

    Of those that were started some are in flight, and `finished` are done. `changed` counts other verdicts by "from to".
    `failed` are those that could not be started or ended without a report; `failures` tells of some. `cursor` is where the next
    part of the list begins, `after` the last slug of it that was looked at.
    """

    id: str
    state: RescanState
    ruleset_version: str
    by: str
    reason: str
    began_at: str
    ended_at: str | None = None
    total: int = 0
    examined: int = 0
    current: int = 0
    skipped: int = 0
    started: int = 0
    finished: int = 0
    failed: int = 0
    changed: dict[str, int] = msgspec.field(default_factory=dict)
    failures: tuple[str, ...] = ()
    in_flight: tuple[InFlight, ...] = ()
    cursor: str | None = None
    after: str = ""
    is_walked: bool = False

    @property
    def has_ended(self) -> bool:
        """Whether nothing more comes of it."""
        return self.state in (RescanState.STOPPED, RescanState.DONE)


_rescans = msgspec.json.Decoder(Rescan)


class FoundRescan(NamedTuple):
    """A rescan, and the version it was read at."""

    rescan: Rescan
    version: int


async def get_rescan(identity: str) -> FoundRescan:
    """The rescan with this id. Raises NotFound."""
    key = f"{PREFIX}{identity}"
    entry = await current_env("kv").kv.get(key)
    if entry is None:
        raise NotFound(f"There is no rescan '{identity}'.", id=identity)
    return FoundRescan(decode_record(key, entry.value, decoder=_rescans), entry.version)


async def find_active_rescan() -> FoundRescan | None:
    """The rescan that is under way or paused, or None."""
    entry = await current_env("kv").kv.get(ACTIVE_KEY)
    return None if entry is None else await get_rescan(entry.value.decode())


async def list_rescans() -> list[Rescan]:
    """Every rescan there was, newest first."""
    found = require_readable(await read_prefix(PREFIX, _decode))
    return sorted(found, key=lambda rescan: rescan.began_at, reverse=True)


def beginning(rescan: Rescan) -> list[Operation]:
    """The operations that begin a rescan; they conflict where one is under way."""
    return [_put(rescan, if_version=ABSENT), Put(ACTIVE_KEY, rescan.id.encode(), if_version=ABSENT)]


def going_on(rescan: Rescan, *, if_version: int) -> list[Operation]:
    """The operations that keep how far a rescan has come; one that has ended makes room for the next."""
    record = _put(rescan, if_version=if_version)
    return [record, Delete(ACTIVE_KEY)] if rescan.has_ended else [record]


def _put(rescan: Rescan, *, if_version: int) -> Put:
    return Put(f"{PREFIX}{rescan.id}", encode_record(rescan), if_version=if_version)


def _decode(key: str, value: bytes) -> Rescan:
    return decode_record(key, value, decoder=_rescans)
