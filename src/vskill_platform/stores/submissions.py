"""Submissions: reading them, finding those that look stuck, and moving them on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple

import msgspec

from vskill_platform.domain.catalog import SUBMISSIONS, Document
from vskill_platform.domain.errors import MalformedRecord, NotFound
from vskill_platform.domain.ids import SUBMISSION_PREFIX, Digest, claim_key, history_key, submission_key
from vskill_platform.domain.records import HistoryEntry, Pin, Step, Submission
from vskill_platform.domain.recovery import due_ms, is_stuck
from vskill_platform.domain.search_terms import document_terms
from vskill_platform.domain.submission import (
    SubmissionState,
    expand_state_filter,
)
from vskill_platform.domain.times import ms_from_iso
from vskill_platform.ports.catalog import CatalogQuery
from vskill_platform.ports.commit import ABSENT, Index, Operation, Put
from vskill_platform.ports.kv import DueIndex
from vskill_platform.stores.catalog import Rows, query_rows
from vskill_platform.stores.fan_out import settle_each
from vskill_platform.stores.news import telling_step
from vskill_platform.stores.reads import Decode, Settled, read_keys, read_prefix, require_complete, scan_prefix
from vskill_platform.stores.records import decode_record, encode_changed, encode_record
from vskill_platform.worker_context import current_env

_submissions = msgspec.json.Decoder(Submission)
_history = msgspec.json.Decoder(HistoryEntry)


class StuckSubmission(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A submission that has not moved for the threshold."""

    id: str
    state: SubmissionState
    repo_url: str
    skill_name: str
    skill_path: str
    updated_at: str
    stuck_for_ms: int


class _Watched(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """The fields that tell whether a submission is stuck."""

    id: str
    state: SubmissionState
    updated_at: str
    repo_url: str = ""
    skill_name: str = ""
    skill_path: str = ""


_watched = msgspec.json.Decoder(_Watched)


class SubmissionRow(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What lists show of a submission."""

    id: str
    repo_url: str
    skill_name: str
    state: SubmissionState
    created_at: str
    updated_at: str
    run: int
    reason: str | None = None
    parent_id: str | None = None
    slug: str | None = None
    version: str | None = None
    verdict: str | None = None
    score: int | None = None


_rows = msgspec.json.Decoder(SubmissionRow)


class Found(NamedTuple):
    """A submission as it was read: the record, its bytes (which may hold more than we know), and its version."""

    submission: Submission
    value: bytes
    version: int


async def find_submission(identity: str) -> Found | None:
    """The submission with this id, or None."""
    key = submission_key(identity)
    entry = await current_env("kv").kv.get(key)
    if entry is None:
        return None
    return Found(decode_submission(key, entry.value), entry.value, entry.version)


async def get_submission(identity: str) -> Found:
    """The submission with this id. Raises NotFound."""
    found = await find_submission(identity)
    if found is None:
        raise NotFound(f"There is no submission '{identity}'.", id=identity)
    return found


def decode_submission(key: str, value: bytes) -> Submission:
    """The submission in a value. Raises MalformedRecord."""
    submission = decode_record(key, value, decoder=_submissions)
    _updated_ms(key, submission.updated_at)
    return submission


class SubmissionPart(NamedTuple):
    """Some submissions, by id, and where the next ones begin; None at the end."""

    submissions: Settled[Submission]
    cursor: str | None


async def read_submission_part(cursor: str | None, *, limit: int) -> SubmissionPart:
    """The next of all submissions, at most so many, for walks that go on another time."""
    page = await current_env("kv").kv.list(SUBMISSION_PREFIX, cursor=cursor, limit=limit)
    return SubmissionPart(await read_keys(page.keys, decode_submission), None if page.complete else page.cursor)


async def get_submissions_fresh(ids: Sequence[str]) -> Settled[Submission]:
    """The submissions with these ids, in their order, straight from the records. Ids that fail are left out and counted."""
    return await read_keys([submission_key(identity) for identity in ids], decode_submission)


async def find_submissions(ids: Sequence[str]) -> Settled[Found]:
    """The submissions with these ids, each with its bytes and version. Ids that fail are left out and counted."""
    outcomes = await settle_each(ids, find_submission, in_flight=current_env("kv").settings.reads_in_flight)
    settled: Settled[Found] = Settled()
    for identity, outcome in zip(ids, outcomes, strict=True):
        settled.add_found(submission_key(identity), outcome)
    return settled


async def get_history(identity: str) -> Settled[HistoryEntry]:
    """Every step of a submission, oldest first."""
    return await read_prefix(f"hist:{identity}:", _decode_history)


def _decode_history(key: str, value: bytes) -> HistoryEntry:
    return decode_record(key, value, decoder=_history)


async def get_stuck_submissions() -> Settled[StuckSubmission]:
    """Submissions that look stuck now, the longest first.

    With a due index only what is due is read. Without one every `sub:*` record is, all at once up to the bound. A key
    that is missing, malformed or failing is left out and counted; a listing that fails raises.
    """
    env = current_env("kv")
    now_ms = env.clock.now_ms()

    def decode(key: str, value: bytes) -> StuckSubmission | None:
        return _decode_stuck(key, value, now_ms=now_ms)

    if isinstance(env.kv, DueIndex):
        stuck = await _read_due(env.kv, decode, before_ms=now_ms)
    else:
        stuck = await read_prefix(SUBMISSION_PREFIX, decode)
    stuck.sort(key=lambda submission: (-submission.stuck_for_ms, submission.id))
    return stuck


async def _read_due(kv: DueIndex, decode: Decode[StuckSubmission], *, before_ms: int) -> Settled[StuckSubmission]:
    stuck: Settled[StuckSubmission] = Settled()
    cursor: str | None = None
    while True:
        page = await kv.list_due(SUBMISSION_PREFIX, before_ms=before_ms, cursor=cursor, limit=1000)
        for due in page.entries:
            stuck.add_value(due.key, due.entry.value, decode)
        if page.complete:
            return stuck
        cursor = page.cursor


def _decode_stuck(key: str, value: bytes, *, now_ms: int) -> StuckSubmission | None:
    watched = decode_record(key, value, decoder=_watched)
    updated_ms = _updated_ms(key, watched.updated_at)
    if not is_stuck(watched.state, updated_ms=updated_ms, now_ms=now_ms):
        return None
    return StuckSubmission(
        id=watched.id,
        state=watched.state,
        repo_url=watched.repo_url,
        skill_name=watched.skill_name,
        skill_path=watched.skill_path,
        updated_at=watched.updated_at,
        stuck_for_ms=now_ms - updated_ms,
    )


def _updated_ms(key: str, text: str) -> int:
    try:
        return ms_from_iso(text)
    except ValueError as exc:
        raise MalformedRecord(f"The record '{key}' has no readable updatedAt: '{text[:40]}'.", key=key) from exc


def iter_submissions() -> AsyncIterator[Settled[Submission]]:
    """Every submission, as a stream of chunks."""
    return scan_prefix(SUBMISSION_PREFIX, decode_submission)


async def pinned_digests() -> set[Digest]:
    """The archives that submissions are about. Raises StoreUnavailable unless every submission could be read."""
    digests = require_complete(await read_prefix(SUBMISSION_PREFIX, pinned_digest))
    return set(digests)


class _Pinned(msgspec.Struct, frozen=True, rename="camel"):
    pin: Pin | None = None


_pins = msgspec.json.Decoder(_Pinned)


def pinned_digest(key: str, value: bytes) -> Digest | None:
    """The archive that the submission in a value is about, or None. Raises MalformedRecord."""
    pin = decode_record(key, value, decoder=_pins).pin
    return None if pin is None else Digest(pin.tar_digest)


async def get_submission_index(
    *,
    state: str | None = None,
    search: str = "",
    repo_url: str | None = None,
    verdict: str | None = None,
    sort: str | None = None,
    descending: bool = True,
    limit: int = 50,
    offset: int = 0,
    counts: tuple[str, ...] = (),
) -> Rows[SubmissionRow]:
    """One page of submissions, newest change first unless a sort is named, from the catalog.

    `state` is a state or a category, `repo_url` an address in its normal form. `sort` is one of `created updated skill_name`.
    `counts` names facets to be counted: `state repo_url verdict`.
    """
    where: dict[str, tuple[str, ...]] = {} if state is None else {"state": expand_state_filter(state)}
    where |= {} if repo_url is None else {"repo_url": (repo_url,)}
    where |= {} if verdict is None else {"verdict": (verdict,)}
    query = CatalogQuery(
        SUBMISSIONS,
        where=where,
        search=search,
        sort=sort or SUBMISSIONS.default_sort,
        descending=descending,
        limit=limit,
        offset=offset,
        counts=counts,
    )
    return await query_rows(query, decoder=_rows)


def creating(step: Step) -> list[Operation]:
    """The operations that bring a submission into being: its claim on (repository, skill) makes it the only one."""
    submission = step.submission
    claim = Put(claim_key(submission.repo_url, submission.claimed_name), submission.id.encode(), if_version=ABSENT)
    record = _put(submission, encode_record(submission), if_version=ABSENT)
    return [claim, record, *_telling(step), Index(index_submission(submission))]


def moving(found: Found, *steps: Step) -> list[Operation]:
    """The operations that take a submission through these steps at once, if nothing has touched it since it was read."""
    submission = steps[-1].submission
    record = _put(submission, encode_moved(found, submission), if_version=found.version)
    told = [operation for step in steps for operation in _telling(step)]
    return [record, *told, Index(index_submission(submission))]


def changing(found: Found, submission: Submission) -> Put:
    """The operation that changes fields of a submission and takes no step, if nothing has touched it since it was read."""
    return _put(submission, encode_moved(found, submission), if_version=found.version)


def encode_moved(found: Found, submission: Submission) -> bytes:
    """The record as a move from what was found writes it."""
    return encode_changed(submission, key=submission_key(submission.id), previous=found.value)


def _put(submission: Submission, value: bytes, *, if_version: int) -> Put:
    due = due_ms(submission.state, updated_ms=submission.updated_ms)
    return Put(submission_key(submission.id), value, if_version=if_version, due_ms=due)


def _telling(step: Step) -> list[Operation]:
    """History and event of one step."""
    submission, entry = step
    return [
        Put(history_key(submission.id, entry.number), encode_record(entry), if_version=ABSENT),
        telling_step(submission, entry),
    ]


def row_of(submission: Submission) -> SubmissionRow:
    """What lists show of a submission."""
    return SubmissionRow(
        id=submission.id,
        repo_url=submission.repo_url,
        skill_name=submission.skill_name,
        state=submission.state,
        created_at=submission.created_at,
        updated_at=submission.updated_at,
        run=submission.run,
        reason=submission.reason,
        parent_id=submission.parent_id,
        slug=submission.slug,
        version=submission.version,
        verdict=submission.verdict,
        score=submission.score,
    )


def index_submission(submission: Submission) -> Document:
    """The catalog's document for a submission."""
    return Document(
        collection=SUBMISSIONS,
        id=submission.id,
        row=msgspec.json.encode(row_of(submission)),
        facets={
            "state": submission.state.value,
            "repo_url": submission.repo_url,
            "verdict": "" if submission.verdict is None else submission.verdict.value,
        },
        sorts={
            "created": ms_from_iso(submission.created_at),
            "updated": submission.updated_ms,
            "skill_name": submission.skill_name,
        },
        terms=document_terms(f"{submission.skill_name} {submission.repo_url} {submission.slug or ''} {submission.id}"),
    )
