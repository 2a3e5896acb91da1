"""The audit log for those who look after it: pages, all of it as lines, and whether it is whole."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

import msgspec
from litestar import get, post
from litestar.params import QueryParameter
from litestar.response import Stream

from vskill_platform.domain.access import Permission
from vskill_platform.domain.audit import AuditEntry
from vskill_platform.domain.errors import InvalidInput
from vskill_platform.domain.times import ms_from_iso
from vskill_platform.stores.audit_log import (
    AuditFilter,
    AuditPage,
    Verification,
    iter_entries,
    page_entries,
    verify_log,
)
from vskill_platform.web.access import needs
from vskill_platform.web.api.describing import described
from vskill_platform.web.api.export import NDJSON_TYPE, begun
from vskill_platform.web.api.parameters import DEFAULT_LIMIT, Limit

TAGS = ["admin"]
_MAX_CHARS = 500
_encoder = msgspec.json.Encoder()
Actor = Annotated[str, QueryParameter(max_length=_MAX_CHARS, description="Name or id of whoever acted.")]
ActName = Annotated[
    str,
    QueryParameter(name="act", max_length=_MAX_CHARS, description="An act, `queue.pause`, or all of a kind, `queue`."),
]
Subject = Annotated[
    str, QueryParameter(max_length=_MAX_CHARS, description="What it was done to, or a record that it changed.")
]
Since = Annotated[str, QueryParameter(name="from", max_length=40, description="A time: what was done from then on.")]
Until = Annotated[str, QueryParameter(name="to", max_length=40, description="A time: what was done up to then.")]
Before = Annotated[
    int | None, QueryParameter(ge=1, le=2**53, description="The `before` of the page before: older entries.")
]
After = Annotated[int, QueryParameter(ge=0, le=2**53, description="The number of an entry: what came after it.")]


class AuditList(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Entries, newest first. `before` leads to older ones and is null where there are none; it may be there though few
    or no entries were found, because one page is looked for in `lookedAt` entries only."""

    entries: list[AuditEntry]
    before: int | None
    looked_at: int


class ChainView(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Whether every entry follows the one before, byte for byte. `entry` is the first that does not.

    `hash` is the end of the chain: noted elsewhere, it tells later whether the log was written anew as a whole.
    """

    is_whole: bool
    entries: int
    hash: str
    entry: int | None
    detail: str


_ENTRY = AuditEntry(
    number=1,
    at="2026-11-16T09:00:00.000Z",
    act="queue.pause",
    subject="queue",
    reason="The git host is down",
    actor="ada",
    actor_id="user_1",
    role="SUPER_ADMIN",
    via="session",
    touched=("queue:paused",),
    previous="0" * 64,
    hash="5f" * 32,
)
_WHOLE = ChainView(
    is_whole=True,
    entries=1,
    hash="5f" * 32,
    entry=None,
    detail="The log is whole: 1 entry, each bound to the one before.",
)


@get(
    "/api/v1/admin/audit",
    summary="What people did",
    tags=TAGS,
    opt=described(AuditList(entries=[_ENTRY], before=None, looked_at=1), access=needs(Permission.SEE_AUDIT)),
)
async def list_audit(
    *,
    actor: Actor = "",
    act_name: ActName = "",
    subject: Subject = "",
    since: Since = "",
    until: Until = "",
    before: Before = None,
    limit: Limit = DEFAULT_LIMIT,
) -> AuditList:
    """Acts of people and of the operator, newest first."""
    wanted = make_filter(actor, act_name=act_name, subject=subject, since=since, until=until)
    return view_page(await page_entries(wanted, before=before, limit=limit))


def view_page(found: AuditPage) -> AuditList:
    """A page as the API has it."""
    return AuditList(entries=found.entries, before=found.before, looked_at=found.looked_at)


def make_filter(actor: str, *, act_name: str, subject: str, since: str, until: str) -> AuditFilter:
    """The filter that the parameters of a request ask for. Raises InvalidInput for what is no time."""
    return AuditFilter(
        actor=actor.strip(),
        act=act_name.strip(),
        subject=subject.strip(),
        since_ms=_read_time(since),
        until_ms=_read_time(until),
    )


def _read_time(text: str) -> int | None:
    if not text.strip():
        return None
    try:
        return ms_from_iso(text.strip())
    except (ValueError, OverflowError) as exc:
        raise InvalidInput(f"'{text[:40]}' is no time such as 2026-11-16T09:00:00Z.") from exc


@get(
    "/api/v1/admin/audit/export.ndjson",
    summary="The audit log, one entry a line",
    tags=TAGS,
    media_type=NDJSON_TYPE,
    opt=described(msgspec.json.encode(_ENTRY).decode(), access=needs(Permission.SEE_AUDIT), types=(NDJSON_TYPE,)),
)
async def export_audit(
    *,
    actor: Actor = "",
    act_name: ActName = "",
    subject: Subject = "",
    since: Since = "",
    until: Until = "",
    after: After = 0,
) -> Stream:
    """Oldest first, with the hashes. Without a filter anybody can follow the chain in it; an answer cut off is not whole."""
    wanted = make_filter(actor, act_name=act_name, subject=subject, since=since, until=until)
    headers = {"Cache-Control": "no-store", "Content-Disposition": 'attachment; filename="audit.ndjson"'}
    return Stream(await begun(_lines(wanted, after)), media_type=NDJSON_TYPE, headers=headers)


async def _lines(wanted: AuditFilter, after: int) -> AsyncIterator[bytes]:
    async for chunk in iter_entries(wanted, after=after):
        if chunk:
            yield _encoder.encode_lines(chunk)


@post(
    "/api/v1/admin/audit/verify",
    summary="Verify the audit log",
    tags=TAGS,
    status_code=200,
    opt=described(_WHOLE, access=needs(Permission.SEE_AUDIT)),
)
async def verify_audit() -> ChainView:
    """Follow the chain from the first entry to the last, and say whether it is whole. Changes nothing."""
    return view_verification(await verify_log())


def view_verification(found: Verification) -> ChainView:
    """What a verification came to, in words too."""
    fault = found.fault
    entries = f"{found.entries:,} {'entry' if found.entries == 1 else 'entries'}"
    said = f"The log is whole: {entries}, each bound to the one before." if fault is None else fault.text
    return ChainView(
        is_whole=fault is None,
        entries=found.entries,
        hash=found.head.hash,
        entry=None if fault is None else fault.number,
        detail=said,
    )


AUDIT_ROUTES = [list_audit, export_audit, verify_audit]
