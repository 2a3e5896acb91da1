"""Writes the scanner's measured accuracy from its own corpus. `make docs` runs it; a test fails where the file is old.

A case that is among the known gaps goes wrong and every other goes right: the corpus' own test scans each and holds it so.
Counting them is therefore measuring, without scanning everything once more.
"""

from __future__ import annotations

import msgspec

from tests.corpus.cases import read_corpus, read_known_gaps
from vskill_platform.cli.evaluate import wilson
from vskill_platform.scanning.accuracy import FIGURES, Accuracy, Measured
from vskill_platform.scanning.tier1.rules import load_ruleset

KINDS = ("malicious", "tricks", "pairs", "benign")


def measure() -> Accuracy:
    """The figures, of the corpus and the rules as they are now."""
    return Accuracy(ruleset_version=load_ruleset().version, measured=tuple(_measure(kind) for kind in KINDS))


def _measure(kind: str) -> Measured:
    cases = [case for case in read_corpus() if case.kind == kind]
    gaps = read_known_gaps()
    flagged = sum(case.is_malicious is (case.name not in gaps) for case in cases)
    rate = wilson(flagged, len(cases))
    return Measured(kind=kind, flagged=flagged, cases=len(cases), low=rate.low or 0.0, high=rate.high or 0.0)


def written() -> bytes:
    """The file as it is to be."""
    return msgspec.json.format(msgspec.json.encode(measure())) + b"\n"


if __name__ == "__main__":
    FIGURES.write_bytes(written())
    print("src/vskill_platform/scanning/accuracy.json")
