"""The corpus in figures: every case leaves a file, and whoever ends last makes one report of them all.

`python -m tests.hostile.report` prints the table of the last run.
"""

from __future__ import annotations

import fcntl
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from tests.hostile.corpus import Case, read_manifest
from tests.hostile.playing import Play

BUILD = Path(__file__).parents[2] / "build"
REPORT = BUILD / "hostile.json"
RUNS = BUILD / "hostile"
_KEPT_S = 3600.0


class Line(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What one case came to."""

    id: str
    group: str
    ended: str
    right: bool
    known_gap: bool
    defect: bool
    ms: float
    own_mib: float
    child_mib: float
    outside: int
    processes: int
    reached: int


class Figures(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The figures of a class, or of all."""

    group: str
    tried: int
    right: int
    known_gaps: int
    defects: int
    worst_ms: float
    worst_ms_case: str
    worst_mib: float
    worst_mib_case: str
    files_outside: int
    processes: int
    reached: int


class Report(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A run of the corpus."""

    cases_in_manifest: int
    total: Figures
    groups: tuple[Figures, ...]
    cases: tuple[Line, ...]


def make_line(case: Case, played: Play, *, right: bool) -> Line:
    """The line of a case that was played."""
    return Line(
        id=case.id,
        group=case.group,
        ended="; ".join(map(str, played.ends[:3])),
        right=right,
        known_gap=case.known_gap is not None,
        defect=case.defect is not None,
        ms=round(played.measure.elapsed_ms, 1),
        own_mib=round(played.measure.own_kib / 1024, 1),
        child_mib=round(played.measure.child_kib / 1024, 1),
        outside=len(played.outside),
        processes=len(played.processes),
        reached=played.reached,
    )


def keep_line(run: str, line: Line, *, runs: Path = RUNS) -> None:
    """Keep a line until the run has ended."""
    folder = runs / run
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{line.id}.json").write_bytes(msgspec.json.encode(line))


def write_report(run: str, *, runs: Path = RUNS, report: Path = REPORT) -> Report | None:
    """Make the report of a run as far as it has come. With several at work, the last to call sees every line."""
    folder = runs / run
    if not folder.is_dir():
        return None
    with _alone(runs / "lock"):
        lines = [msgspec.json.decode(file.read_bytes(), type=Line) for file in sorted(folder.glob("*.json"))]
        made = make_report(lines)
        report.write_bytes(msgspec.json.format(msgspec.json.encode(made), indent=1))
        _remove_old(runs, but=run)
    return made


def make_report(lines: Sequence[Line]) -> Report:
    """The figures of these lines."""
    groups = sorted({line.group for line in lines})
    return Report(
        cases_in_manifest=len(read_manifest().cases),
        total=_figures("all", lines),
        groups=tuple(_figures(group, [line for line in lines if line.group == group]) for group in groups),
        cases=tuple(lines),
    )


def as_table(report: Report) -> list[str]:
    """The report as lines of text."""
    head = "class  tried  right  gaps  defects  worst ms                         worst MiB"
    rows = [head + "                        outside  processes  reached"]
    for figures in (*report.groups, report.total):
        slow = f"{figures.worst_ms:.0f} {figures.worst_ms_case}"
        large = f"{figures.worst_mib:.0f} {figures.worst_mib_case}"
        rows.append(
            f"{figures.group:5}  {figures.tried:5}  {figures.right:5}  {figures.known_gaps:4}  {figures.defects:7}  "
            f"{slow:31.31}  {large:31.31}  {figures.files_outside:7}  {figures.processes:9}  {figures.reached:7}"
        )
    return [*rows, f"{report.total.tried} of {report.cases_in_manifest} cases of the manifest were tried."]


def _figures(group: str, lines: Sequence[Line]) -> Figures:
    slowest = max(lines, key=lambda line: line.ms)
    largest = max(lines, key=lambda line: max(line.own_mib, line.child_mib))
    return Figures(
        group=group,
        tried=len(lines),
        right=sum(line.right for line in lines),
        known_gaps=sum(line.known_gap for line in lines),
        defects=sum(line.defect for line in lines),
        worst_ms=slowest.ms,
        worst_ms_case=slowest.id,
        worst_mib=max(largest.own_mib, largest.child_mib),
        worst_mib_case=largest.id,
        files_outside=sum(line.outside for line in lines),
        processes=sum(line.processes for line in lines),
        reached=sum(line.reached for line in lines),
    )


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def _remove_old(runs: Path, *, but: str) -> None:
    for folder in runs.iterdir():
        if folder.is_dir() and folder.name != but and time.time() - folder.stat().st_mtime > _KEPT_S:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    print("\n".join(as_table(msgspec.json.decode(REPORT.read_bytes(), type=Report))))
