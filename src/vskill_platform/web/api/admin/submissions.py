"""Acts on many submissions: a preview of what they will touch, and then just that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
from litestar import post
from litestar.params import JSONBody

from vskill_platform.domain.access import Permission
from vskill_platform.domain.errors import InvalidInput, NotFound
from vskill_platform.domain.repository import known_repository
from vskill_platform.pipeline.bulk import DONE_WORDS, FAILED_WORDS, BulkAct, can_touch, doing
from vskill_platform.pipeline.priority import Place, find_priority
from vskill_platform.pipeline.rescan import rescan_outdated
from vskill_platform.pipeline.rules import rules_in_force
from vskill_platform.stores.overview import forget_stuck_figures
from vskill_platform.stores.selections import SubmissionFilter, find_rows, get_selection, keep_selection, read_rows
from vskill_platform.stores.submissions import SubmissionRow
from vskill_platform.web.access import needs
from vskill_platform.web.acting import act, act_on_each
from vskill_platform.web.api import examples
from vskill_platform.web.api.admin.requests import Reason
from vskill_platform.web.api.admin.results import (
    BulkResult,
    ItemOutcome,
    Requeued,
    SliceResult,
    as_requeued,
    sum_up,
    sum_up_slice,
)
from vskill_platform.web.api.describing import described
from vskill_platform.web.pages.rendering import PageRequest
from vskill_platform.web.views import MAX_IDS

TAGS = ["admin"]
SLICE = 200
"""How many of a selection one call acts on: the caller comes again with `next`."""
SHOWN_ROWS = 20
ACT_NAMES = {
    BulkAct.REQUEUE: "queue.requeue",
    BulkAct.DEQUEUE: "queue.dequeue",
    BulkAct.RESCAN: "skills.rescan",
    BulkAct.REPRIORITISE: "queue.reprioritise",
}
"""What the audit log calls them."""
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


_RESCANS_A_CALL = 1000
_SLUG = "acme/skills/pdf-forms"
_RESCANNED = sum_up([ItemOutcome(id=_SLUG, outcome="new_run", detail=f"Run 2 of {examples.ID}.")], done=["new_run"])
_BULK = BulkRequest(reason="The host is back", selection=_SELECTION)


def _result(word: str, detail: str) -> SliceResult:
    return sum_up_slice([ItemOutcome(id=examples.ID, outcome=word, detail=detail)], done=[word], following=None)


@post(
    "/api/v1/admin/submissions/preview",
    summary="Preview an act on many submissions",
    tags=TAGS,
    status_code=200,
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
        wanted = msgspec.structs.replace(wanted, repo_url=known_repository(wanted.repo_url))
    return await find_rows(wanted)


@post(
    "/api/v1/admin/submissions/requeue",
    summary="Requeue submissions",
    tags=TAGS,
    status_code=200,
    opt=described(as_requeued(_result("new_run", "Run 2 has started.")), body=_BULK, errors=(NotFound,), access=_STEER),
)
async def requeue_submissions(request: PageRequest, data: JSONBody[BulkRequest]) -> Requeued:
    """Send them back: a dead letter becomes deliverable, a lost message is sent again, what has ended gets a new run."""
    return as_requeued(await _act_on_many(request, BulkAct.REQUEUE, data))


@post(
    "/api/v1/admin/submissions/dequeue",
    summary="Take submissions out",
    tags=TAGS,
    status_code=200,
    opt=described(_result("dequeued", "Taken out."), body=_BULK, errors=(NotFound,), access=_STEER),
)
async def dequeue_submissions(request: PageRequest, data: JSONBody[BulkRequest]) -> SliceResult:
    """Take out what waits or is in work, with its message. The history of each keeps the reason."""
    return await _act_on_many(request, BulkAct.DEQUEUE, data)


@post(
    "/api/v1/admin/submissions/rescan",
    summary="Scan again what submissions have published",
    tags=TAGS,
    status_code=200,
    opt=described(_result("new_run", "Run 2 has started."), body=_BULK, errors=(NotFound,), access=_STEER),
)
async def rescan_submissions(request: PageRequest, data: JSONBody[BulkRequest]) -> SliceResult:
    """Scan the published bytes again, by submission or by slug. Nothing is fetched; what fails now is withdrawn."""
    return await _act_on_many(request, BulkAct.RESCAN, data)


@post(
    "/api/v1/admin/submissions/rescan-outdated",
    summary="Scan again what other rules were applied to",
    tags=TAGS,
    status_code=200,
    opt=described(_RESCANNED, body=Reason(reason="New rules."), access=needs(Permission.STEER_QUEUE)),
)
async def rescan_after_new_rules(request: PageRequest, data: JSONBody[Reason]) -> BulkResult:
    """Start a rescan of published skills that were last scanned by other rules, at most 1000 a call."""
    ruleset = (await rules_in_force()).ruleset
    started = await act(
        request,
        "skills.rescan_outdated",
        subject="skills",
        reason=data.reason,
        run=lambda: rescan_outdated(ruleset.version, limit=_RESCANS_A_CALL),
    )
    items = [
        ItemOutcome(id=one.slug or one.id, outcome="new_run", detail=f"Run {one.run} of {one.id}.") for one in started
    ]
    return sum_up(items, done=["new_run"])


@post(
    "/api/v1/admin/submissions/reprioritise",
    summary="Move submissions in the line",
    tags=TAGS,
    status_code=200,
    opt=described(
        _result("reprioritised", "Its priority is 1."),
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
    ids, shown, following = await _select(data)
    do = doing(wanted, shown=shown, reason=data.reason, priority=priority)
    outcomes = await act_on_each(request, ACT_NAMES[wanted], ids=ids, reason=data.reason, run=do)
    forget_stuck_figures()
    items = [ItemOutcome(**item._asdict()) for item in outcomes]
    return sum_up_slice(items, done=DONE_WORDS[wanted], failed=FAILED_WORDS, following=following)


async def _select(data: BulkRequest) -> tuple[Sequence[str], dict[str, str], str | None]:
    """What a request means, when each had last changed when it was shown, and where a selection goes on after it."""
    if bool(data.ids) == bool(data.selection):
        raise InvalidInput("Say on what: either ids or a selection.")
    if data.ids:
        return data.ids, {}, None
    selection = await get_selection(data.selection)
    start = int(data.start or 0)
    end = start + SLICE
    ids = selection.ids[start:end]
    if not ids:
        raise InvalidInput(f"The selection has {len(selection.ids)} submissions; there is none from {start} on.")
    shown = dict(zip(ids, selection.changed_at[start:end], strict=True))
    return ids, shown, str(end) if end < len(selection.ids) else None


SUBMISSION_ROUTES = [
    preview_bulk,
    requeue_submissions,
    dequeue_submissions,
    rescan_submissions,
    rescan_after_new_rules,
    reprioritise_submissions,
]
