"""The engine's native path (bulk get, scan, due index) gives the answers of the plain path, which the documents describe.

Each mix is also held against a plain model, so that two paths that err alike are found out too.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, TypeVar

import msgspec
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.seed.planting import MALFORMED_SKILLS, MALFORMED_SUBMISSIONS, open_kind, pull, submit_each
from vskill_platform.domain.ids import alias_key, skill_key, submission_key
from vskill_platform.domain.messages import decode_message
from vskill_platform.domain.records import Submission
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.pipeline.claim import claim_submission
from vskill_platform.ports.commit import Operation, Put
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.ports.queue import Message
from vskill_platform.stores.reads import Settled
from vskill_platform.stores.records import encode_record
from vskill_platform.stores.skills import enumerate_published_skills, iter_published_skills
from vskill_platform.stores.submissions import get_stuck_submissions, get_submissions_fresh
from vskill_platform.testing.clock import START_MS, FakeClock
from vskill_platform.testing.envs import make_env
from vskill_platform.testing.probe import PlainProbe
from vskill_platform.testing.processing import review_everything
from vskill_platform.testing.submissions import putting_submission, submission_at
from vskill_platform.worker.consumer import handle_submission_queue
from vskill_platform.worker_context import run_with_worker_env

THRESHOLD_MS = 300_000
CAN_BE_STUCK = ("RECEIVED", "TIER1_SCANNING", "TIER2_SCANNING", "AUTO_APPROVED", "VENDOR_APPROVED")

T = TypeVar("T")
on_memory = settings(max_examples=50, deadline=None)
on_sqlite = settings(max_examples=10, deadline=None)


class Paths(NamedTuple):
    """One store, by both paths."""

    plain: WorkerEnv
    native: WorkerEnv


@asynccontextmanager
async def both_paths(kind: str, operations: list[Operation]) -> AsyncIterator[Paths]:
    """A fresh store that holds what the operations write."""
    clock = FakeClock()
    with TemporaryDirectory() as folder:
        engine = await open_kind(kind, Path(folder) / "engine", clock=clock)
        try:
            await engine.writes.commit(operations)
            over_engine = partial(make_env, engine, clock=clock, folder=Path(folder))
            yield Paths(over_engine(kv=PlainProbe(engine, page_size=3, has_empty_pages=True)), over_engine())
        finally:
            await engine.close()


async def ask(paths: Paths, question: Callable[[], Awaitable[Settled[T]]]) -> tuple[Settled[T], Settled[T]]:
    """The answer by the plain path and by the native one."""
    return await run_with_worker_env(paths.plain, question), await run_with_worker_env(paths.native, question)


def left_out(settled: Settled[T]) -> tuple[int, int, int]:
    return settled.missing, settled.malformed, settled.failed


# Submissions of every state and age, and what only looks like them


class PlantedSubmission(NamedTuple):
    """What stands under one `sub:` key: a submission and its age, or a value that is none."""

    operation: Operation
    good: Submission | None
    age_ms: int


def good_submission(identity: str, state: SubmissionState, age_ms: int) -> PlantedSubmission:
    submission = submission_at(state, updated_ms=START_MS - age_ms, identity=identity)
    return PlantedSubmission(putting_submission(submission)[0], submission, age_ms)


def bad_submission(identity: str, value: bytes, due_ms: int | None) -> PlantedSubmission:
    return PlantedSubmission(Put(submission_key(identity), value, due_ms=due_ms), None, 0)


AGES_MS = (-60_000, 0, THRESHOLD_MS - 1, THRESHOLD_MS, THRESHOLD_MS + 1, 10**7)
DUES_MS = (None, START_MS - 1, START_MS, START_MS + 1)
EVERY_SUBMISSION = [
    *(good_submission(f"good {state} {age}", state, age) for state in SubmissionState for age in AGES_MS),
    *(
        bad_submission(f"{fault} {due}", value, due)
        for fault, value in MALFORMED_SUBMISSIONS.items()
        for due in DUES_MS
    ),
]
"""Every state at every age around the threshold, and every malformed value with every due."""

identities = st.text("abcxyz_-0189é", min_size=1, max_size=6)
ages = st.sampled_from(AGES_MS) | st.integers(-(10**6), 10**6)
bad_values = st.sampled_from(list(MALFORMED_SUBMISSIONS.values())) | st.binary(max_size=20)


@st.composite
def submission_mixes(draw: st.DrawFn) -> list[PlantedSubmission]:
    ids = draw(st.lists(identities, unique=True, min_size=8, max_size=24))
    good = [good_submission(identity, draw(st.sampled_from(SubmissionState)), draw(ages)) for identity in ids[::2]]
    bad = [bad_submission(identity, draw(bad_values), draw(st.sampled_from(DUES_MS))) for identity in ids[1::4]]
    stuck = [good_submission(identity, SubmissionState.RECEIVED, draw(ages)) for identity in ids[3::4]]
    return [*good, *bad, *stuck]


async def check_stuck(kind: str, mix: list[PlantedSubmission]) -> None:
    stuck = [planted for planted in mix if planted.good and planted.good.state.value in CAN_BE_STUCK]
    stuck = [planted for planted in stuck if planted.age_ms >= THRESHOLD_MS]
    expected = sorted((-planted.age_ms, planted.good.id) for planted in stuck if planted.good)

    async with both_paths(kind, [planted.operation for planted in mix]) as paths:
        plain, native = await ask(paths, get_stuck_submissions)

    assert native == plain
    assert [(-found.stuck_for_ms, found.id) for found in plain] == expected
    assert plain.malformed == sum(planted.good is None for planted in mix)


@on_memory
@example(mix=EVERY_SUBMISSION)
@given(mix=submission_mixes())
async def test_tc_072__the_due_index_finds_what_reading_everything_finds__in_memory(
    mix: list[PlantedSubmission],
) -> None:
    await check_stuck("memory", mix)


@on_sqlite
@example(mix=EVERY_SUBMISSION)
@given(mix=submission_mixes())
async def test_tc_072__the_due_index_finds_what_reading_everything_finds__in_sqlite(
    mix: list[PlantedSubmission],
) -> None:
    await check_stuck("sqlite", mix)


async def test_tc_072__the_due_index_follows_a_submission_on_its_journey(
    engine: Engine, env_with: partial[WorkerEnv], clock: FakeClock
) -> None:
    """What the stores write is what the index finds: two wait too long, one of them is done, the other hangs again."""
    paths = Paths(env_with(kv=PlainProbe(engine)), env_with())
    await submit_each(paths.native, ["csv", "doc"])

    async def agreed() -> list[tuple[str, str]]:
        plain, native = await ask(paths, get_stuck_submissions)
        assert native == plain
        return sorted((stuck.skill_name, stuck.state.value) for stuck in plain)

    async def claim_one_and_finish_one(message: Message) -> None:
        if message is batch.messages[0]:
            await claim_submission(message, decode_message(message.body))
        else:
            await review_everything(message)

    assert await agreed() == []
    clock.shift(THRESHOLD_MS / 1000)
    assert await agreed() == [("csv", "RECEIVED"), ("doc", "RECEIVED")]
    batch = await pull(paths.native, 2)
    await handle_submission_queue(batch, paths.native, process=claim_one_and_finish_one)
    assert await agreed() == []
    clock.shift(THRESHOLD_MS / 1000)
    assert await agreed() == [("csv", "TIER1_SCANNING")]


# Submissions by id


class FreshMix(NamedTuple):
    """What is stored, and which ids are asked for."""

    stored: dict[str, bytes]
    asked: list[str]


def encoded_submission(identity: str, state: SubmissionState) -> bytes:
    return encode_record(submission_at(state, updated_ms=START_MS, identity=identity))


UNUSABLE_IDS = ["a\0b", "x" * 600, "\ud800"]
EVERY_GOOD = {f"good {state}": encoded_submission(f"good {state}", state) for state in SubmissionState}
EVERY_FRESH = FreshMix(
    stored={**EVERY_GOOD, **MALFORMED_SUBMISSIONS},
    asked=[*reversed(EVERY_GOOD), "nowhere", *MALFORMED_SUBMISSIONS, *UNUSABLE_IDS, *EVERY_GOOD],
)
"""Every good and every malformed record, some asked for twice, among ids that are not there and ids that cannot be."""


@st.composite
def fresh_mixes(draw: st.DrawFn) -> FreshMix:
    any_ids = identities | st.text(max_size=8).filter(lambda identity: "\0" not in identity)
    ids = draw(st.lists(any_ids, unique=True, min_size=4, max_size=12))
    good = {identity: encoded_submission(identity, draw(st.sampled_from(SubmissionState))) for identity in ids[::2]}
    bad = {identity: draw(st.sampled_from(list(MALFORMED_SUBMISSIONS.values()))) for identity in ids[1::2]}
    asked = draw(st.lists(st.sampled_from([*ids, "nowhere", *UNUSABLE_IDS]) | any_ids, min_size=4, max_size=16))
    return FreshMix({**good, **bad}, asked)


async def check_fresh(kind: str, mix: FreshMix) -> None:
    malformed = set(MALFORMED_SUBMISSIONS.values())
    found = [mix.stored[identity] for identity in mix.asked if identity in mix.stored]
    operations: list[Operation] = [Put(submission_key(identity), value) for identity, value in mix.stored.items()]

    async with both_paths(kind, operations) as paths:
        plain, native = await ask(paths, lambda: get_submissions_fresh(mix.asked))

    assert native == plain
    assert left_out(native) == left_out(plain)
    assert [msgspec.json.encode(submission) for submission in plain] == [v for v in found if v not in malformed]
    assert plain.malformed == sum(value in malformed for value in found)
    assert plain.failed == sum(identity in UNUSABLE_IDS for identity in mix.asked)
    assert len(plain) + sum(left_out(plain)) == len(mix.asked)


@on_memory
@example(mix=EVERY_FRESH)
@given(mix=fresh_mixes())
async def test_tc_050__a_bulk_get_gives_what_single_gets_give__in_memory(mix: FreshMix) -> None:
    await check_fresh("memory", mix)


@on_sqlite
@example(mix=EVERY_FRESH)
@given(mix=fresh_mixes())
async def test_tc_050__a_bulk_get_gives_what_single_gets_give__in_sqlite(mix: FreshMix) -> None:
    await check_fresh("sqlite", mix)


# Skills, aliases among them


class SkillMix(NamedTuple):
    """What stands under `skill:` by slug, and under `skill:alias:`."""

    skills: dict[str, bytes]
    aliases: list[str]


NEIGHBOURS = ["alia", "alias", "alias0", "alias;b", "aliases/b/c", "zz"]
"""Slugs on both sides of the aliases, and as near to them as a key can be."""
EVERY_SKILL = SkillMix({**dict.fromkeys(NEIGHBOURS, b"{}"), **MALFORMED_SKILLS}, ["", "pdf", "old/pdf", "\U0010ffff"])


@st.composite
def skill_mixes(draw: st.DrawFn) -> SkillMix:
    fields = {
        "name": st.text(max_size=5) | st.none(),
        "repoUrl": st.sampled_from(["https://github.com/acme/skills", None]),
        "tier": st.sampled_from(["SCANNED", "VERIFIED"]),
        "score": st.integers(0, 100),
    }
    good_values = st.fixed_dictionaries({}, optional=fields).map(msgspec.json.encode)
    bad_values = st.sampled_from(list(MALFORMED_SKILLS.values()))
    any_slugs = st.text("abc/-é;", min_size=1, max_size=6) | st.sampled_from(NEIGHBOURS)
    slugs = draw(st.lists(any_slugs, unique=True, min_size=4, max_size=16))
    good = {slug: draw(good_values) for slug in slugs[::2]}
    bad = {slug: draw(bad_values) for slug in slugs[1::2]}
    aliases = draw(st.lists(st.text("abc/;\U0010ffff", max_size=5), unique=True, min_size=1, max_size=6))
    return SkillMix({**good, **bad}, aliases)


async def check_skills(kind: str, mix: SkillMix) -> None:
    malformed = set(MALFORMED_SKILLS.values())
    expected = sorted((slug for slug, value in mix.skills.items() if value not in malformed), key=str.encode)
    operations: list[Operation] = [Put(skill_key(slug), value) for slug, value in mix.skills.items()]
    operations += [Put(alias_key(slug), b"acme/skills/pdf") for slug in mix.aliases]

    async def stream() -> Settled[object]:
        collected: Settled[object] = Settled()
        async for chunk in iter_published_skills():
            collected.add_settled(chunk)
        return collected

    async with both_paths(kind, operations) as paths:
        plain, native = await ask(paths, enumerate_published_skills)
        streamed_plain, streamed_native = await ask(paths, stream)

    assert native == plain == streamed_plain == streamed_native
    assert left_out(native) == left_out(plain) == left_out(streamed_plain) == left_out(streamed_native)
    assert [skill.slug for skill in plain] == expected
    assert left_out(plain) == (0, len(mix.skills) - len(expected), 0)


@on_memory
@example(mix=EVERY_SKILL)
@given(mix=skill_mixes())
async def test_tc_077__a_scan_gives_what_single_gets_give__in_memory(mix: SkillMix) -> None:
    await check_skills("memory", mix)


@on_sqlite
@example(mix=EVERY_SKILL)
@given(mix=skill_mixes())
async def test_tc_077__a_scan_gives_what_single_gets_give__in_sqlite(mix: SkillMix) -> None:
    await check_skills("sqlite", mix)
