"""How the scanner does on its own corpus: `python -m tests.corpus.measure [FOLDER ...] [--all]`.

Prints the cases that went wrong, or all of them, with the rules that hit, and the figures by folder and by half.
"""

from __future__ import annotations

import sys
from collections import Counter

from tests.corpus.cases import Case, read_corpus
from vskill_platform.scanning.tier1.scan import scan_content


def main(arguments: list[str]) -> int:
    """Measure the cases whose names begin with one of the arguments."""
    wanted = tuple(argument for argument in arguments if not argument.startswith("-")) or ("",)
    cases = [case for case in read_corpus() if case.name.startswith(wanted)]
    right, total = Counter[str](), Counter[str]()
    for case in cases:
        groups = {
            "/".join(case.name.split("/")[:2]) if case.kind != "pairs" else case.kind,
            f"{case.kind}, {case.half}",
        }
        total.update(groups)
        if show(case, show_all="--all" in arguments):
            right.update(groups)
    for group, count in sorted(total.items()):
        print(f"{right[group]:4} of {count:4} right {right[group] / count:7.1%}  {group}")
    return 0


def show(case: Case, *, show_all: bool) -> bool:
    """Print a case that went wrong; whether it went right."""
    report = scan_content(case.content)
    is_right = report.flagged is case.is_malicious
    if show_all or not is_right:
        rules = " ".join(f"{found.rule_id}:{found.file}:{found.line}" for found in report.findings)
        print("right" if is_right else "WRONG", case.name, report.verdict, report.score, rules, *report.limits_hit)
    return is_right


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
