"""Alerts: what is wrong now, what was, and saying that somebody looks after it."""

from __future__ import annotations

from typing import Annotated

import msgspec
from litestar import get, post
from litestar.params import JSONBody

from vskill_platform.domain.access import Permission
from vskill_platform.domain.alert import Alert, AlertCode, AlertSeverity, HistoryLine
from vskill_platform.domain.errors import Conflict, NotFound
from vskill_platform.stores.alerts import acknowledge, list_alerts
from vskill_platform.web.access import caller_of, needs
from vskill_platform.web.acting import act
from vskill_platform.web.api.describing import described
from vskill_platform.web.pages.rendering import PageRequest

TAGS = ["admin"]


class AlertView(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An alert. It is open while `closedAt` is null; `subject` is the machine it is about, or empty."""

    id: str
    code: AlertCode
    subject: str
    severity: AlertSeverity
    sentence: str
    advice: str
    opened_at: str
    seen_at: str
    told_at: str | None
    closed_at: str | None
    acknowledged_at: str | None
    acknowledged_by: str
    note: str
    history: list[HistoryLine]


class AlertList(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Every alert that is or was, the open ones first, and how many are open."""

    open: int
    alerts: list[AlertView]


class Acknowledgement(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Which alert, and what is being done about it."""

    id: Annotated[str, msgspec.Meta(min_length=1, max_length=300)]
    reason: str


class Acknowledged(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The alert, and what that means."""

    alert: AlertView
    detail: str


_EXAMPLE = AlertView(
    id="dead_letters",
    code=AlertCode.DEAD_LETTERS,
    subject="",
    severity=AlertSeverity.WARNING,
    sentence="3 messages could not be worked on and will not be tried again.",
    advice="Look at the dead letters: each has its last error. Send them back once the cause is gone, or drop them.",
    opened_at="2026-11-16T09:00:00.000Z",
    seen_at="2026-11-16T09:05:00.000Z",
    told_at="2026-11-16T09:00:00.000Z",
    closed_at=None,
    acknowledged_at=None,
    acknowledged_by="",
    note="",
    history=[
        HistoryLine(
            at="2026-11-16T09:00:00.000Z", what="opened", sentence="1 message could not be worked on and will not be …"
        )
    ],
)
_QUIET = "It is not told again while it stays open and gets no worse."


@get(
    "/api/v1/admin/alerts",
    summary="List alerts",
    tags=TAGS,
    opt=described(AlertList(open=1, alerts=[_EXAMPLE]), access=needs(Permission.SEE_PANEL)),
)
async def list_all_alerts() -> AlertList:
    """What is wrong now, the worst first, and what was before."""
    alerts = await list_alerts()
    return AlertList(open=sum(alert.is_open for alert in alerts), alerts=[view_alert(alert) for alert in alerts])


@post(
    "/api/v1/admin/alerts/acknowledge",
    summary="Acknowledge an alert",
    tags=TAGS,
    status_code=200,
    opt=described(
        Acknowledged(alert=_EXAMPLE, detail=_QUIET),
        body=Acknowledgement(id="dead_letters", reason="The git host was down; sending them back."),
        errors=(NotFound, Conflict),
        access=needs(Permission.MANAGE_ALERTS),
    ),
)
async def acknowledge_one(request: PageRequest, data: JSONBody[Acknowledgement]) -> Acknowledged:
    """Say that you have seen it and what you do about it."""
    alert = await act(
        request,
        "alerts.acknowledge",
        subject=data.id,
        reason=data.reason,
        run=lambda: acknowledge(data.id, by=caller_of(request).name, note=data.reason),
    )
    return Acknowledged(alert=view_alert(alert), detail=_QUIET)


def view_alert(alert: Alert) -> AlertView:
    """An alert as the API has it."""
    fields = {name: getattr(alert, name) for name in AlertView.__struct_fields__ if name != "history"}
    return AlertView(**fields, history=list(alert.history))


ALERT_ROUTES = [list_all_alerts, acknowledge_one]
