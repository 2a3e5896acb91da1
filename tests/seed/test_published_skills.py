"""US-002 of both documents, TC-057 and TC-075 to TC-077: enumerating published skills."""

from __future__ import annotations

from functools import partial

import msgspec

from tests.seed.planting import (
    MALFORMED_SKILLS,
    GatedProbe,
    VanishingProbe,
    count_in_flight,
    store_raw_skills,
    store_skills,
)
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.stores.reads import Settled
from vskill_platform.stores.skills import enumerate_published_skills, iter_published_skills
from vskill_platform.testing.probe import PlainProbe
from vskill_platform.worker_context import run_with_worker_env

FOUR = ["acme/skills/csv", "acme/skills/doc", "acme/skills/pdf", "acme/skills/xls"]
ALIASES = {"alias:csv": b"acme/skills/csv", "alias:old/csv": b"acme/skills/csv"}


async def test_tc_057__published_skills_are_read_more_than_one_at_a_time(
    engine: Engine, env_with: partial[WorkerEnv]
) -> None:
    await store_skills(engine, FOUR[:3])
    probe = PlainProbe(engine, hold_until=2)

    skills = await run_with_worker_env(env_with(kv=probe), enumerate_published_skills)

    assert probe.max_in_flight > 1
    assert len(skills) == 3


async def test_tc_075__four_skills_are_four_gets_in_flight(engine: Engine, env_with: partial[WorkerEnv]) -> None:
    await store_skills(engine, FOUR)
    probe = PlainProbe(engine, hold_until=4)

    skills = await run_with_worker_env(env_with(kv=probe), enumerate_published_skills)

    assert probe.max_in_flight == 4
    assert [skill.slug for skill in skills] == FOUR


async def test_tc_076__malformed_records_are_left_out_and_counted(engine: Engine, env: WorkerEnv) -> None:
    await store_skills(engine, FOUR)
    await store_raw_skills(engine, MALFORMED_SKILLS)

    skills = await run_with_worker_env(env, enumerate_published_skills)

    assert [skill.slug for skill in skills] == FOUR
    assert (skills.missing, skills.malformed, skills.failed) == (0, len(MALFORMED_SKILLS), 0)


async def test_tc_077__two_skills_and_an_alias_are_two_reads(engine: Engine, env_with: partial[WorkerEnv]) -> None:
    await store_skills(engine, ["foo", "bar"])
    await store_raw_skills(engine, {"alias:old": b"foo"})
    probe = PlainProbe(engine, hold_until=2)

    skills = await run_with_worker_env(env_with(kv=probe), enumerate_published_skills)

    assert sorted(probe.keys_read) == ["skill:bar", "skill:foo"]
    assert [skill.slug for skill in skills] == ["bar", "foo"]


async def test_0310_ac_us2_01__all_keys_are_read_at_once__when_the_listing_has_many_pages(
    engine: Engine, env_with: partial[WorkerEnv]
) -> None:
    slugs = [f"acme/skills/skill-{number}" for number in range(9)]
    await store_skills(engine, slugs)
    probe = PlainProbe(engine, hold_until=9, page_size=2, has_empty_pages=True)

    skills = await run_with_worker_env(env_with(kv=probe), enumerate_published_skills)

    assert probe.max_in_flight == 9
    assert [skill.slug for skill in skills] == slugs


async def test_0310_ac_us2_02__a_get_that_fails_and_a_malformed_record_cost_only_their_own_keys(
    engine: Engine, env_with: partial[WorkerEnv]
) -> None:
    await store_skills(engine, FOUR)
    await store_raw_skills(engine, {"acme/skills/bad": b"{"})
    probe = PlainProbe(engine, hold_until=5, fail_on=lambda key: key == "skill:acme/skills/csv")

    skills = await run_with_worker_env(env_with(kv=probe), enumerate_published_skills)

    assert [skill.slug for skill in skills] == FOUR[1:]
    assert (skills.missing, skills.malformed, skills.failed) == (0, 1, 1)


async def test_0310_ac_us2_03__aliases_are_left_out_before_anything_is_read(engine: Engine, env: WorkerEnv) -> None:
    neighbours = ["alias", "aliases/skills/pdf", "alias;pdf"]
    await store_skills(engine, [*FOUR, *neighbours])
    await store_raw_skills(engine, ALIASES)

    skills = await run_with_worker_env(env, enumerate_published_skills)

    assert [skill.slug for skill in skills] == sorted([*FOUR, *neighbours])
    assert skills.malformed == 0, "an alias holds a slug, not a record: whoever reads it finds it malformed"


async def test_0310_ac_us2_03__the_stream_leaves_aliases_out_too(engine: Engine, env: WorkerEnv) -> None:
    await store_skills(engine, FOUR)
    await store_raw_skills(engine, ALIASES)

    async def collect() -> list[Settled[object]]:
        return [chunk async for chunk in iter_published_skills()]

    chunks = await run_with_worker_env(env, collect)

    assert [skill.slug for chunk in chunks for skill in chunk] == FOUR
    assert sum(chunk.malformed for chunk in chunks) == 0


async def test_0313_ac_us2_01__every_get_begins_before_any_is_answered(
    engine: Engine, env_with: partial[WorkerEnv]
) -> None:
    slugs = [f"acme/skills/skill-{number:03d}" for number in range(100)]
    await store_skills(engine, slugs)
    probe = PlainProbe(engine, hold_until=100)

    skills = await run_with_worker_env(env_with(kv=probe), enumerate_published_skills)

    assert probe.max_in_flight == 100
    assert [skill.slug for skill in skills] == slugs


async def test_0313_ac_us2_01__the_fan_out_stops_at_the_bound(engine: Engine, env_with: partial[WorkerEnv]) -> None:
    await store_skills(engine, [f"acme/skills/skill-{number:02d}" for number in range(20)])
    probe = GatedProbe(engine, expected=7)
    env = env_with(kv=probe, reads_in_flight=7)

    assert await count_in_flight(env, probe, enumerate_published_skills) == 7
    assert len(probe.keys_read) == 20


async def test_0313_ac_us2_01__a_skill_says_what_it_is__with_defaults_for_what_is_not_there(
    engine: Engine, env: WorkerEnv
) -> None:
    full = b'{"name": "PDF", "repoUrl": "https://github.com/acme/skills", "version": "1.2.0", "score": 92, "more": 1}'
    await store_raw_skills(engine, {"a": full, "b": b"{}", "c": b'{"name": null, "repoUrl": null}'})

    skills = await run_with_worker_env(env, enumerate_published_skills)

    nothing = {
        **dict.fromkeys(("repoUrl", "description", "version", "updatedAt", "publishedAt", "publisher"), ""),
        **{
            "category": "",
            "verdict": "",
            "capabilities": (),
            "installs": 0,
            "yankedVersions": (),
            "tier": "SCANNED",
            "score": 0,
        },
    }
    known = {"name": "PDF", "repoUrl": "https://github.com/acme/skills", "version": "1.2.0", "score": 92}
    assert [msgspec.to_builtins(skill) for skill in skills] == [
        {**nothing, **known, "slug": "a"},
        {**nothing, "slug": "b", "name": "b"},
        {**nothing, "slug": "c", "name": "c"},
    ]


async def test_0313_ac_us2_02__a_key_that_is_gone_or_fails_is_skipped(
    engine: Engine, env_with: partial[WorkerEnv]
) -> None:
    await store_skills(engine, FOUR)
    vanishing = VanishingProbe(engine, vanishing=[f"skill:{FOUR[0]}"])

    skills = await run_with_worker_env(env_with(kv=vanishing), enumerate_published_skills)
    assert [skill.slug for skill in skills] == FOUR[1:]
    assert (skills.missing, skills.malformed, skills.failed) == (1, 0, 0)

    failing = PlainProbe(engine, fail_on=lambda key: key == f"skill:{FOUR[2]}")
    skills = await run_with_worker_env(env_with(kv=failing), enumerate_published_skills)
    assert [skill.slug for skill in skills] == [FOUR[1], FOUR[3]]
    assert (skills.missing, skills.malformed, skills.failed) == (0, 0, 1)


async def test_0313_ac_us2_03__the_counter_tells_side_by_side_from_one_after_another(
    engine: Engine, env_with: partial[WorkerEnv]
) -> None:
    await store_skills(engine, FOUR)
    one_by_one = PlainProbe(engine)
    for slug in FOUR:
        await one_by_one.get(f"skill:{slug}")
    side_by_side = PlainProbe(engine, hold_until=4)

    await run_with_worker_env(env_with(kv=side_by_side), enumerate_published_skills)

    assert one_by_one.max_in_flight == 1
    assert side_by_side.max_in_flight == 4
    assert sorted(side_by_side.keys_read) == one_by_one.keys_read


async def test_fr_001__skills_that_can_be_read_are_given__when_others_fail(
    engine: Engine, env_with: partial[WorkerEnv]
) -> None:
    await store_skills(engine, FOUR)
    probe = PlainProbe(engine, hold_until=4, fail_on=lambda key: not key.endswith("xls"))

    skills = await run_with_worker_env(env_with(kv=probe), enumerate_published_skills)

    assert [skill.slug for skill in skills] == FOUR[3:]
    assert skills.failed == 3
    assert len(probe.keys_read) == 4
