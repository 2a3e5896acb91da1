"""Trying a change of a rule on what is published: every kept report is weighed anew, and nothing is changed.

It is done in parts. The record goes on with each, so whoever comes next, after a crash too, goes on from there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from vskill_platform.domain.errors import Conflict
from vskill_platform.domain.skill import CertTier
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.pipeline.kept_reports import KeptReport, count_published, read_reports
from vskill_platform.pipeline.rules import RulesInForce, checked_change, rules_in_force
from vskill_platform.ports.commit import ABSENT
from vskill_platform.scanning.rescoring import rescore
from vskill_platform.scanning.tier1.changes import with_changes
from vskill_platform.scanning.tier1.rules import Ruleset
from vskill_platform.stores.dry_runs import (
    DryRun,
    FoundDryRun,
    WouldChange,
    get_dry_run,
    list_dry_runs,
    putting_dry_run,
)
from vskill_platform.worker_context import current_env

NOT_KEPT = "not_kept"
MALFORMED = "malformed"
_UNCHANGED, _OTHER_SCORE, _OTHER_VERDICT, _UNKNOWN = "unchanged", "other_score", "other_verdict", "unknown"


async def start_dry_run(name: str, *, word: str | None, by: str) -> DryRun:
    """Begin to try a word for a rule. Raises NotFound or InvalidInput, as the change itself would."""
    rules = await rules_in_force()
    rule = checked_change(rules, name, word)
    now = rules.changes.words
    others = {kept: said for kept, said in now.items() if kept != rule}
    then = others if word is None else {**others, rule: word}
    env = current_env("writes")
    run = DryRun(
        id=env.random_id().hex,
        rule=rule,
        word=word,
        word_now=rules.word(rule),
        ruleset_version=rules.ruleset.version,
        new_version=with_changes(rules.base, then).version,
        now=now,
        then=then,
        by=by,
        began_at=iso_from_ms(env.clock.now_ms()),
        total=await count_published(),
    )
    await env.writes.commit(putting_dry_run(run, if_version=ABSENT))
    return run


async def advance_dry_runs(*, until_ms: int) -> int:
    """Go on with every dry run that has not ended, until that moment. Gives how many skills were examined."""
    examined = 0
    for run in await list_dry_runs():
        if run.ended_at is None:
            examined += (await advance_dry_run(run.id, until_ms=until_ms)).examined - run.examined
    return examined


async def advance_dry_run(identity: str, *, until_ms: int) -> DryRun:
    """Go on with a dry run to its end, or until that moment. Where another process does the same, it is left to that."""
    env = current_env("writes")
    rules = await rules_in_force()
    found = await get_dry_run(identity)
    while found.run.ended_at is None:
        try:
            found = await _next_part(found, rules)
        except Conflict:
            return (await get_dry_run(identity)).run
        if env.clock.now_ms() >= until_ms:
            break
    return found.run


class _Outcome(NamedTuple):
    """What a change would do to one skill. `name` says which verdicts, or why it is not known."""

    kind: str
    name: str = ""
    change: WouldChange | None = None


async def _next_part(found: FoundDryRun, rules: RulesInForce) -> FoundDryRun:
    env = current_env("writes")
    run = found.run
    now, then = with_changes(rules.base, run.now), with_changes(rules.base, run.then)
    part = await read_reports(run.cursor)
    outcomes = [_outcome(kept, now=now, then=then) for kept in part.reports]
    outcomes += [_Outcome(_UNKNOWN, MALFORMED)] * part.malformed
    changes = tuple(outcome.change for outcome in outcomes if outcome.change is not None)
    after = msgspec.structs.replace(
        _counted(run, outcomes),
        parts=run.parts + bool(changes),
        cursor=part.cursor,
        ended_at=iso_from_ms(env.clock.now_ms()) if part.cursor is None else None,
    )
    committed = await env.writes.commit(putting_dry_run(after, if_version=found.version, changes=changes))
    return FoundDryRun(after, committed.version)


def _outcome(kept: KeptReport, *, now: Ruleset, then: Ruleset) -> _Outcome:
    skill, report = kept
    if report is None:
        return _Outcome(_UNKNOWN, NOT_KEPT)
    rescored = rescore(report, now=now, then=then)
    if rescored.unknown:
        return _Outcome(_UNKNOWN, rescored.unknown)
    if (rescored.verdict, rescored.score) == (report.verdict, report.score):
        return _Outcome(_UNCHANGED)
    change = WouldChange(
        slug=skill.slug,
        verdict=report.verdict,
        score=report.score,
        new_verdict=rescored.verdict,
        new_score=rescored.score,
        is_approved=skill.tier is CertTier.CERTIFIED,
    )
    if rescored.verdict is report.verdict:
        return _Outcome(_OTHER_SCORE, change=change)
    return _Outcome(_OTHER_VERDICT, f"{report.verdict} {rescored.verdict}", change)


def _counted(run: DryRun, outcomes: Sequence[_Outcome]) -> DryRun:
    kinds = Counter(outcome.kind for outcome in outcomes)
    names = {kind: Counter(one.name for one in outcomes if one.kind == kind) for kind in (_OTHER_VERDICT, _UNKNOWN)}
    return msgspec.structs.replace(
        run,
        examined=run.examined + len(outcomes),
        unchanged=run.unchanged + kinds[_UNCHANGED],
        other_score=run.other_score + kinds[_OTHER_SCORE],
        verdicts=dict(Counter(run.verdicts) + names[_OTHER_VERDICT]),
        unknown=dict(Counter(run.unknown) + names[_UNKNOWN]),
    )
