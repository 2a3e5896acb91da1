"""Trust: how verdicts are made and how well, and what was verified, blocked and rejected, with reasons."""

from __future__ import annotations

from typing import Literal, NamedTuple

from litestar import Response, get
from litestar.params import FromQuery

from vskill_platform.domain.submission import Category
from vskill_platform.scanning.accuracy import Measured, measured_accuracy
from vskill_platform.scanning.scoring import CONCERNS_FROM, PASS_FROM, PENALTIES
from vskill_platform.stores.blocklist import list_blocks
from vskill_platform.stores.reads import require_readable
from vskill_platform.stores.skills import get_published_skills_list
from vskill_platform.stores.submissions import get_submission_index
from vskill_platform.web.pages.paging import PageNumber, address, make_paging, offset_of
from vskill_platform.web.pages.rendering import PageRequest, page

PATH = "/trust"
PAGE_SIZE = 50
Shown = Literal["", "verified", "blocked", "rejected"]
_TITLES: dict[Shown, str] = {
    "": "How verdicts are made",
    "verified": "Verified",
    "blocked": "Blocked",
    "rejected": "Rejected",
}
_KINDS = {
    "malicious": ("Malicious skills", "flagged", True),
    "tricks": ("Skills that hide what they do", "flagged", True),
    "pairs": ("A few harmful lines planted in a clean skill", "flagged", True),
    "benign": ("Harmless skills that look dangerous", "flagged by mistake", False),
}


class Figure(NamedTuple):
    """One measured figure in words: what was looked at, what happened to it, and whether more of it is better."""

    what: str
    happened: str
    is_wanted: bool
    measured: Measured


@get(PATH)
async def show_trust_page(request: PageRequest, show: FromQuery[Shown] = "", number: PageNumber = 1) -> Response[str]:
    """How verdicts are made, or one of the lists."""
    rows, total = await _rows(show, offset_of(number, size=PAGE_SIZE))
    accuracy = measured_accuracy()
    return page(
        request,
        "trust.html",
        show=show,
        tabs=[(title, address(PATH, {"show": name}), name == show) for name, title in _TITLES.items()],
        rows=rows,
        paging=make_paging(PATH, number=number, size=PAGE_SIZE, total=total, parameters={"show": show}),
        figures=[Figure(*_KINDS[measured.kind], measured) for measured in accuracy.measured],
        ruleset_version=accuracy.ruleset_version,
        penalties=PENALTIES,
        pass_from=PASS_FROM,
        concerns_from=CONCERNS_FROM,
    )


async def _rows(show: Shown, offset: int) -> tuple[list[object], int]:
    match show:
        case "verified":
            skills = await get_published_skills_list(limit=PAGE_SIZE, offset=offset)
            return [*skills.rows], skills.total
        case "blocked":
            blocks = sorted(require_readable(await list_blocks()), key=lambda block: block.created_at, reverse=True)
            return [*blocks[offset : offset + PAGE_SIZE]], len(blocks)
        case "rejected":
            found = await get_submission_index(state=Category.REJECTED.value, limit=PAGE_SIZE, offset=offset)
            return [*found.rows], found.total
        case "":
            return [], 0
