"""Scanning in one process: skills and megabytes a second. What hostile text does to it is told by `scan_growth`.

The skills are made up of a few sentences and lines of code, or those of the folder that `VSKILL_BENCH_SKILLS` names. The first
round counts for itself: in it, all that a process makes ready when it first needs it is made ready.
"""

from __future__ import annotations

import ast
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from benchmarks.report import Row, at_least, told
from vskill_platform.domain.content import SkillContent, SkillFile, make_content
from vskill_platform.ingest.folder import find_skill_folders, read_folder
from vskill_platform.ingest.limits import skill_limits
from vskill_platform.scanning.tier1.meaning.concepts import english_in_each
from vskill_platform.scanning.tier1.meaning.likeness import ALMOST, likely_passages
from vskill_platform.scanning.tier1.meaning.statements import Text
from vskill_platform.scanning.tier1.patterns import PatternSet
from vskill_platform.scanning.tier1.rules import load_ruleset
from vskill_platform.scanning.tier1.scan import scan_content
from vskill_platform.settings import Settings

SKILLS = 300
MEAN_BYTES = 30_000
FOLDER_VARIABLE = "VSKILL_BENCH_SKILLS"
_IN_A_PROCESS = """
import json, sys
if not {ahead}:
    sys.modules["hyperscan"] = None
from benchmarks.scan_speed import given_skills, timed
from vskill_platform.scanning.tier1.scan import scan_content
skills, _ = given_skills()
scan_content(skills[0])
print(json.dumps([timed(lambda: [scan_content(skill) for skill in skills]) for _ in range(2)]))
"""
ROUNDS = 3

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

SHELL = (
    "if [ ! -d build ]; then\n  mkdir -p build\nfi\n",
    'for name in one two three; do\n  echo "Working on $name"\n  python3 scripts/run.py "$name" > "build/$name.txt"\ndone\n',
    'count_{number}() {{\n  wc -l < "$1" | tr -d " "\n}}\n',
    "git diff --stat HEAD~1 | tail -n 1\n",
)


async def run() -> list[Row]:
    """How fast the scanner is on ordinary skills."""
    skills, whose = given_skills()
    size = sum(skill.size for skill in skills)
    scan_content(skills[0])
    rounds = [_both_times(lambda: [scan_content(skill) for skill in skills]) for _ in range(ROUNDS)]
    wall_s, best = min(rounds)
    mean = f"{len(skills)} skills{whose}, mean {size / len(skills) / 1e3:.0f} KB, {len(load_ruleset().rules)} rules"
    clocks = f"{mean}, one process, processor time; {len(skills) / wall_s:.0f} skills/s by the wall clock"
    return [
        at_least("scan_skills_per_second", len(skills) / best, target=100, unit="/s", detail=clocks),
        told(
            "scan_skills_at_first", len(skills) / rounds[0][1], unit="/s", detail="the first round of the same process"
        ),
        *_compiled_ahead(),
        told(
            "scan_megabytes_per_second", size / best / 1e6, unit="MB/s", detail=f"{mean}, one process, processor time"
        ),
        told(
            "scan_weighing_of_passages",
            _weighing(skills) / best,
            unit=" of a scan",
            detail="what the sentences of the Markdown take to be weighed (ADR 14)",
        ),
        told(
            "scan_engines_alone",
            _engines_alone(skills),
            unit="/s",
            detail="one look for rules and concepts, and ast.parse, alone",
        ),
    ]


def _compiled_ahead() -> list[Row]:
    """How many times faster scans are with patterns that hyperscan compiled ahead, in new processes, by turns."""
    times: dict[bool, list[list[float]]] = {True: [], False: []}
    for ahead in (True, False) * 2:
        command = [sys.executable, "-c", _IN_A_PROCESS.format(ahead=ahead)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        times[ahead].append(json.loads(done.stdout))
    first, later = (min(one[at] for one in times[False]) / min(one[at] for one in times[True]) for at in (0, 1))
    detail = "times faster than by google-re2 alone, both in processes of their own"
    return [
        told("scan_compiled_ahead_at_first", first, unit="x", detail=f"the first round of a process: {detail}"),
        told("scan_compiled_ahead", later, unit="x", detail=f"the second round: {detail}"),
    ]


def given_skills() -> tuple[list[SkillContent], str]:
    """The skills to measure with, and whose they are."""
    given = os.environ.get(FOLDER_VARIABLE)
    return (read_skills(Path(given)), f" of {FOLDER_VARIABLE}") if given else (make_skills(random.Random(7)), "")


def _engines_alone(skills: list[SkillContent]) -> float:
    """Skills a second if a scan were nothing but a look for the rules' patterns and concepts, and Python parsed."""
    rules = PatternSet([rule.pattern for rule in load_ruleset().pattern_rules if rule.pattern])

    def look() -> None:
        for skill in skills:
            texts = [file.content for file in skill.files]
            rules.which_of_each(texts)
            english_in_each(texts)
            for file in skill.files:
                with suppress(SyntaxError, ValueError):
                    ast.parse(file.content if file.path.endswith(".py") else b"")

    look()
    return len(skills) / min(timed(look) for _ in range(ROUNDS))


def _weighing(skills: list[SkillContent]) -> float:
    """Processor time for the weighing of all sentences."""
    texts = [file.content for skill in skills for file in skill.files if file.path.endswith(".md")]

    def weigh() -> None:
        for text in texts:
            list(likely_passages(Text(text, in_english=frozenset()), least=ALMOST))

    return min(timed(weigh) for _ in range(ROUNDS))


def _both_times(work: Callable[[], object]) -> tuple[float, float]:
    """Wall-clock time and processor time."""
    started = time.perf_counter()
    spent = timed(work)
    return time.perf_counter() - started, spent


def timed(work: Callable[[], object]) -> float:
    """Processor time, so that neighbours on the machine do not count."""
    started = time.process_time()
    work()
    return time.process_time() - started


def read_skills(folder: Path) -> list[SkillContent]:
    """The skills below a folder."""
    limits = skill_limits(Settings())
    return [read_folder(path, limits=limits) for path in find_skill_folders(folder)]


def make_skills(chance: random.Random) -> list[SkillContent]:
    """Skills of Markdown, a script in Python, one of a shell and settings, the same ones every time."""
    return [_make_skill(chance, number) for number in range(SKILLS)]


def _make_skill(chance: random.Random, number: int) -> SkillContent:
    """Sizes are spread as widely as those of public skills, and of their bytes as much is Markdown (3/4) and Python (1/7)."""
    size = int(min(chance.expovariate(1 / MEAN_BYTES), 8 * MEAN_BYTES))
    head = f"---\nname: skill-{number}\ndescription: Makes reports of kind {number}.\n---\n"
    imports = "import json\nimport os\nimport subprocess\nimport sys\n"
    texts = {
        "SKILL.md": head + _prose(chance, size // 4),
        "reference/guide.md": _prose(chance, size // 4),
        "reference/examples.md": _prose(chance, size // 4),
        "scripts/run.py": _code(chance, size // 7, CODE, head=imports),
        "scripts/all.sh": _code(chance, size // 20, SHELL, head="#!/bin/sh\nset -eu\n"),
        "data/columns.json": json.dumps([{"name": f"column-{row}", "width": row} for row in range(size // 600)]),
    }
    return make_content([SkillFile(path=path, content=text.encode()) for path, text in texts.items()])


def _code(chance: random.Random, size: int, pieces: tuple[str, ...], *, head: str) -> str:
    """A script: most of its pieces compute, some read a file, run a program or call an API."""
    parts, length = [head], len(head)
    while length < size:
        parts.append(chance.choice(pieces).format(number=len(parts)))
        length += len(parts[-1])
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
