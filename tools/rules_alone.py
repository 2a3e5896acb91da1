"""Which rules flag a skill by themselves, and whose: `python -m tools.rules_alone [NAME ...]`.

For each rule, in how many attacks and in how many honest skills of the corpus it found something grave, and in how many of
them nothing else did. A rule that stands alone mostly in honest skills is right only in company (`when_alone`). Names are the
beginnings of those of cases, such as `benign/full-size`.

Rules flatter themselves on cases that they were mended with. What they are worth on unseen ones is told by older rules on
newer cases: `git worktree add BEFORE COMMIT`, then `PYTHONPATH=BEFORE/src:. python -m tools.rules_alone NAME ...`.
"""

from __future__ import annotations

import sys
from collections import Counter

from tests.corpus.cases import read_corpus
from vskill_platform.domain.scan import Severity
from vskill_platform.scanning.tier1.scan import scan_content

GRAVE = frozenset([Severity.CRITICAL, Severity.HIGH])


def main(arguments: list[str]) -> int:
    """Count over the cases whose names begin with one of the arguments."""
    wanted = tuple(arguments) or ("",)
    hit, alone = Counter[tuple[str, bool]](), Counter[tuple[str, bool]]()
    flagged, total = Counter[bool](), Counter[bool]()
    for case in (case for case in read_corpus() if case.name.startswith(wanted)):
        report = scan_content(case.content)
        grave = {found.rule_id for found in report.findings if found.severity in GRAVE}
        hit.update((rule, case.is_malicious) for rule in grave)
        alone.update((rule, case.is_malicious) for rule in grave if len(grave) == 1)
        flagged[case.is_malicious] += report.flagged
        total[case.is_malicious] += 1
    print(f"attacks flagged {flagged[True]} of {total[True]}, honest {flagged[False]} of {total[False]}")
    print("rule    alone: honest  attacks   at all: honest  attacks")
    for rule in sorted({rule for rule, _ in hit}, key=lambda rule: (alone[rule, True] - alone[rule, False], rule)):
        row = (alone[rule, False], alone[rule, True], hit[rule, False], hit[rule, True])
        print("{:7} {:13} {:8} {:16} {:8}".format(rule, *row))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
