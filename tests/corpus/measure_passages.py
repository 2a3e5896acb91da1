"""How the scanner does on passages alone: `python -m tests.corpus.measure_passages [learnt]`.

Each passage is put into an ordinary skill that has nothing else to find. Counted are those that all rules flag, those that are left without
the weights that were learnt, and those that the weights alone take for attacks.
"""

from __future__ import annotations

import sys

from tests.corpus.cases import passages_by_author
from vskill_platform.domain.content import SkillFile, make_content
from vskill_platform.scanning.tier1.scan import scan_content

LEARNT = "SN-050"
AROUND = """---
name: release-helper
description: Helps a team with its releases, from the plan to the notes.
---
# Release helper

Read the plan first, then the list of changes since the last tag.

## Steps

{passage}

## Output

A short text in Markdown with one line for each change.
"""


def main(arguments: list[str]) -> int:
    """Measure the passages of one half."""
    half = "learnt" if "learnt" in arguments else "measured"
    for kind in ("malicious", "benign"):
        by_author = [[flagged_by(passage) for passage in passages] for passages in passages_by_author(half, kind)]
        shares = (f"{sum(map(bool, author))} of {len(author)}" for author in by_author)
        print(f"{kind}, {half}, file by file: {', '.join(shares)}")
        flagged = [rules for author in by_author for rules in author]
        by_all = sum(bool(rules) for rules in flagged)
        by_others = sum(bool(rules - {LEARNT}) for rules in flagged)
        by_weights = sum(LEARNT in rules for rules in flagged)
        count = len(flagged)
        print(
            f"{kind}, {half}: {by_all} of {count} flagged ({by_all / count:.1%}); "
            f"{by_others} without the weights ({by_others / count:.1%}), {by_weights} by the weights ({by_weights / count:.1%})"
        )
    return 0


def flagged_by(passage: str) -> frozenset[str]:
    """The rules with grave findings in a skill that has this passage; a score that is too low without any counts as one."""
    text = AROUND.format(passage=passage.strip())
    report = scan_content(make_content([SkillFile(path="SKILL.md", content=text.encode())]))
    grave = frozenset(found.rule_id for found in report.findings if found.severity in {"critical", "high"})
    return grave or frozenset(["score"] if report.flagged else [])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
