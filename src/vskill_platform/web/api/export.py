"""All published skills in one answer: a line of JSON each, in the order of their slugs, however many there are."""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec
from litestar import get
from litestar.response import Stream

from vskill_platform.stores.changes import cursor_now
from vskill_platform.stores.skills import iter_published_skills

NDJSON_TYPE = "application/x-ndjson"
_encoder = msgspec.json.Encoder()


@get(
    "/api/v1/export/skills.ndjson",
    summary="Every published skill, one a line",
    tags=["skills"],
    media_type=NDJSON_TYPE,
)
async def export_skills() -> Stream:
    """For mirrors. Go on from here with `/api/v1/skills?updatedSince=` and what the header `X-Until` says.

    An answer that is cut off is not whole: read it again.
    """
    headers = {"X-Until": await cursor_now(), "Cache-Control": "no-store"}
    return Stream(await begun(_lines()), media_type=NDJSON_TYPE, headers=headers)


async def _lines() -> AsyncIterator[bytes]:
    async for chunk in iter_published_skills():
        yield _encoder.encode_lines(chunk)


async def begun(lines: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The same lines with the first of them read: a store that cannot be asked is an error, not the half of an answer."""
    first = await anext(lines, b"")

    async def every() -> AsyncIterator[bytes]:
        yield first
        async for line in lines:
            yield line

    return every()
