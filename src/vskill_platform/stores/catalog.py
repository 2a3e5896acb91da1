"""The catalog as pages ask it: typed rows and counts."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

import msgspec

from vskill_platform.domain.catalog import SUBMISSIONS, Collection
from vskill_platform.domain.errors import MalformedRecord
from vskill_platform.domain.submission import SubmissionState, count_by_category
from vskill_platform.ports.catalog import CatalogQuery
from vskill_platform.stores.records import decode_record
from vskill_platform.worker_context import current_env

R = TypeVar("R")


class Rows(NamedTuple, Generic[R]):
    """One page of rows, how many there are in all, and how many have each value of the facets that were to be counted."""

    rows: list[R]
    total: int
    counts: dict[str, dict[str, int]]


async def query_rows(query: CatalogQuery, *, decoder: msgspec.json.Decoder[R]) -> Rows[R]:
    """The rows that a query asks for, decoded. A row that cannot be read raises: the catalog is ours to keep right."""
    page = await current_env("catalog").catalog.query(query)
    rows = [decode_record(identity, row, decoder=decoder) for identity, row in page.rows]
    return Rows(rows, page.total, page.counts)


async def count_facet(collection: Collection, facet: str) -> dict[str, int]:
    """How many documents of a collection have each value of a facet."""
    return await current_env("catalog").catalog.counts(collection, facet)


async def count_by_state() -> dict[SubmissionState, int]:
    """How many submissions are in each state that has any."""
    counts = await count_facet(SUBMISSIONS, "state")
    try:
        return {SubmissionState(state): count for state, count in counts.items()}
    except ValueError as exc:
        raise MalformedRecord(f"The catalog has a state that this version does not know: {exc}.") from exc


async def count_submissions() -> dict[str, int]:
    """How many submissions are in each category, and in all."""
    return sum_by_category(await count_by_state())


def sum_by_category(by_state: dict[SubmissionState, int]) -> dict[str, int]:
    """Counts by state, summed by category, and in all."""
    by_category = count_by_category(by_state)
    return {**{category.value: count for category, count in by_category.items()}, "total": sum(by_state.values())}
