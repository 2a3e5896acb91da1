"""The scan itself: from the bytes of a skill to a report. No clock, no network, no disk beyond the rules.

An analyser that fails loses only what it would have found, and the report says that it failed.
"""

from __future__ import annotations

import gc
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache

import msgspec

from vskill_platform import __version__
from vskill_platform.domain.content import SkillContent, content_digest
from vskill_platform.domain.errors import InvalidRules
from vskill_platform.domain.scan import Capabilities, Finding, ScanReport, Severity, Verdict
from vskill_platform.ports.scanner import NO_CHANGES
from vskill_platform.scanning.company import in_company
from vskill_platform.scanning.limits import ANALYSER_FAILED, BYTES_LIMIT, ScanLimits
from vskill_platform.scanning.scoring import score, verdict
from vskill_platform.scanning.tier1.analysers import (
    ANALYSERS,
    CHECK_NAMES,
    JOINERS,
    NamedAnalyser,
    NamedJoiner,
    under_rules,
)
from vskill_platform.scanning.tier1.capabilities import capabilities_of
from vskill_platform.scanning.tier1.changes import with_changes
from vskill_platform.scanning.tier1.containers.opening import Opening, open_containers
from vskill_platform.scanning.tier1.meaning.context import CODE_LAYERS, stance_of
from vskill_platform.scanning.tier1.meaning.ordinary import SecondOpinion
from vskill_platform.scanning.tier1.meaning.stances import Stance
from vskill_platform.scanning.tier1.rules import Rule, Ruleset, read_ruleset
from vskill_platform.scanning.tier1.skill import (
    Fact,
    FileUnderScan,
    Hit,
    LimitHit,
    Observation,
    SkillUnderScan,
    file_under_scan,
    simple_name,
)

DEFAULT_LIMITS = ScanLimits()
MORE_LINES = 20
_GRAVITY = {severity: rank for rank, severity in enumerate(Severity)}
# Standard logging: structlog takes longer to import than all else that a scanning process needs.
_log = logging.getLogger(__name__)


def scan_content(
    content: SkillContent,
    *,
    limits: ScanLimits = DEFAULT_LIMITS,
    ruleset: Ruleset | None = None,
    changes: Mapping[str, str] = NO_CHANGES,
    analysers: Sequence[NamedAnalyser] = ANALYSERS,
) -> ScanReport:
    """The report on this content. The same content, rules, changes of them and limits give the same report, to the byte."""
    rules = ruleset or read_ruleset()
    _ensure_checks_exist(rules)
    with _collector_at_rest():
        return _scanned(content, limits=limits, rules=rules, changes=changes, analysers=analysers)


def _scanned(
    content: SkillContent,
    *,
    limits: ScanLimits,
    rules: Ruleset,
    changes: Mapping[str, str],
    analysers: Sequence[NamedAnalyser],
) -> ScanReport:
    """The report. All else that a scan made is let go of on return: the collector, when it wakes, finds nothing to walk over."""
    skill, observations = _look(content, limits=limits, rules=rules, analysers=analysers)
    return _report(skill, observations, in_force=with_changes(rules, changes))


@contextmanager
def _collector_at_rest() -> Iterator[None]:
    """Keep the collector of cycles from walking over trees that all live until the scan ends; it runs after it.

    What a scan holds is bounded by its limits, and all but the trees of its code is freed by counting references.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _look(
    content: SkillContent, *, limits: ScanLimits, rules: Ruleset, analysers: Sequence[NamedAnalyser]
) -> tuple[SkillUnderScan, list[Observation]]:
    files = _files_within(content, limits.max_bytes)
    opening = _opened(files, limits)
    skill = SkillUnderScan(
        content=content, files=(*files, *opening.files), ruleset=rules, limits=limits, opening=opening.seen
    )
    observations = list(_observe(skill, analysers))
    observations += list(_observe(skill, [_after(observations, joiner) for joiner in JOINERS]))
    if len(files) < len(content.files):
        observations.append(LimitHit(BYTES_LIMIT))
    return skill, observations


def _report(skill: SkillUnderScan, observations: Sequence[Observation], *, in_force: Ruleset) -> ScanReport:
    hits = [seen for seen in observations if isinstance(seen, Hit)]
    opinion = SecondOpinion(hits, skill.ruleset.rules)
    findings = _findings(skill, [hit for hit in hits if hit.rule_id in in_force.rules], in_force.rules, opinion)
    capabilities = _capabilities(skill, [seen for seen in observations if isinstance(seen, Fact)])
    failed = {f"{ANALYSER_FAILED}:capabilities"} if capabilities is None else set()
    limits_hit = tuple(sorted(failed | {seen.name for seen in observations if isinstance(seen, LimitHit)}))
    points = score(findings)
    said = verdict(points, findings=findings, limits_hit=limits_hit)
    return ScanReport(
        name=simple_name(skill.frontmatter),
        verdict=said,
        score=points,
        flagged=said is not Verdict.PASS,
        content_digest=content_digest(skill.content),
        ruleset_version=in_force.version,
        scanner_version=__version__,
        limits_hit=limits_hit,
        capabilities=capabilities or Capabilities(),
        findings=tuple(findings[: skill.limits.max_findings]),
    )


def _capabilities(skill: SkillUnderScan, facts: Sequence[Fact]) -> Capabilities | None:
    """What the skill can do; None where that could not be found out."""
    try:
        return capabilities_of(skill, facts)
    except MemoryError:
        raise
    except Exception:  # one part that fails must not lose what the others found
        _log.exception("capabilities_failed")
        return None


@lru_cache(maxsize=4)
def _ensure_checks_exist(ruleset: Ruleset) -> None:
    unknown = sorted({rule.check for rule in ruleset.check_rules if rule.check} - CHECK_NAMES)
    if unknown:
        raise InvalidRules(f"Rules name checks that do not exist: {', '.join(unknown)}.", checks=unknown)


def _files_within(content: SkillContent, max_bytes: int) -> tuple[FileUnderScan, ...]:
    """The files that fit, the smallest first, so that one huge file cannot push all others out."""
    kept: set[str] = set()
    left = max_bytes
    for file in sorted(content.files, key=lambda file: len(file.content)):
        left -= len(file.content)
        if left < 0:
            break
        kept.add(file.path)
    return tuple(file_under_scan(file) for file in content.files if file.path in kept)


def _opened(files: tuple[FileUnderScan, ...], limits: ScanLimits) -> Opening:
    """What is inside the files. A container that cannot be opened must not lose what the rest of the skill shows."""
    try:
        return open_containers(files, limits=limits)
    except MemoryError:
        raise
    except Exception:
        _log.exception("Opening containers failed. The report says so and does not say PASS.")
        return Opening(seen=(LimitHit(f"{ANALYSER_FAILED}:opening"),))


def _observe(skill: SkillUnderScan, analysers: Iterable[NamedAnalyser]) -> Iterator[Observation]:
    for name, analyse in analysers:
        try:
            yield from analyse(skill)
        except MemoryError:
            raise
        except Exception:
            _log.exception("The analyser %s failed. The report says so and does not say PASS.", name)
            yield LimitHit(f"{ANALYSER_FAILED}:{name}")


def _after(observations: Sequence[Observation], joiner: NamedJoiner) -> NamedAnalyser:
    """The joiner as an analyser that knows what the others have seen."""
    return NamedAnalyser(joiner.name, lambda skill: under_rules(skill, joiner.join(skill, observations)))


def _findings(
    skill: SkillUnderScan, hits: Sequence[Hit], rules: Mapping[str, Rule], opinion: SecondOpinion
) -> list[Finding]:
    """One finding for each rule and file, so that saying a thing twice does not count twice; the gravest first."""
    together: dict[tuple[str, str], list[Hit]] = {}
    for hit in hits:
        together.setdefault((hit.rule_id, hit.file), []).append(hit)
    files = {file.path: file for file in skill.files}
    found = [
        _weighed(skill, rules[rule_id], files.get(path), places, opinion)
        for (rule_id, path), places in together.items()
    ]
    return sorted(in_company(found, rules), key=_order)


def _weighed(
    skill: SkillUnderScan, rule: Rule, file: FileUnderScan | None, places: Sequence[Hit], opinion: SecondOpinion
) -> Finding:
    """The finding at the places that state something; where all are quotations or warnings, one that only informs.

    Where all read like ordinary advice, it counts less under a rule that allows for that.
    """
    if file is None or rule.severity is Severity.INFO:
        return _finding(rule, places)
    stances = [stance_of(skill, file, hit, rule) for hit in places]
    stated = [hit for hit, stance in zip(places, stances, strict=True) if stance is Stance.STATED]
    if stated and opinion.is_ordinary(rule, file, stated):
        found = _finding(rule, stated)
        return msgspec.structs.replace(found, severity=rule.severity_when_ordinary, context=Stance.ORDINARY.value)
    if stated or _may_hide_one(places, most=skill.limits.max_places):
        return _finding(rule, stated or places)
    return msgspec.structs.replace(_finding(rule, places), severity=Severity.INFO, context=stances[0].value)


def _may_hide_one(places: Sequence[Hit], *, most: int) -> bool:
    """Whether a parser, which stops at so many places, may not have come to one that is stated."""
    return sum(hit.layer in CODE_LAYERS for hit in places) >= most


def _finding(rule: Rule, places: Sequence[Hit]) -> Finding:
    first = min((hit for hit in places if hit.layer == places[0].layer), key=lambda hit: (hit.line, hit.column))
    return Finding(
        rule_id=rule.id,
        category=rule.category,
        owasp=rule.owasp,
        severity=rule.severity,
        file=first.file,
        line=first.line,
        column=first.column,
        excerpt=first.excerpt,
        message=rule.message,
        why=rule.why,
        fix=rule.fix,
        layer=first.layer,
        detail=first.detail,
        more_lines=tuple(sorted({hit.line for hit in places} - {first.line})[:MORE_LINES]),
    )


def _order(finding: Finding) -> tuple[int, bytes, int, int, str]:
    return (_GRAVITY[finding.severity], finding.file.encode(), finding.line, finding.column, finding.rule_id)
