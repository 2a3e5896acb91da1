"""`vskill-platform eval`: how well the scanner does on a labelled set, with intervals, so that nobody has to believe us."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

import msgspec
import typer
from rich.console import Console

from vskill_platform.cli.leave_out import flagged_without_own_rules
from vskill_platform.cli.options import RULES, settings_from
from vskill_platform.cli.printing import plain, print_json, print_table
from vskill_platform.cli.scan import scan_everything
from vskill_platform.cli.scan_targets import ScannedSkill, folder_target
from vskill_platform.domain.errors import UnreadableSkill

HELP = "Measure the scanner on a labelled set of skills."
_Z = 1.959963984540054
"""The standard normal's 97.5th percentile: intervals are of 95 %."""


class LabelledSkill(msgspec.Struct, frozen=True, kw_only=True):
    """One row of an index. `pair` joins a skill with something planted in it to the clean one it was made from."""

    path: str
    label: Literal["malicious", "benign"]
    category: str | None = None
    source: str | None = None
    pair: str | None = None


class Rate(msgspec.Struct, frozen=True, kw_only=True):
    """k of n, and the interval that the true rate lies in with 95 % confidence (Wilson). Nothing of nothing is null."""

    k: int
    n: int
    rate: float | None
    low: float | None
    high: float | None


class SourceRates(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The rates of one source. `recall_left_out` is the recall without the rules that only this source gives a reason for."""

    recall: Rate
    recall_left_out: Rate
    false_positives: Rate


class Evaluation(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How well the scanner did."""

    recall: Rate
    recall_left_out: Rate
    false_positives: Rate
    by_category: dict[str, Rate]
    by_source: dict[str, SourceRates]
    pairs: Rate
    unreadable: int
    skills_per_second: float
    ruleset_version: str


Judged = list[tuple[LabelledSkill, ScannedSkill]]


def evaluate(
    index: Path = typer.Argument(..., metavar="INDEX.jsonl", help="Rows of path (relative to the index) and label."),
    fmt: Literal["text", "json"] = typer.Option("text", "--format", help="How to print the figures."),
    rows: Path | None = typer.Option(
        None, "--rows", metavar="FILE", help="Write a JSON row a skill, with its findings."
    ),
    rules: str | None = RULES,
    quiet: bool = typer.Option(False, "--quiet", "-q", help="No progress."),
) -> None:
    """Scan every skill of a labelled set and print recall and false positives, per category and per source."""
    labelled = read_index(index)
    settings = settings_from(rules_folder=rules)
    targets = [folder_target(index.parent / row.path, shown=row.path, settings=settings) for row in labelled]
    began = time.perf_counter()
    scanned = asyncio.run(scan_everything(targets, settings, shows_progress=not quiet))
    judged = list(zip(labelled, scanned, strict=True))
    result = measure(judged, seconds=time.perf_counter() - began)
    if rows is not None:
        _write_rows(rows, judged)
    if fmt == "json":
        print_json(result)
    else:
        _print(result)
    if result.unreadable == len(judged):
        raise UnreadableSkill(f"None of the {len(judged)} skills that '{index}' names could be read.", path=str(index))


def read_index(index: Path) -> list[LabelledSkill]:
    """The rows of an index. Raises UnreadableSkill, naming the line."""
    try:
        lines = index.read_bytes().splitlines()
    except OSError as exc:
        raise UnreadableSkill(f"The index '{index}' cannot be read: {exc.strerror}.", path=str(index)) from exc
    labelled = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            labelled.append(msgspec.json.decode(line, type=LabelledSkill))
        except msgspec.MsgspecError as exc:
            raise UnreadableSkill(f"Line {number} of '{index}' is no row of an index: {exc}.", line=number) from exc
    if not labelled:
        raise UnreadableSkill(f"The index '{index}' has no rows.", path=str(index))
    return labelled


def measure(judged: Judged, *, seconds: float) -> Evaluation:
    """The figures of a set that was scanned in this time."""
    readable = [pair for pair in judged if pair[1].error is None]
    malicious = [pair for pair in readable if pair[0].label == "malicious"]
    benign = [pair for pair in readable if pair[0].label == "benign"]
    categories = sorted({row.category for row, _ in malicious if row.category is not None})
    sources = sorted({row.source for row, _ in judged if row.source is not None})
    left_out = flagged_without_own_rules([(row.source or "", skill.report) for row, skill in malicious])
    return Evaluation(
        recall=_flagged(malicious),
        recall_left_out=_share([flag for flags in left_out.values() for flag in flags]),
        false_positives=_flagged(benign),
        by_category={name: _flagged(pair for pair in malicious if pair[0].category == name) for name in categories},
        by_source={
            name: SourceRates(
                recall=_flagged(pair for pair in malicious if pair[0].source == name),
                recall_left_out=_share(left_out.get(name, [])),
                false_positives=_flagged(pair for pair in benign if pair[0].source == name),
            )
            for name in sources
        },
        pairs=_told_apart(readable),
        unreadable=sum(skill.error is not None for _, skill in judged),
        skills_per_second=round(len(judged) / max(seconds, 1e-9), 1),
        ruleset_version=next((skill.report.ruleset_version for _, skill in judged if skill.error is None), ""),
    )


def wilson(k: int, n: int) -> Rate:
    """k of n with Wilson's interval, which keeps its word for small n and for rates near 0 and 1."""
    if n == 0:
        return Rate(k=0, n=0, rate=None, low=None, high=None)
    share = k / n
    centre = share + _Z**2 / (2 * n)
    spread = _Z * math.sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2))
    scale = 1 + _Z**2 / n
    low, high = max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)
    return Rate(k=k, n=n, rate=round(share, 4), low=round(low, 4), high=round(high, 4))


def _flagged(pairs: Iterable[tuple[LabelledSkill, ScannedSkill]]) -> Rate:
    return _share([skill.report.flagged for _, skill in pairs])


def _share(flags: Sequence[bool]) -> Rate:
    return wilson(sum(flags), len(flags))


def _told_apart(judged: Judged) -> Rate:
    """Of the pairs, those whose planted copy is flagged while its clean original is not."""
    clean = {row.pair: skill.report.flagged for row, skill in judged if row.pair is not None and row.label == "benign"}
    planted = [(row.pair, skill) for row, skill in judged if row.label == "malicious" and row.pair in clean]
    return wilson(sum(skill.report.flagged and not clean[pair] for pair, skill in planted), len(planted))


def _write_rows(path: Path, judged: Judged) -> None:
    with path.open("wb") as out:
        for row, skill in judged:
            out.write(msgspec.json.encode({**msgspec.structs.asdict(row), **skill.public()}) + b"\n")


def _print(result: Evaluation) -> None:
    console = Console(highlight=False, emoji=False)
    console.print(f"recall           {_told(result.recall)}")
    if len(result.by_source) > 1:
        console.print(f"one source out   {_told(result.recall_left_out)}")
    console.print(f"false positives  {_told(result.false_positives)}")
    if result.pairs.n:
        console.print(f"pairs told apart {_told(result.pairs)}")
    if result.unreadable:
        console.print(f"[yellow]{result.unreadable} could not be read and are not counted[/]")
    console.print(f"{result.skills_per_second:g} skills a second, rules {result.ruleset_version}")
    categories = [[plain(name), _told(rate)] for name, rate in result.by_category.items()]
    print_table("Recall by category", ["category", "flagged"], categories, nothing="")
    sources = [
        [plain(name), _told(rates.recall), _told(rates.recall_left_out), _told(rates.false_positives)]
        for name, rates in result.by_source.items()
    ]
    print_table("By source", ["source", "recall", "left out", "false positives"], sources, nothing="")


def _told(rate: Rate) -> str:
    if rate.rate is None or rate.low is None or rate.high is None:
        return ""
    return f"{rate.rate:6.1%}  {rate.k} of {rate.n}  ({rate.low:.1%} to {rate.high:.1%})"
