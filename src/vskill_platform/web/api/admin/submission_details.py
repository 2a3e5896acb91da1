"""Submissions as operators meet them: the list, and everything about one."""

from __future__ import annotations

from typing import Annotated

import msgspec
from litestar import get
from litestar.params import QueryParameter

from vskill_platform.domain.access import Permission
from vskill_platform.domain.errors import NotFound
from vskill_platform.domain.records import HistoryEntry
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.stores.messages import QueuedMessage, find_message
from vskill_platform.stores.positions import Position, find_position
from vskill_platform.stores.reads import require_readable
from vskill_platform.stores.scans import get_scan_of_run
from vskill_platform.stores.submissions import get_history, get_submission, get_submission_index
from vskill_platform.web.access import needs
from vskill_platform.web.api import examples
from vskill_platform.web.api.admin.requests import ManyRows
from vskill_platform.web.api.describing import described
from vskill_platform.web.api.parameters import Identity, Offset
from vskill_platform.web.views import SubmissionPage

TAGS = ["admin"]
_RUNS_SHOWN = 5
Words = Annotated[str, QueryParameter(description="Words to look for.")]
StateFilter = Annotated[str | None, QueryParameter(name="state", description="A state or a category of states.")]


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


_DETAIL = SubmissionDetail(
    id=examples.ID,
    record={"id": examples.ID, "state": "PUBLISHED", "run": 1},
    version=812,
    history=examples.SUBMISSION_VIEW.history,
    message=None,
    position=None,
    runs=[],
)


@get(
    "/api/v1/admin/submissions",
    summary="List submissions",
    tags=TAGS,
    opt=described(SubmissionPage(submissions=[examples.SUBMISSION_ROW], total=1), access=needs(Permission.SEE_PANEL)),
)
async def list_submissions(
    search: Words = "", state_filter: StateFilter = None, limit: ManyRows = 50, offset: Offset = 0
) -> SubmissionPage:
    """Submissions, newest change first."""
    found = await get_submission_index(state=state_filter, search=search, limit=limit, offset=offset)
    return SubmissionPage(submissions=found.rows, total=found.total)


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


SUBMISSION_DETAIL_ROUTES = [list_submissions, show_submission_record]
