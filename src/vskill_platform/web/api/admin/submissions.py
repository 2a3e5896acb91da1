"""Submissions for those who steer them: everything about one, and acts on many with a preview of what they will touch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
from litestar import get, post
from litestar.params import JSONBody

from vskill_platform.domain.access import Permission
from vskill_platform.domain.errors import InvalidInput, NotFound
from vskill_platform.domain.records import HistoryEntry
from vskill_platform.domain.repository import normalise_repository_url
from vskill_platform.domain.submission import Actor, SubmissionState, Trigger
from vskill_platform.pipeline.bulk import BulkAct, act_on_each, can_touch
from vskill_platform.pipeline.priority import Place, find_priority
from vskill_platform.stores.messages import QueuedMessage, find_message
from vskill_platform.stores.overview import forget_stuck_figures
from vskill_platform.stores.positions import Position, find_position
from vskill_platform.stores.reads import require_readable
from vskill_platform.stores.scans import get_scan_of_run
from vskill_platform.stores.selections import (
    Selected,
    SubmissionFilter,
    find_rows,
    get_selection,
    keep_selection,
    read_rows,
)
from vskill_platform.stores.submissions import SubmissionRow, get_history, get_submission
from vskill_platform.web.access import needs
from vskill_platform.web.acting import act
from vskill_platform.web.api import examples
from vskill_platform.web.api.admin.results import ItemOutcome, SliceResult, sum_up_slice
from vskill_platform.web.api.describing import described
from vskill_platform.web.api.parameters import Identity
from vskill_platform.web.pages.rendering import PageRequest
from vskill_platform.web.views import MAX_IDS

TAGS = ["admin"]
SLICE = 200
"""How many of a selection one call acts on: the caller comes again with `next`."""
SHOWN_ROWS = 20
MAX_BULK_BYTES = 64 * 1024
_RUNS_SHOWN = 5
_SELECTION = "sel_5b1f6d0c7c0d4e0f9a2b3c4d5e6f7081"
_STEER = needs(Permission.STEER_QUEUE)


class PreviewRequest(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """What is about to be done, and to which submissions: up to 1,000 ids, or all that match a filter."""

    act: BulkAct
    filter: SubmissionFilter | None = None
    ids: Annotated[list[str], msgspec.Meta(max_length=MAX_IDS)] = []


class PreviewRow(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A submission of a preview, and whether the act has something to do with it."""

    row: SubmissionRow
    is_touched: bool


class Preview(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What an act would touch as of a moment. `selection` names it for half an hour.

    `total` match the filter, `selected` of them are in the selection (10,000 at most), and `touched` of those would be acted on.
    """

    selection: str
    act: BulkAct
    as_of: str
    total: int
    selected: int
    touched: int
    rows: list[PreviewRow]


class BulkRequest(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Why, and on what: up to 1,000 ids, or a selection from one of its places on."""

    reason: str
    ids: Annotated[list[str], msgspec.Meta(max_length=MAX_IDS)] = []
    selection: str = ""
    start: Annotated[str, msgspec.Meta(pattern="^[0-9]{0,6}$")] = msgspec.field(default="", name="from")


class PriorityRequest(BulkRequest, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """The same, and where to: the front, the back, or a priority (0 is usual, higher comes first)."""

    place: Place | None = None
    priority: int | None = None


class RunView(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What the scan said in one run that is still kept."""

    run: int
    scanned_at: str
    commit: str
    verdict: str
    score: int
    findings: int
    limits_hit: tuple[str, ...]


class SubmissionDetail(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Everything about one submission. `record` is the record as it is stored, with fields that this version does not know."""

    id: str
    record: dict[str, object]
    version: int
    history: list[HistoryEntry]
    message: QueuedMessage | None
    position: Position | None
    runs: list[RunView]


_BULK = BulkRequest(reason="The host is back", selection=_SELECTION)
_DETAIL = SubmissionDetail(
    id=examples.ID,
    record={"id": examples.ID, "state": "PUBLISHED", "run": 1},
    version=812,
    history=[
        HistoryEntry(
            number=1,
            run=1,
            source=None,
            state=SubmissionState.RECEIVED,
            trigger=Trigger.SUBMITTED,
            actor=Actor.SUBMITTER,
            timestamp="2026-11-16T09:00:00.000Z",
            message="Received.",
        )
    ],
    message=None,
    position=None,
    runs=[],
)


def _result(word: str) -> SliceResult:
    outcome = ItemOutcome(id=examples.ID, outcome=word, detail="Run 2 has started.")
    return SliceResult(done=1, skipped=0, failed=0, total=1, outcomes=[outcome], next=None)


@get(
    "/api/v1/admin/submissions/{identity:str}",
    summary="Show everything about a submission",
    tags=TAGS,
    opt=described(_DETAIL, errors=(NotFound,), access=needs(Permission.SEE_PANEL)),
)
async def show_submission_record(identity: Identity) -> SubmissionDetail:
    """The record as it is stored, every step, its message, and what the scan said in each run that is kept."""
    return await read_detail(identity)


async def read_detail(identity: str) -> SubmissionDetail:
    """Everything about a submission. Raises NotFound."""
    found = await get_submission(identity)
    submission = found.submission
    runs = range(submission.run, max(submission.run - _RUNS_SHOWN, 0), -1)
    is_waiting = submission.state is SubmissionState.RECEIVED
    return SubmissionDetail(
        id=submission.id,
        record=msgspec.json.decode(found.value, type=dict[str, object]),
        version=found.version,
        history=list(require_readable(await get_history(identity))),
        message=await find_message(submission.message_id),
        position=await find_position(identity) if is_waiting else None,
        runs=[view for run in runs if (view := await _view_run(identity, run)) is not None],
    )


async def _view_run(identity: str, run: int) -> RunView | None:
    scan = await get_scan_of_run(identity, run)
    if scan is None:
        return None
    report = scan.report
    return RunView(
        run=run,
        scanned_at=scan.scanned_at,
        commit=scan.commit,
        verdict=report.verdict.value,
        score=report.score,
        findings=len(report.findings),
        limits_hit=report.limits_hit,
    )


@post(
    "/api/v1/admin/submissions/preview",
    summary="Preview an act on many submissions",
    tags=TAGS,
    status_code=200,
    request_max_body_size=MAX_BULK_BYTES,
    opt=described(
        Preview(
            selection=_SELECTION,
            act=BulkAct.RESCAN,
            as_of="2026-11-16T09:00:00.000Z",
            total=1,
            selected=1,
            touched=1,
            rows=[PreviewRow(row=examples.SUBMISSION_ROW, is_touched=True)],
        ),
        body=PreviewRequest(act=BulkAct.RESCAN, filter=SubmissionFilter(state="published")),
        access=_STEER,
    ),
)
async def preview_bulk(data: JSONBody[PreviewRequest]) -> Preview:
    """What the act would touch, counted exactly, with the first rows. Changes nothing; an act can name the selection."""
    rows, total = await _rows_of(data)
    selection = await keep_selection(rows, total=total)
    touched = [can_touch(data.act, row) for row in rows]
    shown = zip(rows[:SHOWN_ROWS], touched, strict=False)
    return Preview(
        selection=selection.id,
        act=data.act,
        as_of=selection.as_of,
        total=total,
        selected=len(rows),
        touched=sum(touched),
        rows=[PreviewRow(row=row, is_touched=is_touched) for row, is_touched in shown],
    )


async def _rows_of(data: PreviewRequest) -> tuple[list[SubmissionRow], int]:
    if bool(data.ids) == (data.filter is not None):
        raise InvalidInput("Say on what: either ids or a filter; an empty filter means every submission.")
    if data.filter is None:
        rows = await read_rows(data.ids)
        return rows, len(rows)
    wanted = data.filter
    if wanted.repo_url:
        wanted = msgspec.structs.replace(wanted, repo_url=normalise_repository_url(wanted.repo_url).url)
    return await find_rows(wanted)


@post(
    "/api/v1/admin/submissions/requeue",
    summary="Requeue submissions",
    tags=TAGS,
    status_code=200,
    request_max_body_size=MAX_BULK_BYTES,
    opt=described(_result("requeued"), body=_BULK, errors=(NotFound,), access=_STEER),
)
async def requeue_submissions(request: PageRequest, data: JSONBody[BulkRequest]) -> SliceResult:
    """Send them back: a dead letter becomes deliverable, a lost message is sent again, what has ended gets a new run."""
    return await _act_on_many(request, BulkAct.REQUEUE, data)


@post(
    "/api/v1/admin/submissions/dequeue",
    summary="Take submissions out",
    tags=TAGS,
    status_code=200,
    request_max_body_size=MAX_BULK_BYTES,
    opt=described(_result("dequeued"), body=_BULK, errors=(NotFound,), access=_STEER),
)
async def dequeue_submissions(request: PageRequest, data: JSONBody[BulkRequest]) -> SliceResult:
    """Take out what waits or is in work, with its message. The history of each keeps the reason."""
    return await _act_on_many(request, BulkAct.DEQUEUE, data)


@post(
    "/api/v1/admin/submissions/rescan",
    summary="Scan again what submissions have published",
    tags=TAGS,
    status_code=200,
    request_max_body_size=MAX_BULK_BYTES,
    opt=described(_result("rescanned"), body=_BULK, errors=(NotFound,), access=_STEER),
)
async def rescan_submissions(request: PageRequest, data: JSONBody[BulkRequest]) -> SliceResult:
    """Scan the published bytes once more, by the rules of today. Nothing is fetched."""
    return await _act_on_many(request, BulkAct.RESCAN, data)


@post(
    "/api/v1/admin/submissions/reprioritise",
    summary="Move submissions in the line",
    tags=TAGS,
    status_code=200,
    request_max_body_size=MAX_BULK_BYTES,
    opt=described(
        _result("reprioritised"),
        body=PriorityRequest(reason="A customer waits", ids=[examples.ID], place=Place.FRONT),
        errors=(NotFound,),
        access=_STEER,
    ),
)
async def reprioritise_submissions(request: PageRequest, data: JSONBody[PriorityRequest]) -> SliceResult:
    """To the front, to the back, or to a priority. What is in work stays where it is."""
    if (data.place is None) == (data.priority is None):
        raise InvalidInput("Say where to: either a place (front or back) or a priority.")
    wanted = data.place if data.place is not None else data.priority
    assert wanted is not None
    return await _act_on_many(request, BulkAct.REPRIORITISE, data, priority=await find_priority(wanted))


async def _act_on_many(request: PageRequest, wanted: BulkAct, data: BulkRequest, *, priority: int = 0) -> SliceResult:
    selected, following = await _select(data)
    subject = selected[0].id if len(selected) == 1 else f"{len(selected)} submissions"
    outcomes = await act(
        request,
        f"submission.{wanted.value}",
        subject=subject,
        reason=data.reason,
        run=lambda: act_on_each(wanted, selected, reason=data.reason, priority=priority),
    )
    forget_stuck_figures()
    told = [ItemOutcome(**item._asdict()) for item in outcomes]
    return sum_up_slice(told, done=[wanted.done_word], following=following)


async def _select(data: BulkRequest) -> tuple[Sequence[Selected], str | None]:
    """What a request means, and where a selection goes on after it."""
    if bool(data.ids) == bool(data.selection):
        raise InvalidInput("Say on what: either ids or a selection.")
    if data.ids:
        return [Selected(identity) for identity in dict.fromkeys(data.ids)], None
    selection = await get_selection(data.selection)
    start = int(data.start or 0)
    end = start + SLICE
    pairs = zip(selection.ids[start:end], selection.changed_at[start:end], strict=True)
    selected = [Selected(*pair) for pair in pairs]
    if not selected:
        raise InvalidInput(f"The selection has {len(selection.ids)} submissions; there is none from {start} on.")
    return selected, str(end) if end < len(selection.ids) else None


SUBMISSION_ROUTES = [
    show_submission_record,
    preview_bulk,
    requeue_submissions,
    dequeue_submissions,
    rescan_submissions,
    reprioritise_submissions,
]
