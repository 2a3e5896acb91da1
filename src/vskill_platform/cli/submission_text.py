"""A submission as people read it: where it stands, what became of its skills, and why, line by line."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from vskill_platform.cli.capability_text import print_changes
from vskill_platform.cli.printing import plain, severity_text, state_text
from vskill_platform.domain.scan import Finding
from vskill_platform.domain.submission import CATEGORY_OF, Category, SubmissionState
from vskill_platform.web.views import ChildView, SubmissionView

_STAGES = {
    SubmissionState.RECEIVED: "waiting for a worker",
    SubmissionState.TIER1_SCANNING: "fetching and scanning",
    SubmissionState.TIER2_SCANNING: "waiting for second opinions",
    SubmissionState.AUTO_APPROVED: "publishing",
    SubmissionState.VENDOR_APPROVED: "publishing",
    SubmissionState.NEEDS_REVIEW: "waits for a person",
    SubmissionState.EXPANDED: "became its skills",
}


def is_under_way(submission: ChildView) -> bool:
    """Whether a worker still has something to do with it."""
    return CATEGORY_OF[submission.state] is Category.ACTIVE


def is_published(view: SubmissionView) -> bool:
    """Whether everything that was submitted is published."""
    return all(part.state is SubmissionState.PUBLISHED for part in parts_of(view))


def parts_of(view: SubmissionView) -> Sequence[ChildView]:
    """What a submission came to: its skills, or itself where it has none or could not be expanded this time."""
    return view.children if view.state is SubmissionState.EXPANDED else [view]


def live_table(view: SubmissionView) -> RenderableType:
    """The stages of a submission and of its skills, for a screen that is drawn again and again."""
    table = Table(show_header=False, box=None, pad_edge=False)
    for row in [view, *view.children]:
        name = row.skill_name or view.repo_url
        table.add_row(plain(name), state_text(row.state), plain(_stage(row)))
    return table


def _stage(row: ChildView) -> str:
    if row.state is SubmissionState.PUBLISHED:
        return f"{row.slug} {row.version}, {row.score} of 100"
    return _STAGES.get(row.state, row.reason or "")


def print_submission(view: SubmissionView, *, console: Console) -> None:
    """Everything about a submission."""
    console.print(f"[bold]{plain(view.skill_name or view.repo_url)}[/] {state_text(view.state)}  [dim]{view.id}[/]")
    facts = Table(show_header=False, box=None, pad_edge=False)
    for name, value in _facts(view):
        facts.add_row(f"[dim]{name}[/]", plain(value))
    console.print(facts)
    if view.history:
        console.print(plain(view.history[-1].message), highlight=False)
    if view.capability_changes is not None:
        print_changes(view.capability_changes, console=console)
    if view.children:
        console.print(live_table(view))
    if view.scan is not None and view.scan.findings:
        console.print(Group(*findings_text(view.scan.findings)))
    for problem in view.lint.problems if view.lint is not None else ():
        place = f"SKILL.md:{problem.line}" if problem.line else "SKILL.md"
        console.print(
            f"[dim]specification[/] [cyan]{place}[/] {plain(problem.message)} {plain(problem.fix)}", highlight=False
        )


def _facts(view: SubmissionView) -> list[tuple[str, str]]:
    facts = [("repository", view.repo_url), ("folder", view.skill_path), ("commit", view.commit or "")]
    if view.slug:
        facts.append(("published as", f"{view.slug} {view.version}"))
    if view.scan is not None:
        facts.append(("verdict", f"{view.scan.verdict.value}, {view.scan.score} of 100"))
    if view.reason:
        facts.append(("reason", view.reason))
    facts.append(("took", ", ".join(f"{stage} {ms} ms" for stage, ms in view.timings.items())))
    return [(name, value) for name, value in facts if value]


def findings_text(findings: Sequence[Finding]) -> list[RenderableType]:
    """Findings as a person reads them: rule, place, the line itself, what counts for and against it, why, and what to do."""
    texts: list[RenderableType] = []
    for finding in findings:
        place = f"{finding.file}:{finding.line}:{finding.column}" if finding.line else finding.file
        more = f" and lines {', '.join(map(str, finding.more_lines[:8]))}" if finding.more_lines else ""
        lines = [
            f"\n{severity_text(finding.severity)} [bold]{finding.rule_id}[/] {plain(finding.message)}",
            f"  [cyan]{plain(place)}[/]{more}  [dim]{finding.category.value}, {finding.owasp.value}, {finding.layer}[/]",
        ]
        if finding.excerpt:
            lines.append(f"  [dim]│[/] {plain(finding.excerpt)}")
        if finding.detail:
            lines.append(f"  seen {plain(finding.detail)}")
        if finding.context:
            lines.append(f"  but  {plain(finding.context)}")
        lines += [f"  why  {plain(finding.why)}", f"  fix  {plain(finding.fix)}"]
        texts.append(Text.from_markup("\n".join(lines)))
    return texts
