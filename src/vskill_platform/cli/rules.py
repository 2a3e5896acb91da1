"""`vskill-platform rules`: how grave rules are here and how often they hit, changing that, trying it first, and rescans."""

from __future__ import annotations

import asyncio
from enum import StrEnum
from urllib.parse import quote

import typer
from rich.console import Console

from vskill_platform.cli.options import DATA, settings_from
from vskill_platform.cli.printing import AS_JSON, plain, print_json, print_table, severity_text
from vskill_platform.cli.registry import RegistryClient, open_registry
from vskill_platform.domain.errors import NotFound
from vskill_platform.domain.rule_changes import OFF
from vskill_platform.domain.scan import Severity
from vskill_platform.web.api.admin.rescans import RescanRequest
from vskill_platform.web.api.admin.rule_views import DryRunView, RescanList, RescanView, RuleDetail, RuleList, RuleRow
from vskill_platform.web.api.admin.rules import DEFAULT, DryRunRequest, RuleRequest

HELP = "List rules, switch one off, change its severity, try that first, or rescan everything."
LOOK_S = 15.0
"""Longer than the cron needs to come round: a dry run that has not moved since then is not being worked on."""
_RULES = "/api/v1/admin/rules"


class Deed(StrEnum):
    """What to do."""

    LIST = "list"
    OFF = "off"
    SEVERITY = "severity"
    DEFAULT = "default"
    DRY_RUN = "dry-run"
    RESCAN = "rescan"
    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"


Answer = RuleList | RuleDetail | DryRunView | RescanView


def rules(
    deed: Deed = typer.Argument(
        Deed.LIST,
        help="off, severity and default change a rule, dry-run tries that; rescan, pause, resume and stop are about a rescan.",
    ),
    rule: str = typer.Argument("", help="The rule's id, such as PI-001.", show_default=False),
    severity: str = typer.Argument(
        "", help="A severity, off or default, for `severity` and `dry-run`.", show_default=False
    ),
    reason: str = typer.Option("", "--reason", help="Why; the rule's history and the audit log keep it."),
    data: str | None = DATA,
    as_json: bool = AS_JSON,
) -> None:
    """Tune the rules of a registry, also while it runs. A change is in force for every scan that begins after it."""
    if deed in _ABOUT_A_RULE and not rule:
        raise typer.BadParameter(f"Name the rule: vskill-platform rules {deed.value} PI-001")
    if deed in (Deed.SEVERITY, Deed.DRY_RUN) and not severity:
        raise typer.BadParameter("Name a severity after the rule, or off, or default.")
    answer = asyncio.run(_do(data, deed, rule, severity, reason))
    if as_json:
        print_json(answer)
    else:
        _print(answer)


async def _do(data: str | None, deed: Deed, rule: str, severity: str, reason: str) -> Answer:
    async with open_registry(settings_from(data=data)) as registry:
        if deed is Deed.LIST:
            return await registry.get(_RULES, RuleList)
        if deed is Deed.DRY_RUN:
            return await _dry_run(registry, rule, severity)
        if deed in _ABOUT_A_RULE:
            word = {Deed.OFF: OFF, Deed.DEFAULT: DEFAULT}.get(deed, severity)
            body = RuleRequest(severity=word, reason=reason)
            return await registry.put(f"{_RULES}/{quote(rule, safe='')}", RuleDetail, body)
        if deed is Deed.RESCAN:
            return await registry.post(f"{_RULES}/rescans", RescanView, RescanRequest(reason=reason))
        return await _steer(registry, deed, reason)


async def _dry_run(registry: RegistryClient, rule: str, severity: str) -> DryRunView:
    """Try it, and wait for as long as the registry goes on with it."""
    path = f"{_RULES}/{quote(rule, safe='')}/dry-run"
    tried = await registry.post(path, DryRunView, DryRunRequest(severity=severity))
    examined = -1
    while not tried.is_done and tried.run.examined > examined:
        examined = tried.run.examined
        await asyncio.sleep(LOOK_S)
        tried = await registry.get(f"{_RULES}/dry-runs/{tried.run.id}", DryRunView)
    return tried


async def _steer(registry: RegistryClient, deed: Deed, reason: str) -> RescanView:
    listed = await registry.get(f"{_RULES}/rescans", RescanList)
    active = next((one.rescan for one in listed.rescans if not one.rescan.has_ended), None)
    if active is None:
        raise NotFound("No rescan is under way. Start one with: vskill-platform rules rescan --reason WHY")
    return await registry.post(f"{_RULES}/rescans/{active.id}/{deed.value}", RescanView, RescanRequest(reason=reason))


def _print(answer: Answer) -> None:
    console = Console(highlight=False, emoji=False)
    if isinstance(answer, RuleList):
        columns = ["rule", "severity", "published", "submissions", "approved anyway", ""]
        counted = f", hits as of {answer.hits_as_of}" if answer.hits_as_of else ", hits not counted yet"
        title = f"{len(answer.rules)} rules, version {answer.ruleset_version}{counted}"
        print_table(title, columns, [_row(row) for row in answer.rules], nothing="There are no rules.")
        for critical in answer.critical_off:
            console.print(f"[bold red]{critical} is critical and switched off.[/]")
        return
    console.print(plain(answer.detail))
    if isinstance(answer, DryRunView):
        _print_changes(answer, console)
    elif isinstance(answer, RescanView):
        rescan = answer.rescan
        console.print(
            f"{rescan.state.value}: {rescan.examined} of {rescan.total} examined, {rescan.finished} scanned again, "
            f"{answer.changed} with another verdict, {rescan.failed} failed."
        )


def _row(row: RuleRow) -> list[str]:
    word = f"[dim]{OFF}[/]" if row.severity == OFF else severity_text(Severity(row.severity))
    changed = "" if row.severity == row.own_severity else f" [dim](comes as {row.own_severity.value})[/]"
    hits = ["?"] * 3
    if row.hits is not None:
        share = "" if row.overridden_share is None else f"{row.overridden_share:.0%}"
        hits = [str(row.hits.published_skills), str(row.hits.skills), share]
    return [row.id, word + changed, *hits, plain(row.title)]


def _print_changes(tried: DryRunView, console: Console) -> None:
    for name, count in tried.run.unknown.items():
        console.print(f"[dim]{count} not known: {plain(tried.unknown_why.get(name, name))}[/]")
    rows = [
        [plain(one.slug), f"{one.verdict.value} {one.score}", f"{one.new_verdict.value} {one.new_score}"]
        for one in tried.changes
    ]
    print_table("Would change", ["skill", "now", "then"], rows, nothing="Nothing that is known would change.")
    if tried.next_part is not None:
        console.print(f"There are more: {_RULES}/dry-runs/{tried.run.id}?part={tried.next_part}")


_ABOUT_A_RULE = (Deed.OFF, Deed.SEVERITY, Deed.DEFAULT, Deed.DRY_RUN)
