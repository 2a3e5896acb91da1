"""What people type finds what they mean, in a made-up registry that looks like a real one."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.moving.houses import Kind, open_house
from vskill_platform.domain.catalog import SKILLS
from vskill_platform.domain.skill import Skill
from vskill_platform.ports.catalog import CatalogQuery
from vskill_platform.ports.commit import Index
from vskill_platform.ports.engine import Engine
from vskill_platform.stores.skills import index_skill
from vskill_platform.testing.generated_skills import generated_skills, misspelt
from vskill_platform.testing.postgres_server import empty_database

SKILL_COUNT = 1500
QUERIES = 1000


@pytest.fixture(scope="module")
def skills() -> list[Skill]:
    return list(generated_skills(SKILL_COUNT))


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest) -> tuple[Kind, str]:
    """An engine, and the URL of its database where it needs one."""
    return request.param, request.getfixturevalue("postgres_database") if request.param == "postgres" else ""


@pytest.fixture
async def engine(place: tuple[Kind, str], tmp_path: Path, skills: list[Skill]) -> AsyncIterator[Engine]:
    kind, url = place
    if url:
        await empty_database(url)
    async with open_house(kind, tmp_path, url=url) as house:
        for start in range(0, len(skills), 500):
            await house.engine.writes.commit([Index(index_skill(skill)) for skill in skills[start : start + 500]])
        yield house.engine


async def first(engine: Engine, search: str, *, limit: int = 5) -> list[str]:
    page = await engine.catalog.query(CatalogQuery(SKILLS, search=search, limit=limit))
    return [slug for slug, _ in page.rows]


def slips(skills: list[Skill], *, seed: int) -> list[tuple[Skill, str]]:
    """Skills, and their names with one slip in a word of five letters or more."""
    chance = random.Random(seed)
    made: list[tuple[Skill, str]] = []
    while len(made) < QUERIES:
        skill = chance.choice(skills)
        words = skill.name.split("-")
        long = [place for place, word in enumerate(words) if len(word) >= 5]
        if long:
            place = chance.choice(long)
            words[place] = misspelt(words[place], chance)
            made.append((skill, chance.choice((" ", "-")).join(words)))
    return made


async def test_search_finds_a_name_with_one_slip__in_the_first_five_of_95_in_100(
    engine: Engine, skills: list[Skill]
) -> None:
    """A skill of that very name counts, whoever published it."""
    found = 0
    for skill, search in slips(skills, seed=3):
        found += any(slug.rsplit("/", 1)[-1] == skill.name for slug in await first(engine, search))
    assert found >= QUERIES * 0.95, found


async def test_search_puts_the_exact_name_or_slug_first__and_finds_any_two_unspaced_characters(
    engine: Engine, skills: list[Skill]
) -> None:
    for skill in random.Random(4).sample(skills, 100):
        for search in (skill.slug, skill.slug.upper()):
            assert (await first(engine, search))[:1] == [skill.slug]
        for search in (skill.name, skill.name.replace("-", " ").title()):
            (slug,) = await first(engine, search, limit=1)
            assert slug.endswith(f"/{skill.name}")
    texts = {skill.slug: run for skill in skills for run in _unspaced_runs(skill.description)}
    assert len(texts) > 50
    for slug, run in random.Random(5).sample(sorted(texts.items()), 15):
        for place in range(len(run) - 1):
            assert slug in await first(engine, run[place : place + 2], limit=1000)


def _unspaced_runs(text: str) -> list[str]:
    return [run for run in text.split() if ord(run[0]) > 0x2E80]
