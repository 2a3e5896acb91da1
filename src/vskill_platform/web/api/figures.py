"""Places in the line, and figures over time."""

from __future__ import annotations

from typing import Annotated

import msgspec
from litestar import Response, get
from litestar.params import QueryParameter

from vskill_platform.stores.positions import Line, read_line
from vskill_platform.stores.series import MOST_HOURS, Hour, Series, read_series
from vskill_platform.web.api.describing import described
from vskill_platform.web.api.examples import ID
from vskill_platform.web.api.parameters import read_subjects

FIRST_PLACES = 500


class Positions(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Places in the line, from 1, and how many wait in all. Who does not wait has none.

    `expected_wait_s` is for who comes last now; null where the queue does not move or nobody knows how fast.
    """

    positions: dict[str, int]
    total: int
    expected_wait_s: int | None


_POSITIONS = Positions(positions={ID: 3}, total=12, expected_wait_s=14)
_HOUR = Hour(hour="2026-02-21T10", received=40, published=31, failed=2, verdicts={"PASS": 31, "FAIL": 2}, depth_last=7)
_SERIES = Series(hours=[_HOUR], counted_at="2026-02-21T10:59:30.000Z")


@get(
    "/api/v1/submissions/positions",
    summary="Show places in the line",
    tags=["queue"],
    opt=described(_POSITIONS),
)
async def show_positions(
    ids: Annotated[
        str | None, QueryParameter(description="Submissions to look for, with commas between; up to 500.")
    ] = None,
) -> Response[Positions]:
    """The places of these submissions in the line; without `ids`, the first 500 of it."""
    named = read_subjects("ids", ids)
    line = await read_line()
    places = {identity: line.places[identity] for identity in _wanted(line, named)}
    shown = Positions(positions=places, total=line.total, expected_wait_s=_last_wait_s(line))
    return Response(shown, headers={"Cache-Control": "no-store"})


@get("/api/v1/stats/series", summary="Show figures over time", tags=["stats"], opt=described(_SERIES))
async def show_series(
    hours: Annotated[int, QueryParameter(ge=1, le=MOST_HOURS, description="How many hours, up to a month.")] = 48,
) -> Response[Series]:
    """What came in and what became of it, by the hour, and how long the queue was."""
    return Response(await read_series(hours), headers={"Cache-Control": "public, max-age=30"})


def _wanted(line: Line, named: frozenset[str] | None) -> list[str]:
    if named is None:
        return list(line.places)[:FIRST_PLACES]
    return sorted((identity for identity in named if identity in line.places), key=lambda one: line.places[one])


def _last_wait_s(line: Line) -> int | None:
    return round(line.total / line.rate) if line.rate else None
