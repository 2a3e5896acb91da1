"""Scanning hostile text: how the time of each rule grows, and what a pass over all rules saves against `re`."""

from __future__ import annotations

import heapq
import math
import random
import re
from collections.abc import Iterator
from functools import partial

from benchmarks.report import Row, at_most, told
from benchmarks.scan_speed import ROUNDS, make_skills, timed
from vskill_platform.domain.content import SkillContent, SkillFile, make_content
from vskill_platform.scanning.tier1.all_sets import all_sets
from vskill_platform.scanning.tier1.compiled_sets import find_compiled
from vskill_platform.scanning.tier1.matching import matcher_for
from vskill_platform.scanning.tier1.patterns import compile_pattern
from vskill_platform.scanning.tier1.rules import Rule, load_ruleset
from vskill_platform.scanning.tier1.scan import DEFAULT_LIMITS, scan_content
from vskill_platform.scanning.tier1.skill import SkillUnderScan, file_under_scan
from vskill_platform.scanning.tier1.views.raw import raw_views

RE_SKILLS = 30
SLOWEST_TEXTS = 5
SMALL, LARGE = 256 * 1024, 2 * 1024 * 1024


async def run() -> list[Row]:
    """What hostile text costs, and the rules against `re`."""
    return [_hostile_speed(), _against_re(make_skills(random.Random(7))), *_growth(), *_growth_of_sets()]


def _against_re(skills: list[SkillContent]) -> Row:
    """Finding which rules hit, by our passes and by one `re.search` a rule."""
    patterns = [found for rule in load_ruleset().pattern_rules if (found := _as_re(rule)) is not None]
    views = [view for skill in skills for view in raw_views(under_scan(skill))]
    few = [view.data.decode() for skill in skills[:RE_SKILLS] for view in raw_views(under_scan(skill))]
    matcher = matcher_for(load_ruleset())
    ours_s = min(
        timed(lambda: [list(matcher.observe(view, limits=DEFAULT_LIMITS)) for view in views]) for _ in range(ROUNDS)
    )
    re_s = timed(lambda: [pattern.search(text) for text in few for pattern in patterns])
    ours = sum(len(view.data) for view in views) / ours_s / 1e6
    theirs = sum(len(text.encode()) for text in few) / re_s / 1e6
    return told(
        "scan_matching_against_re",
        ours / theirs,
        unit="x",
        detail=f"{ours:.1f} MB/s with places against {theirs:.2f} MB/s for {len(patterns)} searches with `re`",
    )


def _hostile_speed() -> Row:
    """A text made of beginnings of what every rule looks for, in any order: the most that the first passes have to remember."""
    chance = random.Random(11)
    halves = [example[: len(example) // 2 + 1] for rule in load_ruleset().pattern_rules for example in rule.matches]
    text = " ".join(chance.choice(halves) for _ in range(LARGE // 20)).encode()[:LARGE]
    skill = make_content([SkillFile(path="SKILL.md", content=text)])
    spent = min(timed(lambda: scan_content(skill)) for _ in range(ROUNDS))
    return told(
        "scan_hostile_megabytes_per_second",
        len(text) / spent / 1e6,
        unit="MB/s",
        detail=f"{len(text) >> 10} KB of half examples of all rules, shuffled, whole scan, processor time",
    )


def _growth() -> list[Row]:
    """For each rule its worst text: how the time grows from the small to the large size, and what a megabyte costs."""
    slopes: list[tuple[float, str]] = []
    costs: list[tuple[float, str]] = []
    for rule in load_ruleset().pattern_rules:
        small, large = (max(_time_of(rule, text) for text in _hostile_texts(rule, size)) for size in (SMALL, LARGE))
        slopes.append((math.log(large / small) / math.log(LARGE / SMALL), rule.id))
        costs.append((large * 1e3 * (1024 * 1024) / LARGE, rule.id))
    (slope, steepest), (cost, dearest) = max(slopes), max(costs)
    how = f"{len(slopes)} rules, worst of 3 texts made of each rule's examples, {SMALL >> 10} KB to {LARGE >> 10} KB"
    return [
        at_most("scan_rule_growth", slope, target=1.3, unit="exponent", detail=f"{how}; steepest is {steepest}"),
        told("scan_rule_worst_megabyte", cost, unit="ms", detail=f"{how}; dearest is {dearest}"),
    ]


def _growth_of_sets() -> list[Row]:
    """The same for each set that was compiled ahead: texts that one beginning is repeated in keep it busy all the way."""
    beginnings = [text.encode() for rule in load_ruleset().pattern_rules for text in _beginnings(rule.matches[0])]
    slopes: list[float] = []
    speeds: list[float] = []
    for compiled in filter(None, map(find_compiled, all_sets())):
        times = [(timed(partial(compiled.which, text * (SMALL // len(text)))), text) for text in beginnings]
        for _, text in heapq.nlargest(SLOWEST_TEXTS, times):
            small, large = (
                min(timed(partial(compiled.which, text * (size // len(text)))) for _ in range(ROUNDS))
                for size in (SMALL, LARGE)
            )
            slopes.append(math.log(large / small) / math.log(LARGE / SMALL))
            speeds.append(LARGE / large / 1e6)
    how = f"worst {SLOWEST_TEXTS} of {len(beginnings)} texts for each set, {SMALL >> 10} KB to {LARGE >> 10} KB"
    if not slopes:
        return []
    return [
        at_most("scan_set_growth", max(slopes), target=1.3, unit="exponent", detail=how),
        told("scan_set_slowest", min(speeds), unit="MB/s", detail=how),
    ]


def _beginnings(example: str) -> Iterator[str]:
    """An example whole, half of it, and its first words."""
    yield example + "\n"
    yield example[: len(example) // 2 + 1] + " "
    yield " ".join(example.split()[:2]) + " "


def _hostile_texts(rule: Rule, size: int) -> Iterator[bytes]:
    """Matches without end, beginnings of matches without end, and one beginning that is never done."""
    example = rule.matches[0].encode()
    half = example[: len(example) // 2] + b" "
    yield (example + b"\n") * (size // (len(example) + 1))
    yield half * (size // len(half))
    yield half + b" " * size


def _time_of(rule: Rule, text: bytes) -> float:
    """The time to walk through all the matches that the scanner would look at."""
    pattern = compile_pattern(rule.pattern or "")

    def walk() -> None:
        for looked_at, _ in enumerate(pattern.spans(text), start=1):
            if looked_at >= DEFAULT_LIMITS.max_places:
                return

    return min(timed(walk) for _ in range(ROUNDS))


def _as_re(rule: Rule) -> re.Pattern[str] | None:
    try:
        return re.compile(rule.pattern or "")
    except re.error:
        return None


def under_scan(skill: SkillContent) -> SkillUnderScan:
    """The content as the parts of the scanner see it."""
    files = tuple(file_under_scan(file) for file in skill.files)
    return SkillUnderScan(content=skill, files=files, ruleset=load_ruleset(), limits=DEFAULT_LIMITS)
