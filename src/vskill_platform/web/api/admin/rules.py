"""Rules: what they are, how often they hit, and changing them while the registry runs."""

from __future__ import annotations

from typing import Annotated

import msgspec
from litestar import get, post, put
from litestar.params import JSONBody, PathParameter, QueryParameter

from vskill_platform.domain.access import Permission
from vskill_platform.domain.errors import NotFound
from vskill_platform.domain.rule_changes import OFF
from vskill_platform.pipeline.dry_runs import MALFORMED, NOT_KEPT, advance_dry_run, start_dry_run
from vskill_platform.pipeline.rules import change_rule, find_rule, rules_in_force
from vskill_platform.scanning.rescoring import UNKNOWN_BECAUSE
from vskill_platform.stores.dry_runs import DryRun, get_dry_run, read_changes
from vskill_platform.stores.rule_changes import list_past_changes
from vskill_platform.stores.rule_hits import get_hit_counts
from vskill_platform.web.access import caller_of, needs
from vskill_platform.web.acting import act
from vskill_platform.web.api.admin import rule_views
from vskill_platform.web.api.admin.rule_views import DryRunView, RuleDetail, RuleList, view_row
from vskill_platform.web.api.describing import described
from vskill_platform.web.pages.rendering import PageRequest
from vskill_platform.worker_context import current_env

TAGS = ["admin"]
DEFAULT = "default"
AT_ONCE_MS = 1_500
"""How long a dry run may keep whoever asked for it waiting. What is left is done by the cron."""
WHY_UNKNOWN = {
    **UNKNOWN_BECAUSE,
    NOT_KEPT: "Their report is not kept.",
    MALFORMED: "Their record cannot be read.",
}
SEES, CHANGES = needs(Permission.SEE_PANEL), needs(Permission.CHANGE_RULES)
RuleId = Annotated[str, PathParameter(min_length=1, max_length=80, description="Id of a rule, such as PI-001.")]
RunId = Annotated[str, PathParameter(min_length=1, max_length=64, description="Id of a dry run or rescan.")]
Part = Annotated[int, QueryParameter(ge=0, le=1_000_000, description="Which part of what would change, from 0.")]


class RuleRequest(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """How grave the rule is to be: a severity, `off`, or `default` for what it is without changes; and why."""

    severity: str
    reason: str


class DryRunRequest(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """The same, to be tried."""

    severity: str
    reason: str = "To see what it would do."


@get("/api/v1/admin/rules", summary="List rules", tags=TAGS, opt=described(rule_views.LIST, access=SEES))
async def list_rules() -> RuleList:
    """Every rule, how grave it is here, who changed that, and how often it hit when that was last counted."""
    return await describe_rules()


async def describe_rules() -> RuleList:
    """Every rule, as it stands."""
    rules, counts = await rules_in_force(), await get_hit_counts()
    return RuleList(
        ruleset_version=rules.ruleset.version,
        base_version=rules.base.version,
        critical_off=rules.critical_off,
        hits_as_of=None if counts is None else counts.as_of,
        rules=[view_row(rule, rules, counts) for rule in rules.all_rules()],
    )


@get(
    "/api/v1/admin/rules/{rule:str}",
    summary="Show a rule",
    tags=TAGS,
    opt=described(rule_views.DETAIL, errors=(NotFound,), access=SEES),
)
async def show_rule(rule: RuleId) -> RuleDetail:
    """What a rule looks for, why, what to do about it, how often it hit, and everything that was changed of it."""
    return await describe_rule(rule)


async def describe_rule(name: str, *, detail: str = "") -> RuleDetail:
    """Everything about a rule, as it stands. Raises NotFound."""
    rules, counts = await rules_in_force(), await get_hit_counts()
    rule = find_rule(rules, name)
    return RuleDetail(
        rule=view_row(rule, rules, counts),
        ruleset_version=rules.ruleset.version,
        message=rule.message,
        why=rule.why,
        fix=rule.fix,
        applies_to=sorted(rule.applies_to),
        pattern=rule.pattern,
        unless=rule.unless,
        says=rule.says,
        check=rule.check,
        matches=rule.matches,
        ignores=rule.ignores,
        history=await list_past_changes(rule.id),
        hits_as_of=None if counts is None else counts.as_of,
        detail=detail,
    )


@put(
    "/api/v1/admin/rules/{rule:str}",
    summary="Change a rule",
    tags=TAGS,
    opt=described(
        rule_views.DETAIL,
        body=RuleRequest(severity="medium", reason="Too many quotations."),
        errors=(NotFound,),
        access=CHANGES,
    ),
)
async def set_rule(request: PageRequest, rule: RuleId, data: JSONBody[RuleRequest]) -> RuleDetail:
    """Switch a rule off, change how grave it is, or go back to the default. In force for every scan that begins after this."""
    by = caller_of(request).name
    rules = await act(
        request,
        "rules.change",
        subject=rule,
        reason=data.reason,
        run=lambda: change_rule(rule, word=_word(data.severity), by=by, reason=data.reason),
    )
    word = rules.word(find_rule(rules, rule).id)
    return await describe_rule(
        rule,
        detail=f"{rule} is {word} now, for every scan that begins. Rescan what is published to have it by these rules.",
    )


@post(
    "/api/v1/admin/rules/{rule:str}/dry-run",
    summary="Try a change of a rule",
    tags=TAGS,
    status_code=200,
    opt=described(rule_views.DRY_RUN, body=DryRunRequest(severity=OFF), errors=(NotFound,), access=CHANGES),
)
async def try_rule(request: PageRequest, rule: RuleId, data: JSONBody[DryRunRequest]) -> DryRunView:
    """Which published skills would get another verdict or score. Nothing is changed; much of it takes a while."""
    by = caller_of(request).name
    run = await act(
        request,
        "rules.try",
        subject=rule,
        reason=data.reason,
        run=lambda: start_dry_run(rule, word=_word(data.severity), by=by),
    )
    until_ms = current_env("clock").clock.now_ms() + AT_ONCE_MS
    return await view_dry_run(await advance_dry_run(run.id, until_ms=until_ms))


@get(
    "/api/v1/admin/rules/dry-runs/{id:str}",
    summary="Show a dry run",
    tags=TAGS,
    opt=described(rule_views.DRY_RUN, errors=(NotFound,), access=SEES),
)
async def show_dry_run(id: RunId, part: Part = 0) -> DryRunView:
    """How far a dry run has come, and one part of what would change."""
    return await view_dry_run((await get_dry_run(id)).run, part=part)


async def view_dry_run(run: DryRun, *, part: int = 0, parts: int = 1) -> DryRunView:
    """A dry run as it stands, with some of what would change."""
    other, unknown = sum(run.verdicts.values()), sum(run.unknown.values())
    found = f"{other} would get another verdict, {run.other_score} another score, {unknown} are not known"
    return DryRunView(
        run=run,
        is_done=run.ended_at is not None,
        other_verdict=other,
        unknown=unknown,
        unknown_why={name: WHY_UNKNOWN.get(name, name) for name in run.unknown},
        changes=await read_changes(run, first_part=part, parts=parts),
        next_part=part + parts if part + parts < run.parts else None,
        detail=f"{run.examined} of {run.total} published skills examined: {found}.",
    )


def _word(severity: str) -> str | None:
    return None if severity == DEFAULT else severity


RULE_ROUTES = [list_rules, show_rule, set_rule, try_rule, show_dry_run]
