"""What has changed among published skills since a client last asked, with nothing left out.

A client comes back with the `until` of the answer before. It holds a place in the event log, whose order is the order of
commits, so that no clock decides what is new. Events are kept for days only: who comes later, or with a time of its own,
is led through all tombstones and all skills that changed since, by the times that they hold, and then goes on from the
place that the log had when that walk began.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

import msgspec

from vskill_platform.domain.catalog import SKILLS, Document
from vskill_platform.domain.errors import InvalidCursor, InvalidInput
from vskill_platform.domain.skill import PublishedSkillSummary
from vskill_platform.domain.times import iso_from_ms, ms_from_iso
from vskill_platform.domain.tombstone import TOMBSTONE_PREFIX, Departure, Tombstone, tombstone_key
from vskill_platform.ports.events import MAX_EVENTS_PAGE, Event
from vskill_platform.stores.reads import read_keys, require_complete
from vskill_platform.stores.records import decode_record
from vskill_platform.stores.skills import get_summaries
from vskill_platform.stores.tombstones import decode_tombstone
from vskill_platform.worker_context import current_env

MARGIN_MS = 3600 * 1000
"""How much earlier than asked a walk begins: clocks of machines differ, and a commit comes later than the time it holds."""
_MOST_PAGES = 20
_PREFIX = "c."
_KINDS = ("skill.", "version.")
_rows = msgspec.json.Decoder(PublishedSkillSummary)


class Changes(NamedTuple):
    """Skills as they are now, slugs that nothing is published under any more, and the cursor to come back with."""

    skills: list[PublishedSkillSummary]
    tombstones: list[Tombstone]
    until: str
    has_more: bool


class _Part(StrEnum):
    LOG = "log"
    TOMBSTONES = "tombstones"
    SKILLS = "skills"


class _Cursor(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """A place: in the log, or on a walk, with the place in the log to go on from after it."""

    sequence: int
    made_ms: int
    part: _Part = _Part.LOG
    since_ms: int = 0
    after: str | None = None


_cursors = msgspec.json.Decoder(_Cursor)


class _Moved(msgspec.Struct, frozen=True):
    """What the data of an event tells of a slug that was left; only a new name has one."""

    former: str | None = msgspec.field(default=None, name="from")


_moves = msgspec.json.Decoder(_Moved)


async def cursor_now() -> str:
    """The cursor of a client that knows everything as it is now, or is about to read it."""
    return _write(await _log_place())


async def read_changes(since: str, *, limit: int) -> Changes:
    """What changed since a time or a cursor, at most about `limit` at once. Raises InvalidInput for anything else."""
    cursor = _read(since) if since.startswith(_PREFIX) else await _begin_walk(_read_time(since))
    match cursor.part:
        case _Part.LOG:
            return await _follow_log(cursor, limit=limit)
        case _Part.TOMBSTONES:
            return await _walk_tombstones(cursor, limit=limit)
        case _Part.SKILLS:
            return await _walk_skills(cursor, limit=limit)


async def _follow_log(cursor: _Cursor, *, limit: int) -> Changes:
    slugs: dict[str, Event] = {}
    last, is_at_end = cursor.sequence, False
    for _ in range(_MOST_PAGES):
        page = await current_env("events").events.read(last)
        if page.reset:
            return await read_changes(_write(await _begin_walk(cursor.made_ms)), limit=limit)
        for event in page.events:
            slugs.update(dict.fromkeys(_slugs_of(event), event))
            last = event.sequence
            if len(slugs) >= limit:
                break
        else:
            last, is_at_end = page.last, len(page.events) < MAX_EVENTS_PAGE
        if is_at_end or len(slugs) >= limit:
            break
    until = _Cursor(sequence=last, made_ms=_now_ms())
    skills, tombstones = await _read_present(slugs)
    return Changes(skills, tombstones, _write(until), not is_at_end)


def _slugs_of(event: Event) -> list[str]:
    if not event.kind.startswith(_KINDS):
        return []
    try:
        former = _moves.decode(event.data).former
    except msgspec.MsgspecError:
        former = None
    return [event.subject] if former is None else [former, event.subject]


async def _read_present(slugs: dict[str, Event]) -> tuple[list[PublishedSkillSummary], list[Tombstone]]:
    """How each slug stands now: what is published there, or what is kept of what was."""
    skills = require_complete(await get_summaries(list(slugs)))
    published = {skill.slug for skill in skills}
    gone = [slug for slug in slugs if slug not in published]
    kept = require_complete(await read_keys([tombstone_key(slug) for slug in gone], decode_tombstone))
    marked = {tombstone.slug for tombstone in kept}
    unmarked = [
        Tombstone(slug=slug, kind=Departure.WITHDRAWN, at=iso_from_ms(slugs[slug].at_ms))
        for slug in gone
        if slug not in marked
    ]
    return list(skills), [*kept, *unmarked]


async def _begin_walk(since_ms: int) -> _Cursor:
    place = await _log_place()
    return msgspec.structs.replace(place, part=_Part.TOMBSTONES, since_ms=max(0, since_ms - MARGIN_MS))


async def _walk_tombstones(cursor: _Cursor, *, limit: int) -> Changes:
    """Tombstones from where the cursor stands, with the skills that have a new name: those need not have changed since."""
    tombstones: list[Tombstone] = []
    for _ in range(_MOST_PAGES):
        page = await current_env("kv").kv.list(TOMBSTONE_PREFIX, cursor=cursor.after, limit=limit)
        found = require_complete(await read_keys(page.keys, decode_tombstone))
        tombstones += [tombstone for tombstone in found if _is_since(tombstone.at, cursor)]
        part = _Part.SKILLS if page.complete else _Part.TOMBSTONES
        cursor = msgspec.structs.replace(cursor, part=part, after=None if page.complete else page.cursor)
        if page.complete or len(tombstones) >= limit:
            break
    renamed = dict.fromkeys(tombstone.to for tombstone in tombstones if tombstone.to)
    skills = require_complete(await get_summaries(list(renamed)))
    return Changes(list(skills), tombstones, _write(cursor), has_more=True)


async def _walk_skills(cursor: _Cursor, *, limit: int) -> Changes:
    skills: list[PublishedSkillSummary] = []
    after = cursor.after or ""
    for _ in range(_MOST_PAGES):
        documents = await current_env("catalog").catalog.documents(SKILLS, after=after)
        if not documents:
            return Changes(skills, [], _write(_Cursor(sequence=cursor.sequence, made_ms=cursor.made_ms)), has_more=True)
        for document in documents:
            after = document.id
            skills += _if_since(document, cursor)
            if len(skills) >= limit:
                break
        if len(skills) >= limit:
            break
    return Changes(skills, [], _write(msgspec.structs.replace(cursor, after=after)), has_more=True)


def _if_since(document: Document, cursor: _Cursor) -> Iterable[PublishedSkillSummary]:
    row = decode_record(document.id, document.row, decoder=_rows)
    return [row] if _is_since(row.updated_at, cursor) else []


def _is_since(moment: str, cursor: _Cursor) -> bool:
    """Whether a record's time is in what was asked for; one that cannot be read may be, so it is."""
    try:
        return ms_from_iso(moment) >= cursor.since_ms
    except ValueError:
        return True


async def _log_place() -> _Cursor:
    return _Cursor(sequence=await current_env("events").events.last_sequence(), made_ms=_now_ms())


def _now_ms() -> int:
    return current_env("clock").clock.now_ms()


def _read_time(text: str) -> int:
    try:
        return ms_from_iso(text)
    except (ValueError, OverflowError) as exc:
        raise InvalidInput(
            f"'{text[:60]}' is neither a time such as 2026-02-21T10:00:00Z nor the 'until' of an earlier answer."
        ) from exc


def _write(cursor: _Cursor) -> str:
    return _PREFIX + base64.urlsafe_b64encode(msgspec.json.encode(cursor)).decode().rstrip("=")


def _read(text: str) -> _Cursor:
    given = text.removeprefix(_PREFIX)
    try:
        cursor = _cursors.decode(base64.urlsafe_b64decode(given + "=" * (-len(given) % 4)))
    except (binascii.Error, ValueError, msgspec.MsgspecError) as exc:
        raise _damaged() from exc
    numbers = (cursor.sequence, cursor.made_ms, cursor.since_ms)
    if not all(0 <= number < 2**53 for number in numbers) or "\0" in (cursor.after or ""):
        raise _damaged()
    return cursor


def _damaged() -> InvalidCursor:
    return InvalidCursor("The cursor is damaged. Give the 'until' of an earlier answer as it was, or a time.")
