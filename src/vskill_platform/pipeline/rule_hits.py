"""Counting how often each rule hit, from the kept reports: of what is published, and of the last run of every submission."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from vskill_platform.domain.decision import was_approved
from vskill_platform.domain.records import Submission
from vskill_platform.domain.scan import Finding, ScanReport, Severity
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.pipeline.kept_reports import read_last_reports, read_reports
from vskill_platform.stores.rule_hits import HitCounts, RuleHits, save_hit_counts
from vskill_platform.worker_context import current_env


@dataclass
class _Tally:
    """What a walk has counted so far. It grows with the rules, not with the registry."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    looked_at: Counter[str] = field(default_factory=Counter)

    def add(self, rule: str, name: str, count: int = 1) -> None:
        self.counts.setdefault(rule, Counter())[name] += count

    def add_published(self, report: ScanReport) -> None:
        for rule, findings in _by_rule(report).items():
            self.add(rule, "published_skills")
            self.add(rule, "published_findings", findings)

    def add_last(self, report: ScanReport, submission: Submission) -> None:
        quoted = Counter(finding.rule_id for finding in report.findings if _is_quoted(finding))
        for rule, findings in _by_rule(report).items():
            self.add(rule, "findings", findings)
            self.add(rule, "quoted", quoted[rule])
            if findings == quoted[rule]:
                continue
            self.add(rule, "skills")
            if was_approved(submission, report.content_digest):
                self.add(rule, "approved")
            elif submission.decided_digest == report.content_digest:
                self.add(rule, "rejected")


async def count_rule_hits() -> dict[str, int]:
    """Walk over all kept reports and keep what was counted, with its time."""
    tally = _Tally()
    await _walk_published(tally)
    await _walk_last_runs(tally)
    counts = HitCounts(
        as_of=iso_from_ms(current_env("clock").clock.now_ms()),
        rules={rule: RuleHits(**found) for rule, found in sorted(tally.counts.items())},
        **tally.looked_at,
    )
    await save_hit_counts(counts)
    return {"rules": len(counts.rules), **tally.looked_at}


async def _walk_published(tally: _Tally) -> None:
    cursor: str | None = None
    while True:
        part = await read_reports(cursor)
        for kept in part.reports:
            tally.looked_at["published"] += 1
            if kept.report is None:
                tally.looked_at["published_unknown"] += 1
            else:
                tally.add_published(kept.report)
        if part.cursor is None:
            return
        cursor = part.cursor


async def _walk_last_runs(tally: _Tally) -> None:
    cursor: str | None = None
    while True:
        part = await read_last_reports(cursor)
        for submission, report in part.reports:
            tally.looked_at["submissions"] += 1
            if report is None:
                tally.looked_at["submissions_unknown"] += 1
            else:
                tally.add_last(report, submission)
        if part.cursor is None:
            return
        cursor = part.cursor


def _by_rule(report: ScanReport) -> Counter[str]:
    return Counter(finding.rule_id for finding in report.findings)


def _is_quoted(finding: Finding) -> bool:
    """Whether a finding only informs because of the words around it."""
    return bool(finding.context) and finding.severity is Severity.INFO
