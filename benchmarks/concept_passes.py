"""What looking for concepts costs pass by pass. A pass whose patterns have more states than its memory holds is many times
slower than the others, for ever: then one of its concepts belongs into another (`meaning/concepts.py`). This is about google-re2:
hyperscan, where there is one, looks for all concepts in one pass."""

from __future__ import annotations

from functools import partial
from statistics import median

from benchmarks.report import Row, at_most, told
from benchmarks.scan_speed import timed
from tests.corpus.cases import read_corpus
from vskill_platform.scanning.tier1.meaning.concepts import english_passes, together

SLOWEST = 3.0
"""Times the middle pass: concepts of many words are a little slower than others."""
ROUNDS = 3


async def run() -> list[Row]:
    """How much slower the slowest pass is than the one in the middle, and how much slower all are before they have learnt."""
    texts = [file.content for case in read_corpus() for file in case.content.files]
    first, learnt = dict[str, float](), dict[str, float]()
    for names in english_passes():
        passing = together([names])
        times = [timed(partial(passing.which_of_each, texts)) for _ in range(ROUNDS)]
        first[", ".join(names)], learnt[", ".join(names)] = times[0], min(times[1:])
    slowest = max(learnt, key=lambda names: learnt[names])
    texts_told = f"{len(learnt)} passes over {sum(map(len, texts)) / 1e6:.0f} MB of the corpus"
    return [
        at_most(
            "concept_pass_slowest",
            learnt[slowest] / median(learnt.values()),
            target=SLOWEST,
            detail=f"times the middle one of {texts_told}: {slowest}",
        ),
        told(
            "concept_passes_first",
            sum(first.values()) / sum(learnt.values()),
            unit="x",
            detail=f"the first time, which includes learning, beside later times; {texts_told}",
        ),
    ]
