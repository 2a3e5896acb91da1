"""Submissions in lists: filtered, searched, ordered, paged and counted."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import msgspec
from litestar import get
from litestar.params import QueryParameter

from vskill_platform.domain.errors import InvalidRepositoryUrl
from vskill_platform.domain.repository import known_repository
from vskill_platform.domain.scan import Verdict
from vskill_platform.domain.submission import Category, SubmissionState
from vskill_platform.ports.catalog import MAX_SEARCH_CHARS
from vskill_platform.stores.catalog import Rows, count_by_state, sum_by_category
from vskill_platform.stores.submissions import SubmissionRow, get_submission_index
from vskill_platform.web.api import examples
from vskill_platform.web.api.describing import described
from vskill_platform.web.api.parameters import (
    DEFAULT_LIMIT,
    Direction,
    Limit,
    Offset,
    RepositoryUrl,
    Search,
    SortDirection,
)

TAGS = ["submissions"]
StateWord = StrEnum(  # type: ignore[misc]
    "StateWord",
    {word.name: word.value for word in SubmissionState} | {f"ANY_{word.name}": word.value for word in Category},
)
StateWord.__doc__ = "A state of a submission, or a category of states."


class SubmissionSort(StrEnum):
    """What submissions are ordered by."""

    CREATED = "created"
    UPDATED = "updated"
    SKILL_NAME = "skillName"


_SORTS = {
    SubmissionSort.CREATED: "created",
    SubmissionSort.UPDATED: "updated",
    SubmissionSort.SKILL_NAME: "skill_name",
}
StateFilter = Annotated[StateWord | None, QueryParameter(name="state", description="A state or a category of states.")]
VerdictFilter = Annotated[Verdict | None, QueryParameter(description="What the scan said.")]
Sort = Annotated[SubmissionSort, QueryParameter(description="What rows are ordered by.")]
Wanted = Annotated[
    str,
    QueryParameter(
        name="q", min_length=2, max_length=MAX_SEARCH_CHARS, description="Words to look for, 2 characters or more."
    ),
]


class SubmissionList(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One page of submissions, how many match in all, and how many of those that match otherwise are in each state."""

    submissions: list[SubmissionRow]
    total: int
    limit: int
    offset: int
    counts: dict[str, dict[str, int]]


class RejectionList(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One page of submissions that were turned down, the newest first, with their reasons."""

    rejections: list[SubmissionRow]
    total: int
    limit: int
    offset: int


class SubmissionStats(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How many submissions there are in each category and in each state, and in all."""

    total: int
    by_category: dict[str, int]
    by_state: dict[str, int]


_LIST = SubmissionList(
    submissions=[examples.SUBMISSION_ROW], total=1, limit=50, offset=0, counts={"state": {"PUBLISHED": 1}}
)
_STATS = SubmissionStats(
    total=1949,
    by_category={name: count for name, count in examples.CATEGORIES.items() if name != "total"},
    by_state={"RECEIVED": 16, "NEEDS_REVIEW": 4, "PUBLISHED": 1803, "REJECTED": 120, "BLOCKED": 6},
)


@get(
    "/api/v1/submissions",
    summary="List submissions",
    tags=TAGS,
    opt=described(_LIST, errors=(InvalidRepositoryUrl,), is_kept=True),
)
async def list_submissions(
    *,
    state_word: StateFilter = None,
    search: Search = "",
    repo_url: RepositoryUrl = "",
    verdict: VerdictFilter = None,
    sort: Sort = SubmissionSort.UPDATED,
    direction: SortDirection = Direction.DESC,
    limit: Limit = DEFAULT_LIMIT,
    offset: Offset = 0,
) -> SubmissionList:
    """Submissions that match every filter that is given, the newest change first unless a sort is named."""
    found = await get_submission_index(
        state=None if state_word is None else state_word.value,
        search=search,
        repo_url=known_repository(repo_url) if repo_url else None,
        verdict=None if verdict is None else verdict.value,
        sort=_SORTS[sort],
        descending=direction is Direction.DESC,
        limit=limit,
        offset=offset,
        counts=("state",),
    )
    return _listed(found, limit=limit, offset=offset)


@get("/api/v1/submissions/search", summary="Search submissions", tags=TAGS, opt=described(_LIST, is_kept=True))
async def search_submissions(
    wanted: Wanted, state_word: StateFilter = None, limit: Limit = DEFAULT_LIMIT, offset: Offset = 0
) -> SubmissionList:
    """Submissions by words of their repository, skill, slug or id."""
    found = await get_submission_index(
        state=None if state_word is None else state_word.value,
        search=wanted,
        limit=limit,
        offset=offset,
        counts=("state",),
    )
    return _listed(found, limit=limit, offset=offset)


@get("/api/v1/submissions/stats", summary="Count submissions", tags=TAGS, opt=described(_STATS, is_kept=True))
async def show_submission_stats() -> SubmissionStats:
    """How many submissions are in each category and state. A state that none is in is not named."""
    by_state = await count_by_state()
    by_category = sum_by_category(by_state)
    total = by_category.pop("total")
    return SubmissionStats(
        total=total, by_category=by_category, by_state={state.value: count for state, count in by_state.items()}
    )


@get(
    "/api/v1/rejections",
    summary="List rejections",
    tags=["trust"],
    opt=described(RejectionList(rejections=[examples.REJECTED_ROW], total=1, limit=50, offset=0), is_kept=True),
)
async def list_rejections(search: Search = "", limit: Limit = DEFAULT_LIMIT, offset: Offset = 0) -> RejectionList:
    """Submissions that were turned down, the newest first. `reason` is the code of why."""
    found = await get_submission_index(state=Category.REJECTED.value, search=search, limit=limit, offset=offset)
    return RejectionList(rejections=found.rows, total=found.total, limit=limit, offset=offset)


def _listed(found: Rows[SubmissionRow], *, limit: int, offset: int) -> SubmissionList:
    return SubmissionList(submissions=found.rows, total=found.total, limit=limit, offset=offset, counts=found.counts)
