"""A registry of made-up skills that looks like a real one: few words in most names, many in few, publishers of all sizes.

The same seed gives the same registry. Names, descriptions and numbers follow the long tails that registries have: a handful of
words is in a third of all descriptions, most words are in almost none, and most skills were hardly ever installed.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import accumulate

from vskill_platform.domain.capabilities import KINDS
from vskill_platform.domain.scan import Verdict
from vskill_platform.domain.skill import CertTier, Skill
from vskill_platform.domain.times import iso_from_ms

_START_MS = 1_750_000_000_000
_YEAR_MS = 365 * 86_400_000


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


ACTIONS = _words(
    "review write build test deploy format translate summarise extract convert generate validate migrate monitor analyse "
    "debug refactor document search publish schedule render compress encrypt parse scrape classify annotate visualise "
    "benchmark profile simulate negotiate draft proofread outline transcribe caption edit merge release rollback audit"
)
THINGS = _words(
    "code pdf spreadsheet invoice contract changelog commit branch database schema query index cluster container image "
    "video audio podcast newsletter email calendar meeting ticket roadmap sprint budget forecast ledger receipt payroll "
    "resume interview onboarding policy security license dependency package registry pipeline workflow terraform ansible "
    "kubernetes docker postgres sqlite redis kafka graphql openapi webhook endpoint frontend backend accessibility colour "
    "typography animation storyboard screenplay recipe nutrition workout travel itinerary weather satellite telescope "
    "molecule protein genome dataset notebook regression statistics survey citation bibliography thesis lecture homework "
    "flashcard vocabulary grammar poetry melody chord playlist sketch diagram flowchart wireframe prototype mockup"
)
ROLES = _words(
    "helper assistant toolkit agent generator checker runner expert guide wizard studio builder manager bot kit"
)
COMMON = _words(
    "the and for with from into this that skill your when use using agent files project every works across without needs "
    "creates reads step by step clear results fast simple reliable common best practices team user request output input"
)
CATEGORIES = _words(
    "development writing data design devops security research education finance marketing media productivity science legal"
)
UNSPACED = (
    "代码审查与重构助手",
    "自动生成发布说明",
    "把表格转换成图表",
    "日本語の文書を要約する",
    "請求書の内容を確認します",
    "議事録を自動で作成",
    "한국어 문서를 번역합니다",
    "회의록을 요약하는 도구",
    "数据库迁移检查工具",
    "安全漏洞扫描报告",
)
_SYLLABLES = _words(
    "ka lo mi ren tor vex zu pla stri dor fen gri hal jun kel mor nox pyr qui ros syl tan umb vor wix yar zen"
)
_TIERS = (CertTier.SCANNED, CertTier.VERIFIED, CertTier.CERTIFIED)


def generated_skills(count: int, *, seed: int = 6) -> Iterator[Skill]:
    """So many skills, each with a slug of its own."""
    maker = _Maker(random.Random(seed), publishers=max(5, count // 25))
    for number in range(count):
        yield maker.make(number)


class _Maker:
    def __init__(self, chance: random.Random, *, publishers: int) -> None:
        self._chance = chance
        self._brands = sorted({self._brand() for _ in range(4000)})
        self._publishers = [f"{self._brand()}{number}" for number in range(publishers)]
        self._publisher_weights = list(accumulate(1 / (place + 2) for place in range(publishers)))
        prose = [*COMMON, *ACTIONS, *THINGS, *ROLES, *self._brands]
        self._prose = prose
        self._prose_weights = list(accumulate(1 / (place + 4) for place in range(len(prose))))

    def make(self, number: int) -> Skill:
        """One skill."""
        chance = self._chance
        name = self._name()
        (publisher,) = chance.choices(self._publishers, cum_weights=self._publisher_weights)
        published_ms = _START_MS + chance.randrange(_YEAR_MS)
        return Skill(
            slug=f"{publisher}/{chance.choice(THINGS)}-{number}/{name}",
            name=name,
            repo_url=f"https://github.com/{publisher}/{chance.choice(THINGS)}-{number}",
            description=self._description(name),
            category=chance.choices(CATEGORIES, cum_weights=list(range(1, len(CATEGORIES) + 1)))[0],
            publisher=publisher,
            version=f"1.{chance.randrange(9)}.0",
            tier=chance.choices(_TIERS, weights=(70, 25, 5))[0],
            score=100 - int(chance.expovariate(0.15)) % 60,
            published_at=iso_from_ms(published_ms),
            updated_at=iso_from_ms(published_ms + chance.randrange(_YEAR_MS)),
            verdict=Verdict.PASS.value,
            capabilities=tuple(sorted(kind for kind in KINDS if chance.random() < 0.25)),
            installs=int(chance.paretovariate(0.7)) - 1,
        )

    def _brand(self) -> str:
        return "".join(self._chance.choices(_SYLLABLES, k=self._chance.choice((2, 2, 3, 3, 4))))

    def _name(self) -> str:
        """Two to four words; every other name has a word that hardly any other has."""
        chance = self._chance
        parts = [chance.choice(THINGS)]
        if chance.random() < 0.7:
            parts.insert(0, chance.choice(ACTIONS))
        if chance.random() < 0.5:
            parts.insert(0, chance.choice(self._brands))
        if chance.random() < 0.5 or len(parts) == 1:
            parts.append(chance.choice(ROLES))
        return "-".join(parts)

    def _description(self, name: str) -> str:
        chance = self._chance
        words = chance.choices(self._prose, cum_weights=self._prose_weights, k=chance.randrange(12, 40))
        sentence = f"{name.replace('-', ' ').capitalize()}: {' '.join(words)}."
        return f"{sentence} {chance.choice(UNSPACED)}" if chance.random() < 0.08 else sentence


def misspelt(word: str, chance: random.Random) -> str:
    """The word with one letter too many, too few, wrong or swapped with the next."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    while True:
        place = chance.randrange(len(word))
        kind = chance.randrange(4)
        if kind == 0:
            made = word[:place] + chance.choice(letters) + word[place:]
        elif kind == 1:
            made = word[:place] + word[place + 1 :]
        elif kind == 2:
            made = word[:place] + chance.choice(letters) + word[place + 1 :]
        else:
            made = word[:place] + word[place + 1 : place + 2] + word[place] + word[place + 2 :]
        if made != word:
            return made
