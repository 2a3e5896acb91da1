"""How the scanner does on single steps: `python -m tests.corpus.measure_steps [NAME ...] [--all]`.

Prints the steps that went wrong, or all of them, and how many of each file were flagged.
"""

from __future__ import annotations

import sys
from collections import Counter

from tests.corpus.cases import read_steps
from vskill_platform.scanning.tier1.scan import scan_content


def main(arguments: list[str]) -> int:
    """Measure the steps whose names begin with one of the arguments."""
    wanted = tuple(argument for argument in arguments if not argument.startswith("-")) or ("",)
    flagged, total = Counter[str](), Counter[str]()
    for step in (step for step in read_steps() if step.name.startswith(wanted)):
        report = scan_content(step.content)
        group = step.name.rpartition("/")[0]
        total[group] += 1
        flagged[group] += report.flagged
        if "--all" in arguments or report.flagged is not step.is_malicious:
            rules = " ".join(f"{found.rule_id}:{found.line}" for found in report.findings)
            print("right" if report.flagged is step.is_malicious else "WRONG", step.name, step.path, report.verdict, rules)
    for group, count in sorted(total.items()):
        print(f"{flagged[group]:4} of {count:4} flagged {flagged[group] / count:7.1%}  {group}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
