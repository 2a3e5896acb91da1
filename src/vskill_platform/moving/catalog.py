"""The catalog held against the records, and made right where it differs.

Both are walked side by side in the order of their ids, a slice at a time, so that a registry of any size can be mended while it
runs. What differs is written in a commit that holds the record to the version that was read: whoever changes it meanwhile has
written its document too, and wins.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec
import structlog

from vskill_platform.domain.catalog import CATALOG_FORM, COLLECTIONS, SKILLS, SUBMISSIONS, Collection, Document
from vskill_platform.domain.errors import Conflict, InvalidCursor, InvalidInput, MalformedRecord, StoreUnavailable
from vskill_platform.domain.ids import ALIAS_PREFIX, SKILL_PREFIX, SUBMISSION_PREFIX
from vskill_platform.ports.commit import ABSENT, Check, Index, Unindex
from vskill_platform.ports.kv import Entry, check_key
from vskill_platform.stores.fan_out import settle_each
from vskill_platform.stores.skills import decode_skill, index_skill
from vskill_platform.stores.submissions import decode_submission, index_submission
from vskill_platform.worker_context import current_env

_log = structlog.get_logger(__name__)
_PREFIXES = {SUBMISSIONS.name: SUBMISSION_PREFIX, SKILLS.name: SKILL_PREFIX}
_SLICE_RECORDS = 500
_MOST_TOLD = 20


class CatalogSlice(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What one slice of the walk found. `cursor` leads to the next one; None after the last.

    `missing` had no document, `differing` another one, `unbacked` are documents without a record. `malformed` records cannot
    be read, so their documents are left as they are. `told` names some of what differs.
    """

    examined: int
    missing: int
    differing: int
    unbacked: int
    malformed: int
    told: list[str]
    cursor: str | None


class _Place(msgspec.Struct, frozen=True):
    """Where a walk stands: in which collection, where in the listing of records, and after which document."""

    collection: str = SUBMISSIONS.name
    listing: str | None = None
    after: str = ""


_places = msgspec.json.Decoder(_Place)


def document_of(key: str, value: bytes) -> Document | None:
    """The document that belongs to a record; None for a record that no catalog lists. Raises MalformedRecord."""
    try:
        if key.startswith(SUBMISSION_PREFIX):
            document = index_submission(decode_submission(key, value))
        elif key.startswith(SKILL_PREFIX) and not key.startswith(ALIAS_PREFIX):
            document = index_skill(decode_skill(key, value))
        else:
            return None
    except (ValueError, InvalidInput) as exc:
        raise MalformedRecord(f"The record '{key}' cannot be listed: {exc}", key=key) from exc
    if f"{_PREFIXES[document.collection.name]}{document.id}" != key:
        raise MalformedRecord(f"The record '{key}' says that it is '{document.id}'.", key=key)
    return document


async def rebuild_catalog_slice(cursor: str | None, *, is_dry_run: bool) -> CatalogSlice:
    """Walk the next slice; without a cursor, the first. A dry run writes nothing."""
    place = _read_cursor(cursor)
    walk = _Walk(COLLECTIONS[place.collection], is_dry_run=is_dry_run)
    following = await walk.go(place)
    return CatalogSlice(
        examined=walk.examined,
        missing=walk.missing,
        differing=walk.differing,
        unbacked=walk.unbacked,
        malformed=walk.malformed,
        told=walk.told,
        cursor=None if following is None else msgspec.json.encode(following).decode(),
    )


async def renew_catalog() -> None:
    """Bring documents that an earlier version has left to the form that this one makes. Nothing to do is the usual case.

    A walk that is cut off begins again at the next opening. Several processes may walk at once; each mends what is left.
    """
    catalog = current_env("catalog").catalog
    if await catalog.form() >= CATALOG_FORM:
        return
    examined = renewed = 0
    cursor: str | None = None
    while True:
        found = await rebuild_catalog_slice(cursor, is_dry_run=False)
        examined, renewed = examined + found.examined, renewed + found.missing + found.differing + found.unbacked
        cursor = found.cursor
        if cursor is None:
            break
    await catalog.set_form(CATALOG_FORM)
    if examined:
        _log.info("catalog_renewed", records=examined, documents=renewed, form=CATALOG_FORM)


def _read_cursor(cursor: str | None) -> _Place:
    if cursor is None:
        return _Place()
    try:
        place = _places.decode(cursor)
    except msgspec.MsgspecError as exc:
        raise InvalidCursor("The cursor is damaged. Begin again without one.") from exc
    if place.collection not in COLLECTIONS:
        raise InvalidCursor(f"There is no collection '{place.collection}'.")
    return place


class _Walk:
    """One slice of one collection."""

    def __init__(self, collection: Collection, *, is_dry_run: bool) -> None:
        self.examined = self.missing = self.differing = self.unbacked = self.malformed = 0
        self.told: list[str] = []
        self._collection = collection
        self._prefix = _PREFIXES[collection.name]
        self._is_dry_run = is_dry_run

    async def go(self, place: _Place) -> _Place | None:
        """Compare the next records with the documents beside them; gives the place after."""
        page = await current_env("kv").kv.list(self._prefix, cursor=place.listing, limit=_SLICE_RECORDS)
        keys = [key for key in page.keys if not key.startswith(ALIAS_PREFIX)]
        records = await self._read(keys)
        self.examined += len(records)
        horizon = page.keys[-1].removeprefix(self._prefix) if page.keys else place.after
        async for document in self._documents(place.after, None if page.complete else horizon):
            await self._compare(document, records)
        for key, entry in records.items():
            wanted = self._decode(key, entry)
            if wanted is not None and await self._mend(key, "has no document", entry=entry, wanted=wanted):
                self.missing += 1
        if not page.complete:
            return _Place(self._collection.name, page.cursor, horizon)
        return _Place(SKILLS.name) if self._collection is SUBMISSIONS else None

    async def _read(self, keys: list[str]) -> dict[str, Entry]:
        env = current_env("kv")
        outcomes = await settle_each(keys, env.kv.get, in_flight=env.settings.reads_in_flight)
        records: dict[str, Entry] = {}
        for key, outcome in zip(keys, outcomes, strict=True):
            if isinstance(outcome, Exception):
                raise StoreUnavailable(f"'{key}' could not be read: {outcome}. Try again shortly.") from outcome
            if outcome is not None:
                records[key] = outcome
        return records

    async def _documents(self, after: str, horizon: str | None) -> AsyncIterator[Document]:
        """Documents after an id, up to the horizon."""
        catalog = current_env("catalog").catalog
        while documents := await catalog.documents(self._collection, after=after):
            for document in documents:
                if horizon is not None and document.id.encode() > horizon.encode():
                    return
                yield document
            after = documents[-1].id

    async def _compare(self, document: Document, records: dict[str, Entry]) -> None:
        key = f"{self._prefix}{document.id}"
        entry = records.pop(key, None)
        if entry is None:
            self.unbacked += await self._mend(key, "has a document and no record", entry=None, wanted=None)
            return
        wanted = self._decode(key, entry)
        if wanted is not None and wanted.with_terms_sorted() != document:
            self.differing += await self._mend(key, "has another document than its own", entry=entry, wanted=wanted)

    def _decode(self, key: str, entry: Entry) -> Document | None:
        """The document that a record should have; None, and counted, where it cannot be read."""
        try:
            return document_of(key, entry.value)
        except MalformedRecord as error:
            self.malformed += 1
            self._tell(error.message)
            return None

    def _tell(self, sentence: str) -> None:
        if len(self.told) < _MOST_TOLD:
            self.told.append(sentence)

    async def _mend(self, key: str, what: str, *, entry: Entry | None, wanted: Document | None) -> bool:
        """Write the document that the record wants, with its search index, and say whether there was need to.

        Where the record has changed since it was read there is none: whoever changed it wrote its document too.
        """
        version = ABSENT if entry is None else entry.version
        check = [Check(key, version)] if _can_have_document(key) else []
        try:
            if self._is_dry_run:
                await self._require(check)
            else:
                index = [] if wanted is None else [Index(wanted)]
                removal = Unindex(self._collection, key.removeprefix(self._prefix))
                await current_env("writes").writes.commit([*check, removal, *index])
        except Conflict:
            return False
        self._tell(f"'{key}' {what}.")
        return True

    async def _require(self, checks: list[Check]) -> None:
        """Raise Conflict unless the checks hold now."""
        for check in checks:
            entry = await current_env("kv").kv.get(check.key)
            if check.if_version != (ABSENT if entry is None else entry.version):
                raise Conflict(f"'{check.key}' has changed.", key=check.key)


def _can_have_document(key: str) -> bool:
    try:
        check_key(key)
    except InvalidInput:
        return False
    return not key.startswith(ALIAS_PREFIX)
