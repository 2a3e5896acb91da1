"""What the admin API says of rules, dry runs and rescans, and an example of each."""

from __future__ import annotations

import msgspec

from vskill_platform.domain.rule_changes import PastChange, RuleChange
from vskill_platform.domain.scan import Owasp, Severity, Threat, Verdict
from vskill_platform.pipeline.rules import RulesInForce
from vskill_platform.scanning.tier1.rules import Rule
from vskill_platform.stores.dry_runs import DryRun, WouldChange
from vskill_platform.stores.rescans import Rescan, RescanState
from vskill_platform.stores.rule_hits import HitCounts, RuleHits


class RuleRow(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A rule in a list. `severity` is in force (`off` where it is not used), `base_severity` without `change`, `own_severity`
    what the rule says of itself. `hits` is null where nobody has counted yet."""

    id: str
    title: str
    category: Threat
    owasp: Owasp
    severity: str
    base_severity: str
    own_severity: Severity
    origin: str
    change: RuleChange | None = None
    hits: RuleHits | None = None
    overridden_share: float | None = None


class RuleList(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Every rule. `critical_off` has critical rules that somebody has switched off, `hits_as_of` when hits were counted."""

    ruleset_version: str
    base_version: str
    critical_off: list[str]
    hits_as_of: str | None
    rules: list[RuleRow]


class RuleDetail(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """All that there is to say of a rule, and everything that was ever changed of it, newest first."""

    rule: RuleRow
    ruleset_version: str
    message: str
    why: str
    fix: str
    applies_to: list[str]
    pattern: str | None
    unless: str | None
    says: tuple[str, ...]
    check: str | None
    matches: tuple[str, ...]
    ignores: tuple[str, ...]
    history: list[PastChange]
    hits_as_of: str | None
    detail: str = ""


class DryRunView(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A dry run and one page of what would change; `next_part` leads to the next page and is null at the end.

    `examined` of `total` is how far it has come; `is_done` says that it has ended. `unknown_why` has a sentence for each reason.
    """

    run: DryRun
    is_done: bool
    other_verdict: int
    unknown: int
    unknown_why: dict[str, str]
    changes: list[WouldChange]
    next_part: int | None
    detail: str = ""


class RescanView(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A rescan, how many are in flight, and how many verdicts have changed."""

    rescan: Rescan
    in_flight: int
    changed: int
    detail: str = ""


class RescanList(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Every rescan there was, newest first, and by which rules one would be now."""

    ruleset_version: str
    rescans: list[RescanView]


def view_row(rule: Rule, rules: RulesInForce, counts: HitCounts | None) -> RuleRow:
    """A rule as it stands."""
    hits = None if counts is None else counts.rules.get(rule.id, RuleHits())
    return RuleRow(
        id=rule.id,
        title=rule.title,
        category=rule.category,
        owasp=rule.owasp,
        severity=rules.word(rule.id),
        base_severity=rules.base_word(rule.id),
        own_severity=rule.own_severity,
        origin=rule.origin or "bundled",
        change=rules.changes.in_force.get(rule.id),
        hits=hits,
        overridden_share=None if hits is None else hits.overridden,
    )


def view_rescan(rescan: Rescan, detail: str = "") -> RescanView:
    """A rescan as it stands."""
    return RescanView(
        rescan=rescan, in_flight=len(rescan.in_flight), changed=sum(rescan.changed.values()), detail=detail
    )


_AT = "2026-11-16T09:00:00.000Z"
ROW = RuleRow(
    id="PI-001",
    title="Orders to forget",
    category=Threat.PROMPT_INJECTION,
    owasp=Owasp.MALICIOUS_SKILL,
    severity="medium",
    base_severity="high",
    own_severity=Severity.HIGH,
    origin="bundled",
    change=RuleChange(word="medium", by="root", at=_AT, reason="Too many quotations."),
    hits=RuleHits(published_skills=3, published_findings=4, skills=9, findings=12, quoted=2, approved=3, rejected=4),
    overridden_share=0.333,
)
LIST = RuleList(
    ruleset_version="2026.11+1a2b3c4d.5e6f7a8b",
    base_version="2026.11+1a2b3c4d",
    critical_off=[],
    hits_as_of=_AT,
    rules=[ROW],
)
DETAIL = RuleDetail(
    rule=ROW,
    ruleset_version=LIST.ruleset_version,
    message="The text tells the agent to forget its instructions.",
    why="The agent then follows the skill against its user.",
    fix="Remove the sentence.",
    applies_to=["any"],
    pattern="(?i)ignore all previous instructions",
    unless=None,
    says=(),
    check=None,
    matches=("Ignore all previous instructions.",),
    ignores=("Ignore the weather.",),
    history=[
        PastChange(
            number=1, rule="PI-001", word="medium", before=None, by="root", at=_AT, reason="Too many quotations."
        )
    ],
    hits_as_of=_AT,
    detail="PI-001 is medium now.",
)
CHANGE = WouldChange(
    slug="acme/tools/greeting", verdict=Verdict.CONCERNS, score=85, new_verdict=Verdict.PASS, new_score=100
)
DRY_RUN = DryRunView(
    run=DryRun(
        id="0f1e2d3c4b5a69788796a5b4c3d2e1f0",
        rule="PI-001",
        word="off",
        word_now="high",
        ruleset_version="2026.11+1a2b3c4d",
        new_version="2026.11+1a2b3c4d.5e6f7a8b",
        now={},
        then={"PI-001": "off"},
        by="root",
        began_at=_AT,
        ended_at=_AT,
        total=1200,
        examined=1200,
        unchanged=1190,
        verdicts={"CONCERNS PASS": 1},
        unknown={"other_rules": 9},
        parts=1,
    ),
    is_done=True,
    other_verdict=1,
    unknown=9,
    unknown_why={"other_rules": "They were last scanned by other rules, or by another version of the scanner."},
    changes=[CHANGE],
    next_part=None,
)
RESCAN = view_rescan(
    Rescan(
        id="0f1e2d3c4b5a69788796a5b4c3d2e1f0",
        state=RescanState.RUNNING,
        ruleset_version=LIST.ruleset_version,
        by="root",
        reason="PI-001 is off.",
        began_at=_AT,
        total=1200,
        examined=600,
        current=10,
        started=590,
        finished=540,
        changed={"CONCERNS PASS": 1},
    ),
    "The rescan has begun.",
)
