"""Rules, for those who tune them: all of them, one of them with its dry run, and rescans."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from litestar import Response, get
from litestar.params import QueryParameter

from vskill_platform.domain.rule_changes import WORDS
from vskill_platform.stores.dry_runs import list_dry_runs
from vskill_platform.stores.rescans import find_active_rescan
from vskill_platform.web.access import ACCESS
from vskill_platform.web.admin.frame import admin_page
from vskill_platform.web.api.admin.rescans import describe_rescans
from vskill_platform.web.api.admin.rule_views import DryRunView, RuleRow, view_rescan
from vskill_platform.web.api.admin.rules import DEFAULT, SEES, RuleId, describe_rule, describe_rules, view_dry_run
from vskill_platform.web.api.parameters import Search
from vskill_platform.web.pages.rendering import PageRequest

PARTS_SHOWN = 5
"""Parts of what a dry run found that its page shows. The API has all of them."""


class Show(StrEnum):
    """Which rules a list shows."""

    ALL = "all"
    CHANGED = "changed"
    OFF = "off"
    HIT = "hit"


Shown = Annotated[Show, QueryParameter(description="Which rules to show.")]


@get("/admin/rules", opt={ACCESS: SEES})
async def show_rules(request: PageRequest, q: Search = "", show: Shown = Show.ALL) -> Response[str]:
    """Every rule with its hits; those that hit most first where only those are asked for."""
    listed = await describe_rules()
    active = await find_active_rescan()
    rows = [row for row in listed.rules if _is_wanted(row, show) and _is_found(row, q)]
    if show is Show.HIT:
        rows.sort(key=lambda row: row.hits.skills if row.hits else 0, reverse=True)
    return await admin_page(
        request,
        "admin/rules.html",
        section="rules",
        listed=listed,
        rows=rows,
        search=q,
        show=show,
        shows=list(Show),
        active=None if active is None else view_rescan(active.rescan),
    )


@get("/admin/rules/rescans", opt={ACCESS: SEES})
async def show_rescans(request: PageRequest) -> Response[str]:
    """The rescan that is under way, the button that starts one, and those that were."""
    listed = await describe_rescans()
    running = [one for one in listed.rescans if not one.rescan.has_ended]
    return await admin_page(
        request,
        "admin/rescans.html",
        section="rules",
        listed=listed,
        active=running[0] if running else None,
        past=[one for one in listed.rescans if one.rescan.has_ended],
    )


@get("/admin/rules/{rule:str}", opt={ACCESS: SEES})
async def show_one_rule(request: PageRequest, rule: RuleId) -> Response[str]:
    """A rule, what was changed of it, and the newest dry run about it."""
    told = await describe_rule(rule)
    return await admin_page(
        request,
        "admin/rule.html",
        section="rules",
        told=told,
        words=[*WORDS, DEFAULT],
        dry_run=await _newest_dry_run(told.rule.id),
    )


async def _newest_dry_run(rule: str) -> DryRunView | None:
    about = [run for run in await list_dry_runs() if run.rule == rule]
    return await view_dry_run(about[0], parts=PARTS_SHOWN) if about else None


def _is_wanted(row: RuleRow, show: Show) -> bool:
    match show:
        case Show.ALL:
            return True
        case Show.CHANGED:
            return row.severity != row.own_severity
        case Show.OFF:
            return row.severity == "off"
        case Show.HIT:
            return row.hits is not None and row.hits.findings + row.hits.published_findings > 0


def _is_found(row: RuleRow, search: str) -> bool:
    return all(word in f"{row.id} {row.title} {row.category}".lower() for word in search.lower().split())
