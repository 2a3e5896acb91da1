"""The review desk: the pile, and one submission with its findings beside the file they stand in."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from litestar import Response, get
from litestar.params import FromPath, QueryParameter

from vskill_platform.domain.access import Permission
from vskill_platform.domain.scan import Finding
from vskill_platform.domain.times import ms_from_iso
from vskill_platform.stores.submissions import get_submission
from vskill_platform.web.access import ACCESS, caller_of, needs
from vskill_platform.web.admin.frame import admin_page
from vskill_platform.web.admin.source_text import SourceText, lines_of, pieces_of
from vskill_platform.web.api.admin.review_desk import DeskRow, Looked, Pile, read_desk, read_item
from vskill_platform.web.opinions import opinions_on_submission
from vskill_platform.web.pages.paging import PageNumber, make_paging, offset_of
from vskill_platform.web.pages.rendering import PageRequest
from vskill_platform.web.pages.skill_versions import diff_lines
from vskill_platform.worker_context import current_env

ROWS = 25
_NEAR = 5
_SEE = {ACCESS: needs(Permission.SEE_PANEL)}
FileName = Annotated[str, QueryParameter(name="file", max_length=4096)]
FindingNumber = Annotated[int, QueryParameter(name="finding", ge=0, le=100_000)]
FirstLine = Annotated[int, QueryParameter(name="from", ge=0, le=100_000_000)]
PileName = Annotated[Pile, QueryParameter(name="pile")]


class WaitingRow(NamedTuple):
    """A row of the desk, and for how long it has lain there."""

    row: DeskRow
    age_ms: int


class Numbered(NamedTuple):
    """A finding by its number in the list, and where it leads: the file, and the line to jump to."""

    number: int
    finding: Finding
    is_chosen: bool
    is_in_file: bool


@get("/admin/review", opt=_SEE)
async def show_desk(request: PageRequest, pile: PileName = Pile.WAITING, number: PageNumber = 1) -> Response[str]:
    """What waits for a person, the oldest first; or what the scan has turned down."""
    found = await read_desk(pile, limit=ROWS, offset=offset_of(number, size=ROWS))
    now_ms = current_env("clock").clock.now_ms()
    parameters = {"pile": pile.value if pile is not Pile.WAITING else None}
    return await admin_page(
        request,
        "admin/review.html",
        section="review",
        pile=pile.value,
        rows=[WaitingRow(row, max(0, now_ms - ms_from_iso(row.since))) for row in found.submissions],
        total=found.total,
        paging=make_paging("/admin/review", number=number, size=ROWS, total=found.total, parameters=parameters),
    )


@get("/admin/review/{identity:str}", opt=_SEE)
async def show_submission(
    request: PageRequest,
    identity: FromPath[str],
    file: FileName = "",
    finding: FindingNumber = 0,
    first_line: FirstLine = 0,
) -> Response[str]:
    """One submission: its findings on one side, the file on the other, and the buttons that decide."""
    looked = await read_item(identity)
    item = looked.item
    chosen = _choose(item.findings or [], finding, file)
    path = file or (chosen.file if chosen is not None else "") or _first_file(looked)
    numbered = list(enumerate(item.findings or [], 1))
    around = first_line or (chosen.line if chosen is not None and chosen.file == path else 1)
    first = item.row.first_approval
    return await admin_page(
        request,
        "admin/review_item.html",
        section="review",
        item=item,
        opinions=await opinions_on_submission((await get_submission(identity)).submission),
        age_ms=max(0, current_env("clock").clock.now_ms() - ms_from_iso(item.row.since)),
        findings=[Numbered(count, found, found is chosen, found.file == path) for count, found in numbered],
        file_path=path,
        text=_text(looked, path, [pair for pair in numbered if pair[1].file == path], around),
        pieces_of=pieces_of,
        changes=[(change, list(diff_lines(change.diff or ""))) for change in item.file_changes],
        is_first_mine=first is not None and first.by == caller_of(request).name,
        next_address=await _next_address(identity),
    )


def _choose(findings: list[Finding], number: int, file: str) -> Finding | None:
    """The finding that the address names; else the gravest, of the file where one is named."""
    if 1 <= number <= len(findings):
        return findings[number - 1]
    return next((found for found in findings if not file or found.file == file), None)


def _first_file(looked: Looked) -> str:
    paths = [file.path for file in looked.item.files or []]
    return "SKILL.md" if "SKILL.md" in paths else paths[0] if paths else ""


def _text(looked: Looked, path: str, findings: list[tuple[int, Finding]], around: int) -> SourceText | None:
    for file in looked.content.files if looked.content is not None else ():
        if file.path == path:
            return lines_of(file.content, findings=findings, around=around)
    return None


async def _next_address(identity: str) -> str:
    """Where to go after a decision: to what waits longest, else back to the desk."""
    waiting = (await read_desk(Pile.WAITING, limit=2, offset=0)).submissions
    following = next((row.id for row in waiting if row.id != identity), None)
    return "/admin/review" if following is None else f"/admin/review/{following}"
