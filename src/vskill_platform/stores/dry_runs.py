"""Dry runs: what a change of a rule would do to what is published. A record a run, and what would change in parts beside it.

They are for whoever is about to decide, so they are kept for a day.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from vskill_platform.domain.errors import NotFound
from vskill_platform.domain.records import Record
from vskill_platform.domain.scan import Verdict
from vskill_platform.ports.commit import ABSENT, Operation, Put
from vskill_platform.stores.reads import read_keys, read_prefix, require_readable
from vskill_platform.stores.records import decode_record, encode_record
from vskill_platform.worker_context import current_env

KEPT_S = 24 * 3600.0
PREFIX = "rules:dry-run:"
_PART_PREFIX = "rules:dry-run-part:"


class WouldChange(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A published skill whose verdict or score would be another. A person's approval stands whatever the verdict."""

    slug: str
    verdict: Verdict
    score: int
    new_verdict: Verdict
    new_score: int
    is_approved: bool = False


class DryRun(Record, frozen=True, kw_only=True, rename="camel"):
    """How far a dry run has come and what it has found. `now` and `then` are the words for rules before and after.

    `examined` is the sum of `unchanged`, `other_score` (with the same verdict), all `verdicts` (by "from to") and all `unknown`
    (by reason). `total` is how many skills were published when it began.
    """

    id: str
    rule: str
    word: str | None
    word_now: str
    ruleset_version: str
    new_version: str
    now: dict[str, str]
    then: dict[str, str]
    by: str
    began_at: str
    ended_at: str | None = None
    total: int = 0
    examined: int = 0
    unchanged: int = 0
    other_score: int = 0
    verdicts: dict[str, int] = msgspec.field(default_factory=dict)
    unknown: dict[str, int] = msgspec.field(default_factory=dict)
    parts: int = 0
    cursor: str | None = None


class DryRunPart(Record, frozen=True, kw_only=True, rename="camel"):
    """Skills that would change."""

    changes: tuple[WouldChange, ...]


_dry_runs = msgspec.json.Decoder(DryRun)
_parts = msgspec.json.Decoder(DryRunPart)


class FoundDryRun(NamedTuple):
    """A dry run, and the version it was read at."""

    run: DryRun
    version: int


async def get_dry_run(identity: str) -> FoundDryRun:
    """The dry run with this id. Raises NotFound."""
    entry = await current_env("kv").kv.get(f"{PREFIX}{identity}")
    if entry is None:
        raise NotFound(f"There is no dry run '{identity}'. They are kept for a day: make another.", id=identity)
    return FoundDryRun(decode_record(PREFIX, entry.value, decoder=_dry_runs), entry.version)


async def list_dry_runs() -> list[DryRun]:
    """Every dry run that is kept, newest first."""
    found = require_readable(await read_prefix(PREFIX, _decode))
    return sorted(found, key=lambda run: run.began_at, reverse=True)


async def read_changes(run: DryRun, *, first_part: int = 0, parts: int = 1) -> list[WouldChange]:
    """The skills that would change, in as many parts as are asked for."""
    last = min(run.parts, first_part + parts)
    keys = [_part_key(run.id, number) for number in range(first_part, last)]
    return [change for part in require_readable(await read_keys(keys, _decode_part)) for change in part.changes]


def putting_dry_run(run: DryRun, *, if_version: int, changes: tuple[WouldChange, ...] = ()) -> list[Operation]:
    """The operations that keep how far a dry run has come, with the part that has just been found."""
    record = Put(f"{PREFIX}{run.id}", encode_record(run), if_version=if_version, ttl_s=KEPT_S)
    if not changes:
        return [record]
    part = encode_record(DryRunPart(changes=changes))
    return [record, Put(_part_key(run.id, run.parts - 1), part, if_version=ABSENT, ttl_s=KEPT_S)]


def _part_key(identity: str, number: int) -> str:
    return f"{_PART_PREFIX}{identity}:{number:06d}"


def _decode(key: str, value: bytes) -> DryRun:
    return decode_record(key, value, decoder=_dry_runs)


def _decode_part(key: str, value: bytes) -> DryRunPart:
    return decode_record(key, value, decoder=_parts)
