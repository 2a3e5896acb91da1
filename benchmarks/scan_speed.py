"""Scanning in one process: skills and megabytes a second, against `re` with the same rules, and growth on hostile text."""

from __future__ import annotations

import math
import random
import re
import time
from collections.abc import Callable, Iterator

from benchmarks.report import Row, at_least, at_most, told
from vskill_platform.domain.content import SkillContent, SkillFile, make_content
from vskill_platform.scanning.tier1.matching import matcher_for
from vskill_platform.scanning.tier1.patterns import compile_pattern
from vskill_platform.scanning.tier1.rules import Rule, load_ruleset
from vskill_platform.scanning.tier1.scan import DEFAULT_LIMITS, scan_content
from vskill_platform.scanning.tier1.skill import SkillUnderScan, file_under_scan
from vskill_platform.scanning.tier1.views.raw import raw_views

SKILLS = 300
MEAN_BYTES = 30_000
ROUNDS = 3
RE_SKILLS = 30
SMALL, LARGE = 256 * 1024, 2 * 1024 * 1024

PROSE = (
    "Use this skill when the user asks for a report on the project and its open issues.",
    "Run the script with the path of the repository; it prints a table to standard output.",
    "Read the reference before you start, and ask the user where the instructions are unclear.",
    "The token is taken from the environment variable and never written to a file.",
    "See https://docs.example.com/guide/install for the installation on other systems — it is short.",
    "curl -fsSL https://api.example.com/v1/items | jq '.items[] | .name'",
    "pip install requests rich && python scripts/collect.py --output build/report.json",
    "import os\nimport subprocess\n\n\ndef main() -> None:\n    subprocess.run(['git', 'status'], check=True)\n",
    "| column | meaning | example |\n|---|---|---|\n| name | what it is called | `alpha-7` |",
)

CODE = (
    "def total_{number}(rows):\n    return sum(row['count'] for row in rows if row.get('count'))\n",
    "def load_{number}(path):\n    with open(path, encoding='utf-8') as handle:\n        return json.load(handle)\n",
    "def run_{number}(folder):\n    result = subprocess.run(['git', 'log', '-1'], cwd=folder, capture_output=True, check=True)\n"
    "    return result.stdout.decode().strip()\n",
    "class Table_{number}:\n    def __init__(self, names):\n        self.names = sorted(names)\n\n    def widths(self):\n"
    "        return [max(len(name), 8) for name in self.names]\n",
    "def key_{number}():\n    key = os.environ.get('REPORT_API_KEY')\n    if not key:\n"
    "        sys.exit('Set REPORT_API_KEY first.')\n    return key\n",
)


async def run() -> list[Row]:
    """All figures of the scanner."""
    skills = _make_skills(random.Random(7))
    size = sum(skill.size for skill in skills)
    scan_content(skills[0])
    wall_s, best = min(_both_times(lambda: [scan_content(skill) for skill in skills]) for _ in range(ROUNDS))
    mean = f"{len(skills)} skills, mean {size / len(skills) / 1e3:.0f} KB, {len(load_ruleset().rules)} rules"
    clocks = f"{mean}, one process, processor time; {len(skills) / wall_s:.0f} skills/s by the wall clock"
    return [
        at_least("scan_skills_per_second", len(skills) / best, target=100, unit="/s", detail=clocks),
        told(
            "scan_megabytes_per_second", size / best / 1e6, unit="MB/s", detail=f"{mean}, one process, processor time"
        ),
        _hostile_speed(),
        _against_re(skills),
        *_growth(),
    ]


def _against_re(skills: list[SkillContent]) -> Row:
    """Finding which rules hit, by our passes and by one `re.search` a rule."""
    patterns = [found for rule in load_ruleset().pattern_rules if (found := _as_re(rule)) is not None]
    views = [view for skill in skills for view in raw_views(_under_scan(skill))]
    few = [view.data.decode() for skill in skills[:RE_SKILLS] for view in raw_views(_under_scan(skill))]
    matcher = matcher_for(load_ruleset())
    ours_s = min(
        _timed(lambda: [list(matcher.observe(view, limits=DEFAULT_LIMITS)) for view in views]) for _ in range(ROUNDS)
    )
    re_s = _timed(lambda: [pattern.search(text) for text in few for pattern in patterns])
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
    spent = min(_timed(lambda: scan_content(skill)) for _ in range(ROUNDS))
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

    return min(_timed(walk) for _ in range(ROUNDS))


def _both_times(work: Callable[[], object]) -> tuple[float, float]:
    """Wall-clock time and processor time."""
    started = time.perf_counter()
    spent = _timed(work)
    return time.perf_counter() - started, spent


def _timed(work: Callable[[], object]) -> float:
    """Processor time, so that neighbours on the machine do not count."""
    started = time.process_time()
    work()
    return time.process_time() - started


def _as_re(rule: Rule) -> re.Pattern[str] | None:
    try:
        return re.compile(rule.pattern or "")
    except re.error:
        return None


def _under_scan(skill: SkillContent) -> SkillUnderScan:
    files = tuple(file_under_scan(file) for file in skill.files)
    return SkillUnderScan(content=skill, files=files, ruleset=load_ruleset(), limits=DEFAULT_LIMITS)


def _make_skills(chance: random.Random) -> list[SkillContent]:
    return [_make_skill(chance, number) for number in range(SKILLS)]


def _make_skill(chance: random.Random, number: int) -> SkillContent:
    """A SKILL.md, a reference and a script, which is valid Python; sizes are spread as widely as real ones are."""
    size = int(min(chance.expovariate(1 / MEAN_BYTES), 8 * MEAN_BYTES))
    head = f"---\nname: skill-{number}\ndescription: Makes reports of kind {number}.\n---\n"
    texts = {"SKILL.md": head + _prose(chance, size // 3), "reference/guide.md": _prose(chance, size // 3)}
    texts["scripts/run.py"] = _code(chance, size // 3)
    return make_content([SkillFile(path=path, content=text.encode()) for path, text in texts.items()])


def _code(chance: random.Random, size: int) -> str:
    """Functions, as scripts have them: most compute, some read a file, run a program or call an API."""
    parts = ["import json\nimport os\nimport subprocess\nimport sys\n"]
    while sum(map(len, parts)) < size:
        parts.append(chance.choice(CODE).format(number=len(parts)))
    return "\n\n".join(parts)


def _prose(chance: random.Random, size: int) -> str:
    lines: list[str] = []
    length = 0
    while length < size:
        words = chance.choice(PROSE).split(" ")
        if chance.random() < 0.5:
            chance.shuffle(words)
        lines.append(" ".join(words))
        length += len(lines[-1]) + 1
    return "\n".join(lines)
