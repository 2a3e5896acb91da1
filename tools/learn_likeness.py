"""Learns what passages that turn an agent against its user are made of: `python -m tools.learn_likeness [FOLDER ...]`.

It weighs the passages of `tests/corpus/passages/learnt` and the examples of rules against honest ones, and against the
sentences of our honest skills and of documents that nobody wrote for a scanner, which the folders hold (installed packages,
for one), and writes `meaning/likeness.tsv`. What it takes most wrongly for an attack is given to it a second and a third time.
The passages of `tests/corpus/passages/measured`, by other authors, are only measured (`python -m
tests.corpus.measure_passages`). Needs `requirements/learn.txt`; `make learn` installs it.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression

from tests.corpus.cases import read_corpus, read_passages
from vskill_platform.domain.content import SkillContent
from vskill_platform.scanning.tier1.meaning import likeness
from vskill_platform.scanning.tier1.meaning.concepts import english_in_each
from vskill_platform.scanning.tier1.meaning.prose import prose_views
from vskill_platform.scanning.tier1.meaning.statements import Text
from vskill_platform.scanning.tier1.rules import Rule, load_ruleset
from vskill_platform.scanning.tier1.scan import DEFAULT_LIMITS
from vskill_platform.scanning.tier1.skill import SkillUnderScan, file_under_scan

ROUNDS = 3
A_TEXT, LOOKED_AT, HARDEST = 25, 150, 3
"""Passages that are taken of each honest text, that are looked at for those taken most wrongly, and that are taken of these."""
LEAST_OFTEN = 3
FEWEST_WORDS = 4
STRENGTH = 5.0
OF_ATTACKS, OF_HONEST, OF_HARD = 8.0, 5.0, 5.0
"""How often a passage counts: there are few of the first two kinds, and many of all others."""
MOST_OF_DOCUMENT = 40_000
_DOCUMENT = re.compile(r"(?i).*\.(?:md|rst|txt)$|licen[cs]e|copying|notice")
SMALLEST = 0.25
"""Weights below this are left out."""


class Window(NamedTuple):
    """A passage as it is weighed: the words of its sentences, and its concepts."""

    sentences: list[list[str]]
    concepts: frozenset[str]


def main(arguments: list[str]) -> int:
    """Learn from the passages and the honest texts, and write the weights."""
    chance = random.Random(7)
    attacks = windows_of([*read_passages("learnt", "malicious"), *examples(lambda rule: rule.matches)])
    honest = windows_of([*read_passages("learnt", "benign"), *examples(lambda rule: rule.ignores)])
    skills = [case.content for case in read_corpus() if not case.is_malicious]
    texts = [text for content in skills for text in texts_of(content)]
    texts += [Text(path.read_bytes()[:MOST_OF_DOCUMENT], in_english=frozenset()) for path in _documents(arguments)]
    print(f"{len(attacks)} passages of attacks, {len(honest)} honest ones, {len(texts)} honest texts", flush=True)
    learner = Learner(attacks, honest, [one for text in texts for one in windows_in(text, chance, most=A_TEXT)])
    for number in range(ROUNDS):
        learner.learn()
        if number + 1 < ROUNDS:
            found = sum(learner.take_hardest(windows_in(text, chance, most=LOOKED_AT)) for text in texts)
            print(f"round {number + 1}: {found} honest passages were taken most wrongly", flush=True)
    written = learner.write(likeness.WEIGHTS_FILE)
    print(f"{written} weights in {likeness.WEIGHTS_FILE.name}")
    return 0


class Learner:
    """Passages with what they are, and the model that is made of them."""

    def __init__(self, attacks: Sequence[Window], honest: Sequence[Window], others: Sequence[Window]) -> None:
        self.windows = [*attacks, *honest, *others]
        self.counts = [OF_ATTACKS] * len(attacks) + [OF_HONEST] * len(honest) + [1.0] * len(others)
        self.are_attacks = len(attacks)
        words = Counter(word for window in self.windows for word in set(chain.from_iterable(window.sentences)))
        self.words = frozenset(word for word, times in words.items() if times >= LEAST_OFTEN)
        parts = Counter(part for window in self.windows for part in self._parts(window)[0])
        self.known = frozenset(part for part, times in parts.items() if times >= LEAST_OFTEN)
        self.names = DictVectorizer().fit([dict.fromkeys(self.known, 1.0)])
        self.model = LogisticRegression(C=STRENGTH, max_iter=400, solver="liblinear", random_state=7)

    def learn(self) -> None:
        wanted = np.arange(len(self.windows)) < self.are_attacks
        self.model.fit(self._matrix(self.windows), wanted, sample_weight=np.array(self.counts))

    def take_hardest(self, windows: Sequence[Window]) -> int:
        """Learn those of an honest text once more that are taken for attacks most."""
        if not windows:
            return 0
        scores = self.model.decision_function(self._matrix(windows))
        hardest = [windows[at] for at in np.argsort(-scores)[:HARDEST] if scores[at] > -1.0]
        self.windows += hardest
        self.counts += [OF_HARD] * len(hardest)
        return len(hardest)

    def write(self, path: Path) -> int:
        """Write the weights in thousandths, those that matter, in the order of their names."""
        named = zip(self.names.get_feature_names_out(), self.model.coef_[0], strict=True)
        kept = sorted((name, round(weight * 1000)) for name, weight in named if abs(weight) >= SMALLEST)
        rows = [("", round(float(self.model.intercept_[0]) * 1000)), *kept]
        path.write_text("".join(f"{name}\t{weight}\n" for name, weight in rows), encoding="utf-8")
        return len(rows)

    def _matrix(self, windows: Sequence[Window]) -> scipy.sparse.csr_matrix:
        weighed = [self._parts(window) for window in windows]
        counted = [{part: times for part, times in parts.items() if part in self.known} for parts, _ in weighed]
        return scipy.sparse.diags([1 / length for _, length in weighed]) @ self.names.transform(counted)

    def _parts(self, window: Window) -> tuple[Counter[str], float]:
        """How often a passage has each part, and the length that this is set against."""
        sentences = [[word for word in sentence if word in self.words] for sentence in window.sentences]
        parts = Counter(part for words in sentences for part in set(likeness.parts_of(words)))
        parts.update(likeness.parts_of_concepts(window.concepts))
        return parts, likeness.length_of(sum(map(len, sentences)))


def windows_of(passages: Iterable[str]) -> list[Window]:
    """Each passage as a whole, as far as it is weighed as one."""
    texts = [Text(passage.encode(), in_english=frozenset()) for passage in passages]
    found = [windows_in(text, random.Random(7)) for text in texts]
    return [max(windows, key=lambda window: sum(map(len, window.sentences))) for windows in found if windows]


def examples(of_rule: Callable[[Rule], Iterable[str]]) -> list[str]:
    """What rules that go by words alone show of what they look for, or must not find: in English, and no frontmatter."""
    rules = [rule for rule in load_ruleset().rules.values() if rule.when_ordinary is not None]
    return [text for rule in rules for text in of_rule(rule) if text.isascii() and not text.startswith("---")]


def windows_in(text: Text, chance: random.Random, *, most: int = 1_000) -> list[Window]:
    """Passages of a text, so many at most."""
    plain, sentences = likeness.plain_words(text), likeness.sentences_in(text)
    words = [plain[start:end].decode().split() for start, end in sentences]
    all_rows = likeness.rows_of(list(map(len, words)), starts=range(len(sentences)))
    rows = [row for row in all_rows if row[2] >= FEWEST_WORDS]
    rows = chance.sample(rows, min(most, len(rows)))
    concepts = english_in_each([text.data[sentences[first][0] : sentences[last][1]] for first, last, _ in rows])
    return [Window(words[first : last + 1], found) for (first, last, _), found in zip(rows, concepts, strict=True)]


def texts_of(content: SkillContent) -> Iterator[Text]:
    """The prose of a skill."""
    files = tuple(map(file_under_scan, content.files))
    skill = SkillUnderScan(content=content, files=files, ruleset=load_ruleset(), limits=DEFAULT_LIMITS, opening=())
    for view in prose_views(skill):
        yield Text(view.data, in_english=frozenset())


def _documents(folders: Iterable[str]) -> list[Path]:
    """Texts for readers in these folders, and licences."""
    found = (path for folder in folders for path in Path(folder).rglob("*") if _DOCUMENT.match(path.name))
    return sorted(path for path in found if path.is_file())


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
