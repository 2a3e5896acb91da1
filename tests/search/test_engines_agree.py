"""One made-up registry on every engine, asked the same questions: the answers are the same, rows, order, totals and counts."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.moving.houses import open_house
from vskill_platform.domain.catalog import SKILLS
from vskill_platform.domain.relevance import MOST_RANKED
from vskill_platform.domain.skill import Skill
from vskill_platform.ports.catalog import CatalogQuery
from vskill_platform.ports.commit import Index, Operation, Unindex
from vskill_platform.ports.engine import Engine
from vskill_platform.stores.skills import index_skill
from vskill_platform.testing.generated_skills import COMMON, THINGS, UNSPACED, generated_skills, misspelt

SKILL_COUNT = 700
QUESTIONS = 150


@pytest.fixture
async def engines(tmp_path: Path, postgres_url: str) -> AsyncIterator[dict[str, Engine]]:
    for name in ("memory", "sqlite", "postgres"):
        (tmp_path / name).mkdir()
    async with (
        open_house("memory", tmp_path / "memory") as memory,
        open_house("sqlite", tmp_path / "sqlite") as sqlite,
        open_house("postgres", tmp_path / "postgres", url=postgres_url) as postgres,
    ):
        yield {"memory": memory.engine, "sqlite": sqlite.engine, "postgres": postgres.engine}


async def write(engines: dict[str, Engine], operations: list[Operation]) -> None:
    for engine in engines.values():
        for start in range(0, len(operations), 500):
            await engine.writes.commit(operations[start : start + 500])


def searches(skills: list[Skill], chance: random.Random) -> Iterator[str]:
    """Searches of every kind, without end."""
    while True:
        skill = chance.choice(skills)
        words = [word for word in skill.name.split("-") if len(word) >= 5] or ["generator"]
        run = chance.choice(UNSPACED).replace(" ", "")
        place = chance.randrange(len(run) - 1)
        yield from (
            skill.name,
            skill.slug,
            skill.slug.upper(),
            chance.choice(words)[: chance.randrange(1, 6)],
            misspelt(chance.choice(words), chance),
            skill.name.replace(words[0], misspelt(words[0], chance)),
            chance.choice(COMMON),
            f"{chance.choice(COMMON)} {chance.choice(THINGS)}",
            f"{chance.choice(THINGS)} {chance.choice(COMMON)[:3]}",
            run[place : place + 2],
            "",
        )


def questions(skills: list[Skill], *, seed: int) -> Iterator[CatalogQuery]:
    chance = random.Random(seed)
    asked = searches(skills, chance)
    for _ in range(QUESTIONS):
        skill = chance.choice(skills)
        filters = {
            "tier": ("VERIFIED", "CERTIFIED"),
            "category": (skill.category,),
            "publisher": (skill.publisher,),
            "capability": ("network", "secrets"),
        }
        chosen = chance.sample(sorted(filters), chance.choice((0, 0, 1, 2)))
        yield CatalogQuery(
            SKILLS,
            where={facet: filters[facet] for facet in chosen},
            search=next(asked),
            sort=chance.choice((None, None, None, *SKILLS.sorts)),
            descending=chance.random() < 0.5,
            limit=chance.choice((1, 20, 50, 500)),
            offset=chance.choice((0, 0, 0, 7, MOST_RANKED - 10, 400)),
            counts=chance.choice(((), ("tier", "capability"), SKILLS.facets)),
        )


async def test_engines_give_the_same_answers__also_after_the_registry_has_changed(engines: dict[str, Engine]) -> None:
    skills = list(generated_skills(SKILL_COUNT))
    await write(engines, [Index(index_skill(skill)) for skill in skills])
    await ask(engines, skills, seed=1)
    newer = list(generated_skills(SKILL_COUNT, seed=7))
    changed = [index_skill(skill) for skill in skills[:100]]
    operations: list[Operation] = [
        *(Unindex(SKILLS, skill.slug) for skill in skills[:150]),
        *(Index(document) for document in changed[:50]),
        *(Index(index_skill(skill)) for skill in newer[:60]),
    ]
    await write(engines, operations)
    await ask(engines, [*skills[:50], *skills[150:], *newer[:60]], seed=2)


async def ask(engines: dict[str, Engine], skills: list[Skill], *, seed: int) -> None:
    found = large = 0
    for question in questions(skills, seed=seed):
        wanted = await engines["memory"].catalog.query(question)
        found, large = found + bool(wanted.rows), large + (wanted.total > MOST_RANKED and bool(question.search))
        for name in ("sqlite", "postgres"):
            assert await engines[name].catalog.query(question) == wanted, (name, question)
    assert found > QUESTIONS / 3
    assert large > 5
    for facet in SKILLS.facets:
        counts = [await engine.catalog.counts(SKILLS, facet) for engine in engines.values()]
        assert counts[0] == counts[1] == counts[2]
