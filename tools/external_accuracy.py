"""How external scanners do beside tier 1: `python -m tools.external_accuracy [--index INDEX.jsonl] [--write]`.

Scans our own corpus, and the labelled set of an index where one is named, by tier 1 and by every external scanner that is
installed below `.venv/scanners` (`make test-external` installs them). Each answer is a row of `build/external-accuracy.jsonl`,
which a later run goes on from. The tables are printed; `--write` puts them into docs/accuracy.md.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from tests.corpus.cases import read_corpus
from vskill_platform.cli.evaluate import read_index, wilson
from vskill_platform.domain.content import SkillContent
from vskill_platform.domain.errors import UnreadableSkill
from vskill_platform.domain.external_scan import ExternalScanStatus
from vskill_platform.domain.scan import ScanReport, Severity
from vskill_platform.ingest.folder import read_folder
from vskill_platform.ingest.limits import skill_limits
from vskill_platform.ports.second_opinions import ExternalScanner
from vskill_platform.scanning.external import open_scanners
from vskill_platform.scanning.external.known import mark_known
from vskill_platform.scanning.tier1.rules import load_ruleset
from vskill_platform.scanning.tier1.scan import scan_content
from vskill_platform.settings import Settings

ROOT = Path(__file__).parents[1]
ROWS = ROOT / "build" / "external-accuracy.jsonl"
PAGE = ROOT / "docs" / "accuracy.md"
BEGIN, END = "### What was measured", "### What that says"
SCANNERS = ("cisco-ai-skill-scanner", "semgrep", "bandit", "detect-secrets")
TIER1 = "tier 1"
COLUMNS = (
    *("recall", "false positives", "pairs told apart"),
    *("recall, any high finding", "false positives, any high finding", "no answer"),
)
GRAVE = (Severity.CRITICAL.value, Severity.HIGH.value)


class Labelled(NamedTuple):
    """A skill, the part of a set that it belongs to, and the clean one that it was planted in, if it was."""

    part: str
    name: str
    is_malicious: bool
    host: str
    content: SkillContent

    @property
    def key(self) -> str:
        """What it is known by among all."""
        return f"{self.part} {self.name}"


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """What one provider said of one skill."""

    key: str
    provider: str
    version: str
    status: str
    worst: str = ""
    findings: int = 0
    known: int = 0
    duration_ms: float = 0.0

    @property
    def is_flagged(self) -> bool:
        """Whether a person has to look because of it."""
        return self.status == ExternalScanStatus.FAIL.value


def main(arguments: list[str]) -> int:
    """Scan what has not been scanned, and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--index", type=Path, help="a labelled set, as `vskill-platform eval` reads it")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/accuracy.md")
    chosen = parser.parse_args(arguments)
    cases = [*_own(), *(_development(chosen.index) if chosen.index else ())]
    rows = asyncio.run(_measure(cases))
    text = "\n".join(_tables(cases, rows))
    print(text)
    if chosen.write:
        page = PAGE.read_text(encoding="utf-8")
        head, tail = page.split(BEGIN)[0], page.split(END)[1]
        PAGE.write_text(f"{head}{BEGIN}\n\n{text}\n\n{END}{tail}", encoding="utf-8")
    return 0


def _own() -> Iterator[Labelled]:
    for case in read_corpus():
        yield Labelled(f"own {case.kind}", case.name, case.is_malicious, case.head.get("host", ""), case.content)


def _development(index: Path) -> Iterator[Labelled]:
    limits = skill_limits(Settings())
    for row in read_index(index):
        try:
            content = read_folder(index.parent / row.path, limits=limits)
        except UnreadableSkill as error:
            print(f"{row.path}: {error.message}", file=sys.stderr)
            continue
        yield Labelled(f"development {row.label}", row.path, row.label == "malicious", "", content)


async def _measure(cases: list[Labelled]) -> dict[tuple[str, str], Row]:
    """A row for each skill and provider, by key and provider."""
    ROWS.parent.mkdir(exist_ok=True)
    version = load_ruleset().version
    kept = {(row.key, row.provider): row for row in _read_rows() if _still_holds(row, version)}
    with tempfile.TemporaryDirectory() as data, ROWS.open("ab") as out:
        settings = Settings(
            data=data, scanners_folder=str(ROOT / ".venv" / "scanners"), external_scanners=",".join(SCANNERS)
        )

        async def go_on(made: AsyncIterator[Row]) -> None:
            async for row in made:
                kept[row.key, row.provider] = row
                out.write(msgspec.json.encode(row) + b"\n")
                out.flush()

        todo = {name: [case for case in cases if (case.key, name) not in kept] for name in (TIER1, *SCANNERS)}
        async with open_scanners(settings) as scanners, asyncio.TaskGroup() as group:
            for name, scanner in scanners.items():
                group.create_task(go_on(_by_scanner(scanner, todo[name])))
            group.create_task(go_on(_by_tier1(todo[TIER1])))
    return kept


def _still_holds(row: Row, ruleset_version: str) -> bool:
    """Whether a row of an earlier run counts: what had no answer is asked again, and so is tier 1 by other rules."""
    return row.version == ruleset_version if row.provider == TIER1 else row.status != ExternalScanStatus.ERROR.value


def _read_rows() -> Iterable[Row]:
    lines = ROWS.read_bytes().splitlines() if ROWS.exists() else []
    return (msgspec.json.decode(line, type=Row) for line in lines)


async def _by_scanner(scanner: ExternalScanner, cases: list[Labelled]) -> AsyncIterator[Row]:
    for number, case in enumerate(cases):
        report = await scanner.scan(case.content)
        findings = mark_known(report.findings, await _tier1_report(case))
        yield Row(
            key=case.key,
            provider=scanner.name,
            version=report.provider_version,
            status=report.status.value,
            worst=_worst(finding.severity for finding in findings),
            findings=len(findings),
            known=sum(bool(finding.same_as) for finding in findings),
            duration_ms=report.duration_ms,
        )
        if number % 50 == 0:
            print(f"{scanner.name}: {number} of {len(cases)}", file=sys.stderr, flush=True)


async def _by_tier1(cases: list[Labelled]) -> AsyncIterator[Row]:
    for case in cases:
        report = await _tier1_report(case)
        status = ExternalScanStatus.FAIL if report.flagged else ExternalScanStatus.PASS
        yield Row(
            key=case.key,
            provider=TIER1,
            version=report.ruleset_version,
            status=status.value,
            worst=_worst(finding.severity for finding in report.findings),
            findings=len(report.findings),
            duration_ms=report.duration_ms,
        )


async def _tier1_report(case: Labelled) -> ScanReport:
    return await asyncio.to_thread(scan_content, case.content)


def _worst(severities: Iterable[Severity]) -> str:
    found = set(severities)
    return next((severity.value for severity in Severity if severity in found), "")


def _tables(cases: list[Labelled], rows: dict[tuple[str, str], Row]) -> Iterator[str]:
    versions = {row.provider: row.version for row in rows.values() if row.version}
    sets = [("our own set", "own ")] + [("development set", "development ")] * any(
        case.part.startswith("development") for case in cases
    )
    for title, prefix in sets:
        chosen = [case for case in cases if case.part.startswith(prefix)]
        yield f"| {title} | {' | '.join(COLUMNS)} |"
        yield "|---" * (len(COLUMNS) + 1) + "|"
        for provider in (TIER1, *SCANNERS):
            shown = provider if provider == TIER1 else f"{provider} {versions.get(provider, '')}"
            yield _line(shown, chosen, rows, (provider,))
        yield _line("the four external ones together", chosen, rows, SCANNERS)
        yield _line("all together", chosen, rows, (TIER1, *SCANNERS))
        yield ""
    found = [row for row in rows.values() if row.provider in SCANNERS]
    told, known = sum(row.findings for row in found), sum(row.known for row in found)
    yield f"Of {told:,} findings of external scanners, {known:,} are of a place and subject that tier 1 has too."


def _line(name: str, cases: list[Labelled], rows: dict[tuple[str, str], Row], providers: tuple[str, ...]) -> str:
    def is_flagged(case: Labelled, *, any_high: bool = False) -> bool:
        found = [rows[case.key, provider] for provider in providers]
        return any((row.worst in GRAVE if any_high and row.provider != TIER1 else row.is_flagged) for row in found)

    bad, good = [case for case in cases if case.is_malicious], [case for case in cases if not case.is_malicious]
    clean = {case.name: not is_flagged(case) for case in good}
    pairs = [case for case in bad if case.host]
    unanswered = sum(
        rows[case.key, provider].status in ("ERROR", "TIMED_OUT") for case in cases for provider in providers
    )
    cells = (
        _share(sum(map(is_flagged, bad)), len(bad)),
        _share(sum(map(is_flagged, good)), len(good)),
        _share(sum(is_flagged(case) and clean[case.host] for case in pairs), len(pairs)),
        _share(sum(is_flagged(case, any_high=True) for case in bad), len(bad)),
        _share(sum(is_flagged(case, any_high=True) for case in good), len(good)),
        str(unanswered),
    )
    return f"| {name} | {' | '.join(cells)} |"


def _share(k: int, n: int) -> str:
    rate = wilson(k, n)
    return "" if rate.rate is None else f"{rate.rate:.1%} ({k} of {n})"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
