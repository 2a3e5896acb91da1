"""Rescans of everything that is published: starting one, steering it, and how far it has come."""

from __future__ import annotations

import msgspec
from litestar import get, post
from litestar.params import JSONBody

from vskill_platform.domain.errors import Conflict, IllegalTransition, NotFound
from vskill_platform.pipeline.rescan_all import advance_rescan, start_rescan, steer_rescan
from vskill_platform.pipeline.rules import rules_in_force
from vskill_platform.stores.rescans import RescanState, get_rescan, list_rescans
from vskill_platform.web.access import caller_of
from vskill_platform.web.acting import act
from vskill_platform.web.api.admin import rule_views
from vskill_platform.web.api.admin.rule_views import RescanList, RescanView, view_rescan
from vskill_platform.web.api.admin.rules import CHANGES, SEES, TAGS, RunId
from vskill_platform.web.api.describing import described
from vskill_platform.web.pages.rendering import PageRequest

_PATH = "/api/v1/admin/rules/rescans"
_TOLD = {
    RescanState.PAUSED: "The rescan is paused. What is in flight is scanned to its end.",
    RescanState.RUNNING: "The rescan goes on.",
    RescanState.STOPPED: "The rescan is stopped. What is in flight is scanned to its end.",
}


class RescanRequest(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Why."""

    reason: str


_BODY = RescanRequest(reason="PI-001 is off.")
_STEERED = described(rule_views.RESCAN, body=_BODY, errors=(NotFound, IllegalTransition), access=CHANGES)


@get(
    _PATH,
    summary="List rescans",
    tags=TAGS,
    opt=described(RescanList(ruleset_version="2026.11+1a2b3c4d", rescans=[rule_views.RESCAN]), access=SEES),
)
async def list_all_rescans() -> RescanList:
    """Every rescan there was, newest first."""
    return await describe_rescans()


async def describe_rescans() -> RescanList:
    """Every rescan, as it stands."""
    version = (await rules_in_force()).ruleset.version
    return RescanList(ruleset_version=version, rescans=[view_rescan(rescan) for rescan in await list_rescans()])


@get(
    f"{_PATH}/{{id:str}}",
    summary="Show a rescan",
    tags=TAGS,
    opt=described(rule_views.RESCAN, errors=(NotFound,), access=SEES),
)
async def show_rescan(id: RunId) -> RescanView:
    """How far a rescan has come."""
    return view_rescan((await get_rescan(id)).rescan)


@post(
    _PATH,
    summary="Rescan everything",
    tags=TAGS,
    status_code=200,
    opt=described(rule_views.RESCAN, body=_BODY, errors=(Conflict,), access=CHANGES),
)
async def rescan_everything(request: PageRequest, data: JSONBody[RescanRequest]) -> RescanView:
    """Scan all that is published by other rules again, behind everything that waits. There is one rescan at a time."""
    by = caller_of(request).name
    rescan = await act(
        request,
        "rules.rescan",
        subject="rescan",
        reason=data.reason,
        run=lambda: start_rescan(by=by, reason=data.reason.strip()),
    )
    await advance_rescan(until_ms=0)
    return view_rescan((await get_rescan(rescan.id)).rescan, "The rescan has begun.")


@post(f"{_PATH}/{{id:str}}/pause", summary="Pause a rescan", tags=TAGS, status_code=200, opt=_STEERED)
async def pause_rescan(request: PageRequest, id: RunId, data: JSONBody[RescanRequest]) -> RescanView:
    """Start no more skills until it goes on."""
    return await _steer(request, id, data, RescanState.PAUSED)


@post(f"{_PATH}/{{id:str}}/resume", summary="Let a rescan go on", tags=TAGS, status_code=200, opt=_STEERED)
async def resume_rescan(request: PageRequest, id: RunId, data: JSONBody[RescanRequest]) -> RescanView:
    """Go on from where it was paused."""
    return await _steer(request, id, data, RescanState.RUNNING)


@post(f"{_PATH}/{{id:str}}/stop", summary="Stop a rescan", tags=TAGS, status_code=200, opt=_STEERED)
async def stop_rescan(request: PageRequest, id: RunId, data: JSONBody[RescanRequest]) -> RescanView:
    """Start no more skills, ever. Another rescan begins with what this one has not come to."""
    return await _steer(request, id, data, RescanState.STOPPED)


async def _steer(request: PageRequest, identity: str, data: RescanRequest, state: RescanState) -> RescanView:
    rescan = await act(
        request,
        f"rules.rescan.{state.value.lower()}",
        subject=identity,
        reason=data.reason,
        run=lambda: steer_rescan(identity, state),
    )
    return view_rescan(rescan, _TOLD[state])


RESCAN_ROUTES = [list_all_rescans, show_rescan, rescan_everything, pause_rescan, resume_rescan, stop_rescan]
