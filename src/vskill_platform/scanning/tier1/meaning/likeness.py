"""How much a passage reads like those that turn an agent against its user.

Concepts and rules know the wordings that somebody thought of; people find others. So thousands of passages of each sort, by
many authors, were weighed against each other (`tools/learn_likeness.py`): words, words that follow each other or stand one
apart, concepts, and concepts that come together. The weights are `likeness.tsv`. A passage is some sentences in a row; what
its parts weigh is summed up and set against its length, so that a long text is no worse than a short one. What weighed most
is told with each finding.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cache
from itertools import combinations, count, islice, pairwise
from math import sqrt
from pathlib import Path
from typing import NamedTuple

from vskill_platform.scanning.tier1.excerpts import make_excerpt
from vskill_platform.scanning.tier1.file_kinds import FileKind
from vskill_platform.scanning.tier1.meaning.concepts import english_in_each
from vskill_platform.scanning.tier1.meaning.stances import is_about_security
from vskill_platform.scanning.tier1.meaning.statements import Text
from vskill_platform.scanning.tier1.patterns import Span
from vskill_platform.scanning.tier1.skill import Sighting, SkillUnderScan
from vskill_platform.scanning.tier1.views.view import View

READS_LIKE_ATTACK = "reads_like_an_attack"
MAY_READ_LIKE_ATTACK = "may_read_like_an_attack"
CHECKS = frozenset([READS_LIKE_ATTACK, MAY_READ_LIKE_ATTACK])
WEIGHTS_FILE = Path(__file__).with_name("likeness.tsv")
ENOUGH = 3.2
ALMOST = 2.4
SECURITY_MARGIN = 1.1
"""What a passage must weigh more in a skill that says of itself that it is about attacks."""
HIDDEN_MARGIN = 0.8
"""What need not be there in text that was hidden or encoded."""
CONCEPTS_MAY_ADD = 3.8
"""A passage is looked through for concepts where it would weigh enough with so much more."""
AT_ONCE = 200
"""Passages that are looked through for concepts together."""
SENTENCES = 4
LONGEST, SHORTEST = 90, 10
"""Words that a passage may have, and as how many at least they count."""
STRONGEST, TELLING = 5, 5
"""Parts of a passage that a finding tells, and letters that one of their words must have."""
WORTH = 1.3
"""What the words of a sentence must weigh, against its length, for their order to be looked at. Nearly all attacks do, and a
fifth of what is honest."""
ROUNDING = 1e-6
"""More than sums of weights can differ by that are added up in another order."""
_LETTERS = b"abcdefghijklmnopqrstuvwxyz"
_PLAIN = bytes(byte if byte in _LETTERS else 48 if 48 <= byte < 58 else 32 for byte in bytes(range(256)).lower())
"""Small letters and one digit for all; everything else is a blank."""
SHORTEST_SENTENCE, LONGEST_SENTENCE = 16, 240
"""Bytes of a sentence that are weighed together: one without an end is cut, lest what it says is lost in its length."""
_FENCE = b"```"
_TITLE = b"#"
_SHIFT = 20
"""Bits for the number of a word."""
_APART = 1 << 2 * _SHIFT


class Weights(NamedTuple):
    """What was learnt. Words go by numbers, and words in a row by the numbers of both; unknown words are passed over."""

    bias: float
    numbers: dict[bytes, int]
    words: list[float]
    of_word: dict[bytes, float]
    """The same without numbers, of the words that weigh anything."""
    pairs: dict[int, float]
    concepts: dict[str, float]
    together: dict[tuple[str, str], float]


class Passage(NamedTuple):
    """Some sentences in a row, with how many words they have and what these weigh."""

    span: Span
    words: int
    weight: float


def read_like_attacks(text: Text, view: View, skill: SkillUnderScan) -> Iterator[Sighting]:
    """The passages of a text that read like attacks, each once."""
    margin = SECURITY_MARGIN if is_about_security(skill) else 0.0
    if view.kinds & {FileKind.HIDDEN, FileKind.DECODED}:
        margin = -HIDDEN_MARGIN
    found = _apart(likely_passages(text, least=ALMOST + margin))
    for score, passage in islice(found, skill.limits.max_matches):
        check = READS_LIKE_ATTACK if score >= ENOUGH + margin else MAY_READ_LIKE_ATTACK
        yield _sighting(check, view, text, passage)


def likely_passages(text: Text, *, least: float, worth: float = WORTH) -> Iterator[tuple[float, Passage]]:
    """The passages that weigh so much at least, each with its score."""
    weights = load_weights()
    passages = passages_in(text, worth=worth)
    likely = (one for one in passages if score_of(one, 0.0, weights) >= least - CONCEPTS_MAY_ADD)
    while some := list(islice(likely, AT_ONCE)):
        concepts = english_in_each([text.data[one.span.start : one.span.end] for one in some])
        for one, found in zip(some, concepts, strict=True):
            score = score_of(one, _weight_of(found, weights), weights)
            if score >= least:
                yield score, one


def score_of(passage: Passage, concepts: float, weights: Weights) -> float:
    """The score of a passage, given what its concepts weigh."""
    return weights.bias + (passage.weight + concepts) / length_of(passage.words)


def length_of(words: int) -> float:
    """What the weight of so many words is set against."""
    return sqrt(max(words, SHORTEST))


def passages_in(text: Text, *, worth: float = WORTH) -> Iterator[Passage]:
    """The passages of a text that begin and end with a sentence whose words weigh something: without the rest they weigh more.

    Few sentences do. Of all others only those are weighed that stand between two which may be in one passage.
    """
    weights, plain = load_weights(), plain_words(text)
    sentences = sentences_in(text)
    counts, weighed, starts = [0] * len(sentences), [0.0] * len(sentences), list[int]()
    for at, known in _may_be_heavy(plain, sentences, worth):
        counts[at], weighed[at] = len(known), _weight_of_words(known, weights)
        if weighed[at] > worth and weighed[at] > worth * length_of(counts[at]):
            weighed[at] += _weight_of_pairs(known, weights)
            starts.append(at)
    ends = frozenset(starts)
    near = [at for one, other in pairwise(starts) if other - one < SENTENCES for at in range(one + 1, other + 1)]
    for at in set(near) - ends:
        known = _known_of(plain[slice(*sentences[at])].split(), weights)
        counts[at], weighed[at] = len(known), _weight_of_words(known, weights)
    breaks = frozenset([at for at in near if _begins_anew(text.data, sentences[at - 1], sentences[at])])
    for first, last, words in rows_of(counts, starts=starts, breaks=breaks):
        if last in ends:
            yield Passage(Span(sentences[first][0], sentences[last][1]), words, sum(weighed[first : last + 1]))


def _may_be_heavy(plain: bytes, sentences: Sequence[tuple[int, int]], worth: float) -> Iterator[tuple[int, list[int]]]:
    """The sentences whose words weigh as much as those of a short one must, each with its known words.

    The words are added up here in any order, and in theirs only for the few sentences that are left.
    """
    weights = load_weights()
    weight_of = weights.of_word.get
    least = max(worth, worth * length_of(0)) - ROUNDING
    for at, (start, end) in enumerate(sentences):
        words = plain[start:end].split()
        if sum(filter(None, map(weight_of, set(words)))) > least:
            yield at, _known_of(words, weights)


def _known_of(words: Iterable[bytes], weights: Weights) -> list[int]:
    """The numbers of those words that are known, in their order."""
    return list(filter(None, map(weights.numbers.get, words)))


def _begins_anew(data: bytes, before: tuple[int, int], sentence: tuple[int, int]) -> bool:
    """Whether a sentence belongs to nothing before it: a title, what stands under one, or what begins or ends code."""
    start, end = sentence
    return (
        data.startswith(_TITLE, start)
        or (data.startswith(_TITLE, before[0]) and data.endswith(b"\n", 0, before[1]))
        or data.find(_TITLE, before[1], start) >= 0  # a title that is too short to be weighed
        or data.find(_FENCE, start, end) >= 0
        or data.find(_FENCE, before[0], start) >= 0
    )


def rows_of(
    counts: Sequence[int], *, starts: Iterable[int], breaks: Container[int] = ()
) -> Iterator[tuple[int, int, int]]:
    """Sentences in a row, up to a break or until they or their words are too many: the first, the last, and how many words."""
    for first in starts:
        words = 0
        for last in range(first, min(first + SENTENCES, len(counts))):
            words += counts[last]
            if last > first and (words > LONGEST or last in breaks):
                break
            yield first, last, words


def plain_words(text: Text) -> bytes:
    """The words of a text and nothing else, where they were; one sign stands for all digits."""
    return text.words.translate(_PLAIN)


def sentences_in(text: Text) -> list[tuple[int, int]]:
    """Where the sentences of a text begin and end; those that are too long in pieces."""
    found = [(start, end) for start, end in text.sentences() if end - start >= SHORTEST_SENTENCE]
    return [
        piece
        for span in found
        for piece in (_pieces(text.data, span) if span[1] - span[0] > LONGEST_SENTENCE else (span,))
    ]


def _pieces(data: bytes, sentence: tuple[int, int]) -> list[tuple[int, int]]:
    """The pieces of a sentence that is too long, which end at a comma or a blank."""
    start, end = sentence
    pieces: list[tuple[int, int]] = []
    while end - start > LONGEST_SENTENCE:
        least, most = start + LONGEST_SENTENCE // 3, start + LONGEST_SENTENCE
        cut = data.find(b", ", least, most) + 1 or data.rfind(b" ", least, most) + 1 or most
        pieces.append((start, cut))
        start = cut
    return [*pieces, (start, end)]


def parts_of(words: Sequence[str]) -> Iterator[str]:
    """All that is weighed in the words of a sentence, by the names that `likeness.tsv` has."""
    yield from words
    yield from (f"{one} {other}" for one, other in pairwise(words))
    yield from (f"{one} _ {other}" for one, other in zip(words, words[2:], strict=False))


def parts_of_concepts(concepts: Iterable[str]) -> Iterator[str]:
    """The same of the concepts of a passage."""
    found = sorted(concepts)
    yield from (f"={name}" for name in found)
    yield from (f"={one} {other}" for one, other in combinations(found, 2))


def _weight_of_words(known: Iterable[int], weights: Weights) -> float:
    """What words weigh, each once."""
    return sum(map(weights.words.__getitem__, set(known)))


def _weight_of_pairs(known: Sequence[int], weights: Weights) -> float:
    """What words weigh that follow each other or stand one apart."""
    pairs = {one << _SHIFT | other for one, other in pairwise(known)}
    pairs.update([_APART | one << _SHIFT | other for one, other in zip(known, known[2:], strict=False)])
    return sum([weights.pairs[pair] for pair in pairs & weights.pairs.keys()])


def _weight_of(concepts: Iterable[str], weights: Weights) -> float:
    found = sorted(concepts)
    alone = sum(weights.concepts.get(name, 0.0) for name in found)
    return alone + sum(weights.together.get(pair, 0.0) for pair in combinations(found, 2))


def _apart(scored: Iterable[tuple[float, Passage]]) -> Iterator[tuple[float, Passage]]:
    """Of passages that share sentences the one that weighs most; they come in the order of where they begin."""
    best: tuple[float, Passage] | None = None
    for score, passage in scored:
        if best is not None and passage.span.start >= best[1].span.end:
            yield best
            best = None
        if best is None or score > best[0]:
            best = (score, passage)
    if best is not None:
        yield best


def _sighting(check: str, view: View, text: Text, passage: Passage) -> Sighting:
    """Where the passage begins, what it says, and the words that weighed most in it."""
    start, end = passage.span
    said = text.data[start:end]
    place = view.locate(start + len(said) - len(said.lstrip()))
    excerpt = make_excerpt(" ".join(said.decode(errors="ignore").split()))
    told = ", ".join(_strongest(text.words[start:end].translate(_PLAIN))).replace(" _ ", " … ")
    return Sighting(check, view.file, place.line, place.column, excerpt, view.layer, f"Weighed most: {told}")


def _strongest(plain: bytes) -> list[str]:
    """What weighs most and says something to a reader: words of some length, and those in a row before those alone."""
    by_name, numbers = weights_by_name(), load_weights().numbers
    words = [word.decode() for word in plain.split() if word in numbers]
    names = {name for name in parts_of(words) if by_name.get(name, 0.0) > 0.0}
    telling = [name for name in names if max(map(len, name.split())) >= TELLING]
    return sorted(telling, key=lambda name: (" " not in name, -by_name[name], name))[:STRONGEST]


@cache
def weights_by_name() -> dict[str, float]:
    """The weight of each part by its name; the empty name is that of what every passage weighs."""
    return {name.decode(): weight for name, weight in _rows()}


@cache
def load_weights() -> Weights:
    """The weights, by the numbers of words, for passages to be weighed fast. A number is given to a word when it first comes."""
    numbers: defaultdict[bytes, int] = defaultdict(count(1).__next__)
    words, of_word, pairs = {}, {}, {}
    of_concepts: dict[bytes, float] = {}
    for name, weight in _rows():
        if not name or name.startswith(b"="):
            of_concepts[name[1:]] = weight
            continue
        match name.split(b" "):
            case [word]:
                words[numbers[word]] = weight
                if weight:
                    of_word[word] = weight
            case [one, other]:
                pairs[numbers[one] << _SHIFT | numbers[other]] = weight
            case [one, _, other]:
                pairs[_APART | numbers[one] << _SHIFT | numbers[other]] = weight
    bias = of_concepts.pop(b"", 0.0)
    named = {tuple(name.decode().split(" ")): weight for name, weight in of_concepts.items()}
    return Weights(
        bias,
        dict(numbers),
        [words.get(number, 0.0) for number in range(len(numbers) + 1)],
        of_word,
        pairs,
        concepts={name[0]: weight for name, weight in named.items() if len(name) == 1},
        together={(name[0], name[1]): weight for name, weight in named.items() if len(name) == 2},
    )


def _rows() -> Iterator[tuple[bytes, float]]:
    """What was learnt, line by line: what is weighed, and what it weighs."""
    for line in WEIGHTS_FILE.read_bytes().splitlines():
        name, _, weight = line.rpartition(b"\t")
        yield name, int(weight) / 1000
