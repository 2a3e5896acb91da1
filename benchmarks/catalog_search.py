"""The catalog of a registry with 100,000 skills and 100,000 submissions, asked everything that pages ask, in process.

Every kind of question is asked equally often, in a mixed order, each with other words. Questions about skills want the counts
that a marketplace shows beside its list. A first round of other questions goes unmeasured, as a process serves for longer than
a minute; what the very first question of a process costs is told apart.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle
from uuid import UUID

from benchmarks.fixtures import HOUR_MS, folder, open_at, open_engine, open_on_server, postgres_server
from benchmarks.report import Row, at_most, told
from vskill_platform.domain.catalog import SKILLS, SUBMISSIONS
from vskill_platform.domain.ids import submission_id
from vskill_platform.domain.records import Submission
from vskill_platform.domain.skill import Skill
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.ports.catalog import CatalogQuery
from vskill_platform.ports.commit import Index, Operation
from vskill_platform.ports.engine import Engine
from vskill_platform.stores.skills import index_skill
from vskill_platform.stores.submissions import index_submission
from vskill_platform.testing.generated_skills import ACTIONS, COMMON, THINGS, UNSPACED, generated_skills, misspelt

SKILL_COUNT = 100_000
SUBMISSION_COUNT = 100_000
ROUNDS = 150
WARM_UP = 60
COUNTS = ("tier", "category", "capability")
_CHUNK = 1000
_NOW_MS = 1_780_000_000_000

Asker = Callable[[random.Random], CatalogQuery]


async def run() -> list[Row]:
    """SQLite, then PostgreSQL."""
    skills = list(generated_skills(SKILL_COUNT))
    submissions = list(_submissions(skills))
    with folder() as path:
        async with open_engine(path, synchronous="OFF") as engine:
            await _load(engine, skills, submissions)
        async with open_engine(path) as engine:
            rows = await _measure(engine, "sqlite", skills, submissions, target_ms=15)
    with postgres_server() as server:
        async with open_on_server(server) as engine:
            await _load(engine, skills, submissions)
        async with open_at(server.url(server.newest_database)) as engine:
            rows += await _measure(engine, "postgres", skills, submissions, target_ms=50)
    return rows


def _submissions(skills: Sequence[Skill]) -> Iterator[Submission]:
    """A submission for each skill, most of them published."""
    chance = random.Random(8)
    states = cycle((SubmissionState.PUBLISHED, SubmissionState.PUBLISHED, SubmissionState.PUBLISHED, *SubmissionState))
    for skill, state in zip(skills[:SUBMISSION_COUNT], states, strict=False):
        created_ms = _NOW_MS - chance.randrange(1000 * HOUR_MS)
        yield Submission(
            id=submission_id(UUID(int=chance.getrandbits(128))),
            repo_url=skill.repo_url,
            skill_name=skill.name,
            state=state,
            created_at=iso_from_ms(created_ms),
            updated_at=iso_from_ms(created_ms + chance.randrange(HOUR_MS)),
            slug=skill.slug if state is SubmissionState.PUBLISHED else None,
        )


async def _load(engine: Engine, skills: Sequence[Skill], submissions: Sequence[Submission]) -> None:
    operations: list[Operation] = [Index(index_skill(skill)) for skill in skills]
    operations += [Index(index_submission(submission)) for submission in submissions]
    for start in range(0, len(operations), _CHUNK):
        await engine.writes.commit(operations[start : start + _CHUNK])


def _about_skills(skills: Sequence[Skill]) -> dict[str, Asker]:
    def ask(**fields: object) -> CatalogQuery:
        return CatalogQuery(SKILLS, **{"limit": 20, "counts": COUNTS, **fields})  # type: ignore[arg-type]

    def any_word(chance: random.Random) -> str:
        return chance.choice([word for word in chance.choice(skills).name.split("-") if len(word) >= 5] or THINGS)

    def pair(chance: random.Random) -> str:
        run = chance.choice([run for run in chance.choice(UNSPACED).split() if len(run) > 1])
        place = chance.randrange(len(run) - 1)
        return run[place : place + 2]

    def filters(chance: random.Random) -> dict[str, tuple[str, ...]]:
        skill = chance.choice(skills)
        of = {"tier": ("VERIFIED", "CERTIFIED"), "category": (skill.category,), "publisher": (skill.publisher,)}
        of["capability"] = ("network",)
        return {facet: of[facet] for facet in chance.sample(sorted(of), chance.choice((1, 2)))}

    return {
        "exact name": lambda c: ask(search=c.choice(skills).name),
        "exact slug": lambda c: ask(search=c.choice(skills).slug),
        "two words": lambda c: ask(search=f"{c.choice(ACTIONS)} {c.choice(THINGS)}"),
        "a common word": lambda c: ask(search=c.choice(COMMON)),
        "a common and another word": lambda c: ask(search=f"{c.choice(COMMON)} {c.choice(THINGS)}"),
        "beginning of 2": lambda c: ask(search=any_word(c)[:2]),
        "beginning of 3": lambda c: ask(search=any_word(c)[:3]),
        "beginning of 4": lambda c: ask(search=any_word(c)[:4]),
        "beginning of 5": lambda c: ask(search=any_word(c)[:5]),
        "misspelt word": lambda c: ask(search=misspelt(any_word(c), c)),
        "misspelt name": lambda c: ask(search=misspelt(c.choice(skills).name.replace("-", " "), c)),
        "unspaced pair": lambda c: ask(search=pair(c)),
        "filters": lambda c: ask(where=filters(c)),
        "filters, all counts": lambda c: ask(where=filters(c), counts=SKILLS.facets),
        "filters and a word": lambda c: ask(where=filters(c), search=c.choice(THINGS)),
        "deep page": lambda c: ask(offset=c.randrange(len(skills))),
        "deep page of a search": lambda c: ask(search=c.choice(COMMON), offset=c.randrange(5000)),
        "other sort": lambda c: ask(where=filters(c), sort=c.choice(SKILLS.sorts), descending=c.random() < 0.5),
        "everything": lambda c: ask(),
    }


def _about_submissions(submissions: Sequence[Submission]) -> dict[str, Asker]:
    def ask(**fields: object) -> CatalogQuery:
        return CatalogQuery(SUBMISSIONS, **{"sort": "updated", "counts": ("state",), **fields})  # type: ignore[arg-type]

    states = [state.value for state in SubmissionState]
    return {
        "submissions": lambda c: ask(),
        "submissions by state": lambda c: ask(where={"state": tuple(c.sample(states, 3))}),
        "submissions by a word": lambda c: ask(search=c.choice(THINGS)),
        "submission by id": lambda c: ask(search=c.choice(submissions).id),
        "submissions by sort": lambda c: ask(sort=c.choice(SUBMISSIONS.sorts), descending=c.random() < 0.5),
        "submissions, deep": lambda c: ask(
            where={"state": ("PUBLISHED", "REJECTED")}, offset=c.randrange(len(submissions))
        ),
    }


async def _measure(
    engine: Engine, name: str, skills: Sequence[Skill], submissions: Sequence[Submission], *, target_ms: float
) -> list[Row]:
    first_ms = await _time(engine, CatalogQuery(SKILLS, counts=COUNTS))
    of_skills, of_submissions = _about_skills(skills), _about_submissions(submissions)
    kinds = {**of_skills, **of_submissions}
    await _ask_all(engine, kinds, rounds=WARM_UP, seed=1)
    times = await _ask_all(engine, kinds, rounds=ROUNDS, seed=2)
    about_skills = sorted(taken for kind in of_skills for taken in times[kind])
    about_submissions = sorted(taken for kind in of_submissions for taken in times[kind])
    what = f"{len(skills):,} skills, {len(of_skills)} kinds of questions with counts, {ROUNDS} each"
    return [
        at_most(
            f"search_p99_{name}",
            _quantile(about_skills, 0.99),
            target=target_ms,
            unit="ms",
            detail=f"p50 {_quantile(about_skills, 0.5):.2f} ms; {what}",
        ),
        at_most(
            f"submission_list_p99_{name}",
            _quantile(about_submissions, 0.99),
            target=target_ms,
            unit="ms",
            detail=f"p50 {_quantile(about_submissions, 0.5):.2f} ms; {len(submissions):,} submissions",
        ),
        *(_kind_row(name, kind, sorted(taken)) for kind, taken in times.items()),
        told(f"first_question_{name}", first_ms, unit="ms", detail="columns are read from the tables"),
    ]


def _kind_row(name: str, kind: str, times: list[float]) -> Row:
    label = f"search_{name}: {kind}"
    return told(label, _quantile(times, 0.99), unit="ms", detail=f"p99; p50 {_quantile(times, 0.5):.2f} ms")


async def _ask_all(engine: Engine, kinds: dict[str, Asker], *, rounds: int, seed: int) -> dict[str, list[float]]:
    chance = random.Random(seed)
    asked = [(kind, asker(chance)) for kind, asker in kinds.items() for _ in range(rounds)]
    chance.shuffle(asked)
    times: dict[str, list[float]] = {kind: [] for kind in kinds}
    for kind, query in asked:
        times[kind].append(await _time(engine, query))
    return times


async def _time(engine: Engine, query: CatalogQuery) -> float:
    began = time.perf_counter()
    await engine.catalog.query(query)
    return (time.perf_counter() - began) * 1000


def _quantile(times: list[float], share: float) -> float:
    return times[min(len(times) - 1, int(len(times) * share))]
