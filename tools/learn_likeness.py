"""Learns what passages that turn an agent against its user are made of: `python -m tools.learn_likeness [FOLDER ...]`.

It weighs the passages of `tests/corpus/passages/learnt` and the examples of rules against honest ones, and against the
sentences of our honest skills and of documents that nobody wrote for a scanner, which the folders hold (installed packages,
for one; `tools/fetch_documents.py` fetches more; what lies beside a `SKILL.md` counts as a skill), and writes
`meaning/likeness.tsv`, in which what was there before keeps half its weight. What it takes most wrongly for an attack is
given to it again.
The passages of `tests/corpus/passages/measured`, by other authors, are only measured (`python -m
tests.corpus.measure_passages`). Needs `requirements/learn.txt`; `make learn` installs it.
"""

from __future__ import annotations

import random
import re
import sys
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse
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

MEMBERS, PART = 4, 0.65
"""How often it is learnt, and from which share of passages and texts each time; the mean of all is steadier than any."""
KEPT = 0.5
"""The share that the weights have which were there before."""
ROUNDS = 3
OF_SKILL, OF_DOCUMENT = 200, 40
"""Passages of an honest text that are looked at."""
AT_FIRST = {True: 20, False: 10}
HARDEST = {True: 10, False: 3}
"""Passages of a skill's text, or of a document, that are learnt at first, and that are learnt again as most wrongly taken."""
LEAST_OFTEN = 4
FEWEST_WORDS = 4
STRENGTH = 3.0
OF_ATTACKS, OF_HONEST, OF_HARD = 8.0, 5.0, 5.0
"""How often a passage counts: there are few of the first two kinds, and many of all others."""
SKILLS_COUNT = 2.0
MOST_OF_DOCUMENT = 40_000
_DOCUMENT = re.compile(r"(?i).*\.(?:md|rst|txt)$|licen[cs]e|copying|notice")
SMALLEST = 0.35
"""Weights below this are left out: they are most of all, and without them as much is found."""


class Window(NamedTuple):
    """A passage as it is weighed: the words of its sentences, and its concepts."""

    sentences: list[list[str]]
    concepts: frozenset[str]


def main(arguments: list[str]) -> int:
    """Learn from the passages and the honest texts, and write the weights."""
    chance = random.Random(7)
    attacks = windows_of([*read_passages("learnt", "malicious"), *examples(lambda rule: rule.matches)])
    honest = windows_of([*read_passages("learnt", "benign"), *examples(lambda rule: rule.ignores)])
    skills = [text for case in read_corpus() if not case.is_malicious for text in texts_of(case.content)]
    documents = [
        (Text(path.read_bytes()[:MOST_OF_DOCUMENT], in_english=frozenset()), is_skill)
        for path, is_skill in _documents(arguments)
    ]
    print(
        f"{len(attacks)} passages of attacks, {len(honest)} honest ones, {len(skills) + len(documents)} honest texts",
        flush=True,
    )
    texts = [(windows_in(text, chance, most=OF_SKILL), True) for text in skills]
    texts += [
        (windows_in(text, chance, most=OF_SKILL if is_skill else OF_DOCUMENT), is_skill) for text, is_skill in documents
    ]
    learner = Learner(attacks, honest, texts)
    members = []
    for number in range(MEMBERS):
        members.append(learner.learn(np.random.default_rng(number)))
        print(f"learnt {number + 1} of {MEMBERS} times", flush=True)
    written = write(learner.mean(members), likeness.WEIGHTS_FILE)
    print(f"{written} weights in {likeness.WEIGHTS_FILE.name}")
    return 0


class Learner:
    """Passages with what they are: those of attacks, honest ones, and those of honest texts, row by row of one matrix."""

    def __init__(
        self, attacks: Sequence[Window], honest: Sequence[Window], texts: Sequence[tuple[list[Window], bool]]
    ) -> None:
        windows = _without_rare_words([*attacks, *honest, *(window for text, _ in texts for window in text)])
        parts = Counter(part for window in windows for part in _parts(window)[0])
        self.names = sorted(part for part, times in parts.items() if times >= LEAST_OFTEN)
        self.columns = {name: column for column, name in enumerate(self.names)}
        self.matrix = self._matrix(windows)
        self.are_attacks, self.are_passages = len(attacks), len(attacks) + len(honest)
        self.texts, at = list[tuple[np.ndarray, bool]](), self.are_passages
        for text, is_skill in texts:
            self.texts.append((np.arange(at, at + len(text)), is_skill))
            at += len(text)

    def learn(self, chance: np.random.Generator) -> LogisticRegression:
        """A model of some of the passages and texts; what it takes most wrongly for an attack is given to it again."""
        passages = np.flatnonzero(chance.random(self.are_passages) < PART)
        texts = [text for text in self.texts if chance.random() < PART]
        rows = [passages]
        counts = [np.where(passages < self.are_attacks, OF_ATTACKS, OF_HONEST)]
        for text, is_skill in texts:
            some = chance.permutation(text)[: AT_FIRST[is_skill]]
            rows.append(some)
            counts.append(np.full(len(some), SKILLS_COUNT if is_skill else 1.0))
        model = LogisticRegression(C=STRENGTH, max_iter=200, solver="liblinear", random_state=7)
        for number in range(ROUNDS):
            taken = np.concatenate(rows)
            model.fit(self.matrix[taken], taken < self.are_attacks, sample_weight=np.concatenate(counts))
            if number + 1 < ROUNDS:
                scores = model.decision_function(self.matrix)
                hard = [_hardest(text, scores, HARDEST[is_skill]) for text, is_skill in texts]
                rows += hard
                counts += [np.full(len(some), OF_HARD) for some in hard]
        return model

    def mean(self, models: Sequence[LogisticRegression]) -> dict[str, float]:
        """What the models say on average, together with the weights that were there before."""
        before = likeness.weights_by_name()
        kept = KEPT if before else 0.0
        learnt = np.mean([model.coef_[0] for model in models], axis=0)
        mean = {name: kept * weight for name, weight in before.items()}
        for name, weight in zip(self.names, learnt, strict=True):
            mean[name] = mean.get(name, 0.0) + (1 - kept) * float(weight)
        mean[""] = mean.get("", 0.0) + (1 - kept) * float(np.mean([model.intercept_[0] for model in models]))
        return mean

    def _matrix(self, windows: Sequence[Window]) -> scipy.sparse.csr_matrix:
        values, columns, starts = array("f"), array("l"), array("l", [0])
        for window in windows:
            parts, length = _parts(window)
            known = [(self.columns[part], times) for part, times in parts.items() if part in self.columns]
            columns.extend(column for column, _ in known)
            values.extend(times / length for _, times in known)
            starts.append(len(columns))
        return scipy.sparse.csr_matrix((values, columns, starts), shape=(len(windows), len(self.columns)))


def _without_rare_words(windows: Sequence[Window]) -> list[Window]:
    """The passages as the scanner reads them: it passes over words that nothing is known of before it pairs the others."""
    times = Counter(word for window in windows for words in window.sentences for word in words)
    return [
        window._replace(
            sentences=[[word for word in words if times[word] >= LEAST_OFTEN] for words in window.sentences]
        )
        for window in windows
    ]


def _parts(window: Window) -> tuple[Counter[str], float]:
    """How often a passage has each part, and the length that this is set against."""
    parts = Counter(part for words in window.sentences for part in set(likeness.parts_of(words)))
    parts.update(likeness.parts_of_concepts(window.concepts))
    return parts, likeness.length_of(sum(map(len, window.sentences)))


def _hardest(text: np.ndarray, scores: np.ndarray, most: int) -> np.ndarray:
    """The passages of an honest text that are taken for attacks most."""
    hardest = text[np.argsort(-scores[text])[:most]]
    return hardest[scores[hardest] > -1.0]


def write(weights: Mapping[str, float], path: Path) -> int:
    """Write the weights in thousandths, those that matter, in the order of their names."""
    kept = sorted((name, weight) for name, weight in weights.items() if not name or abs(weight) >= SMALLEST)
    path.write_text("".join(f"{name}\t{round(weight * 1000)}\n" for name, weight in kept), encoding="utf-8")
    return len(kept)


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


def _documents(folders: Iterable[str]) -> list[tuple[Path, bool]]:
    """Texts for readers in these folders, and licences, each with whether it belongs to a skill."""
    paths = [path for folder in folders for path in sorted(Path(folder).rglob("*")) if _DOCUMENT.match(path.name)]
    skills = {path.parent for path in paths if path.name.lower() == "skill.md"}
    return [(path, not skills.isdisjoint(path.parents)) for path in paths if path.is_file()]


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
