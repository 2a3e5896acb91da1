"""Writes which rules are looked for by all of their parts in their order: `python -m tools.parts_in_order`.

The first look of a scan tells which rules are worth trying on a text (`patterns.py`). One part of a rule is looked for quickly,
but where that part is in many texts the rule is tried on many for nothing. All parts in their order are in few, but some take the
engine long. So both ways are timed over the honest skills of the corpus, each with what trying the rule then costs, and
those rules that save time are written to `scanning/tier1/parts_in_order.txt`. What is found does not depend on it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.corpus.cases import read_corpus
from vskill_platform.scanning.tier1.compiled_sets import compile_ahead, find_compiled, shown
from vskill_platform.scanning.tier1.matching import IN_ORDER_FILE
from vskill_platform.scanning.tier1.one_blank import sketch, with_one_blank
from vskill_platform.scanning.tier1.patterns import compile_pattern, loosened
from vskill_platform.scanning.tier1.rarest_parts import rarest_part
from vskill_platform.scanning.tier1.rules import load_ruleset

ROUNDS = 3
OFTEN = 0.02
"""Of all bytes, those of texts that have a part: with less there is nothing to save."""
WORTH = 0.9
"""What of its time a rule may still take."""

Texts = Sequence[tuple[bytes, bytes]]
"""Texts as they are, and as hyperscan is shown them."""


def main() -> int:
    """Time the rules whose rarest part is in many texts, and write down those that are found faster by all of them."""
    texts = _honest_texts()
    chosen = []
    for rule in load_ruleset().pattern_rules:
        whole = loosened(rule.pattern or "")
        part = rarest_part(whole)
        if part is not None and rule.pattern and _is_worth_it(part, whole, rule.pattern, texts):
            chosen.append(rule.id)
            print(rule.id, flush=True)
    IN_ORDER_FILE.write_text("".join(f"{rule_id}\n" for rule_id in sorted(chosen)), encoding="utf-8")
    return 0


def _honest_texts() -> Texts:
    files = [file for case in read_corpus() if not case.is_malicious for file in case.content.files]
    return [(file.content, with_one_blank(plain)) for file in files if (plain := shown(file.content)) is not None]


def _is_worth_it(part: str, whole: str, pattern: str, texts: Texts) -> bool:
    by_part, by_whole = sketch(part), sketch(whole)
    if by_part is None or by_whole is None:
        return False
    nothing, _ = _first_look("no such text", texts)
    spent, seen = _first_look(by_part, texts)
    if sum(len(data) for data in seen) < OFTEN * sum(len(data) for data, _ in texts):
        return False
    spent_in_order, seen_in_order = _first_look(by_whole, texts)
    now = spent - nothing + _trying(pattern, seen)
    return spent_in_order - nothing + _trying(pattern, seen_in_order) < WORTH * now


def _first_look(source: str, texts: Texts) -> tuple[float, list[bytes]]:
    """The time it takes hyperscan to look for this alone, and the texts that have it."""
    with TemporaryDirectory() as folder:
        compile_ahead([source], folder=Path(folder))
        compiled = find_compiled([source], folder=Path(folder))
    if compiled is None or compiled.left_out:
        return float("inf"), []
    times = []
    for _ in range(ROUNDS):
        started = time.thread_time()
        seen = [data for data, as_shown in texts if compiled.which(as_shown)]
        times.append(time.thread_time() - started)
    return min(times), seen


def _trying(pattern: str, texts: Sequence[bytes]) -> float:
    """The time it takes google-re2 to search these texts."""
    compiled = compile_pattern(pattern)
    times = []
    for _ in range(ROUNDS):
        started = time.thread_time()
        for data in texts:
            compiled.is_in(data)
        times.append(time.thread_time() - started)
    return min(times)


if __name__ == "__main__":
    sys.exit(main())
