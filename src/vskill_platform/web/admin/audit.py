"""The audit log as a page: what people did, found by who, what, to what and when; and whether it is whole."""

from __future__ import annotations

from typing import Annotated

from litestar import Response, get
from litestar.params import QueryParameter

from vskill_platform.domain.access import Permission
from vskill_platform.domain.errors import InvalidInput
from vskill_platform.stores.audit_log import AuditFilter, page_entries, read_head
from vskill_platform.web.access import ACCESS, needs
from vskill_platform.web.admin.frame import admin_page
from vskill_platform.web.api.admin.audit import make_filter
from vskill_platform.web.pages.paging import address
from vskill_platform.web.pages.rendering import PageRequest

ROWS = 50
_MAX_CHARS = 500
Actor = Annotated[str, QueryParameter(name="actor", max_length=_MAX_CHARS)]
ActName = Annotated[str, QueryParameter(name="act", max_length=_MAX_CHARS)]
Subject = Annotated[str, QueryParameter(name="subject", max_length=_MAX_CHARS)]
Since = Annotated[str, QueryParameter(name="from", max_length=40)]
Until = Annotated[str, QueryParameter(name="to", max_length=40)]
Before = Annotated[int, QueryParameter(name="before", ge=0, le=2**53)]


@get("/admin/audit", opt={ACCESS: needs(Permission.SEE_AUDIT)})
async def show_audit(
    request: PageRequest,
    *,
    actor: Actor = "",
    act_name: ActName = "",
    subject: Subject = "",
    since: Since = "",
    until: Until = "",
    before: Before = 0,
) -> Response[str]:
    """The newest entries that the filters let through, and the way to older ones."""
    given = {"actor": actor, "act": act_name, "subject": subject, "from": since, "to": until}
    wanted, problem = _read_filter(given)
    found = await page_entries(wanted, before=before or None, limit=ROWS)
    return await admin_page(
        request,
        "admin/audit.html",
        section="audit",
        given=given,
        problem=problem,
        entries=found.entries,
        looked_at=found.looked_at,
        head=await read_head(),
        is_filtered=any(given.values()),
        older=None if found.before is None else address("/admin/audit", {**given, "before": found.before}),
        newest=address("/admin/audit", given) if before else None,
        export=address("/api/v1/admin/audit/export.ndjson", given),
    )


def _read_filter(given: dict[str, str]) -> tuple[AuditFilter, str]:
    """The filter, and what is wrong with it: a time that is none is left out and told."""
    try:
        made = make_filter(
            given["actor"], act_name=given["act"], subject=given["subject"], since=given["from"], until=given["to"]
        )
    except InvalidInput as error:
        return make_filter(
            given["actor"], act_name=given["act"], subject=given["subject"], since="", until=""
        ), error.message
    return made, ""
