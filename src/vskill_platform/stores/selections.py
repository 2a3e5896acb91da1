"""Selections: which submissions somebody was shown before an act on many of them, kept for a while.

An act that names a selection does what was shown and nothing else: who joined the filter meanwhile is not in it, and who has
moved since is left alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from vskill_platform.domain.errors import NotFound
from vskill_platform.domain.records import Record
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.ports.commit import ABSENT, Put
from vskill_platform.stores.reads import require_readable
from vskill_platform.stores.records import decode_record, encode_record
from vskill_platform.stores.submissions import SubmissionRow, get_submission_index, get_submissions_fresh, row_of
from vskill_platform.worker_context import current_env

KEPT_S = 1800.0
MOST_SELECTED = 10_000
_PAGE = 1000


class SubmissionFilter(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Which submissions: those that match everything that is given. `state` is a state or a category."""

    state: str = ""
    search: str = ""
    repo_url: str = ""
    verdict: str = ""


class Selection(Record, frozen=True, kw_only=True, rename="camel"):
    """What was shown: submissions by id, each with when it had last changed. `total` may be more than could be selected."""

    id: str
    as_of: str
    total: int
    ids: tuple[str, ...]
    changed_at: tuple[str, ...]


_selections = msgspec.json.Decoder(Selection)


async def find_rows(wanted: SubmissionFilter) -> tuple[list[SubmissionRow], int]:
    """The submissions that match, the oldest first, as far as a selection goes; and how many match in all."""
    rows: dict[str, SubmissionRow] = {}
    total = 0
    for offset in range(0, MOST_SELECTED, _PAGE):
        # What submissions are ordered by here never changes, so that pages fit together while they are read.
        page = await get_submission_index(
            state=wanted.state or None,
            search=wanted.search,
            repo_url=wanted.repo_url or None,
            verdict=wanted.verdict or None,
            sort="created",
            descending=False,
            limit=_PAGE,
            offset=offset,
        )
        total = page.total if offset == 0 else total
        rows |= {row.id: row for row in page.rows}
        if len(page.rows) < _PAGE:
            break
    return list(rows.values()), max(total, len(rows))


async def read_rows(ids: Sequence[str]) -> list[SubmissionRow]:
    """The submissions with these ids that there are, in their order, each once."""
    return [row_of(one) for one in require_readable(await get_submissions_fresh(list(dict.fromkeys(ids))))]


async def keep_selection(rows: list[SubmissionRow], *, total: int) -> Selection:
    """Keep what is shown, under a name that an act can give."""
    env = current_env("writes")
    selection = Selection(
        id=f"sel_{env.random_id().hex}",
        as_of=iso_from_ms(env.clock.now_ms()),
        total=total,
        ids=tuple(row.id for row in rows),
        changed_at=tuple(row.updated_at for row in rows),
    )
    put = Put(_key(selection.id), encode_record(selection), if_version=ABSENT, ttl_s=KEPT_S)
    await env.writes.commit([put])
    return selection


async def get_selection(identity: str) -> Selection:
    """A selection by its name. Raises NotFound for one that was never made or is too old."""
    key = _key(identity)
    entry = await current_env("kv").kv.get(key)
    if entry is None:
        raise NotFound(
            f"There is no selection '{identity}'. It may be too old: look at the preview again.", id=identity
        )
    return decode_record(key, entry.value, decoder=_selections)


def _key(identity: str) -> str:
    return f"selection:{identity}"
