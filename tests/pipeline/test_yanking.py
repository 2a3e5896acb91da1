"""Versions and skills that are taken out of people's hands, and given back."""

from __future__ import annotations

import asyncio

import pytest

from tests.pipeline.journey import Journey, skill_md
from vskill_platform.domain.errors import IllegalTransition, InvalidInput, NotFound
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.domain.tombstone import Departure, Tombstone
from vskill_platform.pipeline.blocking import block_and_stop, make_block
from vskill_platform.pipeline.rescan import rescan_skill
from vskill_platform.pipeline.yanking import (
    Yanked,
    quarantine_skill,
    restore_skill,
    restore_version,
    yank_version,
)
from vskill_platform.stores.changes import cursor_now, read_changes
from vskill_platform.stores.skills import FoundSkill, enumerate_published_skills, find_skill, get_published_skills_list
from vskill_platform.stores.tombstones import get_tombstone
from vskill_platform.stores.versions import get_version

SLUG = "127-0-0-1-acme/greeting/greeting"
LEAKS = "It leaks names."
pytestmark = pytest.mark.parametrize("engine", ["memory"], indirect=True)


async def publish_two(journey: Journey) -> None:
    """A skill with the versions 1.0.0 and 1.0.1."""
    repository = journey.repository("acme/greeting", {"SKILL.md": skill_md(), "README.md": b"1"})
    await journey.take_through("acme/greeting")
    repository.commit({"SKILL.md": skill_md(), "README.md": b"2"})
    await journey.take_through("acme/greeting")


async def yank(journey: Journey, version: str, *, reason: str = LEAKS) -> Yanked:
    return await journey.inside(lambda: yank_version(SLUG, version, reason=reason, by="user_1"))


async def restore(journey: Journey, version: str) -> Yanked:
    return await journey.inside(lambda: restore_version(SLUG, version, reason="A mistake.", by="user_1"))


async def skill_of(journey: Journey) -> FoundSkill:
    found = await journey.inside(lambda: find_skill(SLUG))
    assert found is not None
    return found


async def tombstone_of(journey: Journey) -> Tombstone | None:
    return await journey.inside(lambda: get_tombstone(SLUG))


async def listed(journey: Journey) -> list[tuple[str, str]]:
    rows = (await journey.inside(get_published_skills_list)).rows
    records = await journey.inside(enumerate_published_skills)
    assert [(row.slug, row.version) for row in records] == [(row.slug, row.version) for row in rows]
    return [(row.name, row.version) for row in rows]


async def test_yank_moves_what_people_get_to_the_version_below__and_keeps_the_record(journey: Journey) -> None:
    await publish_two(journey)
    since = await journey.inside(cursor_now)
    assert await yank(journey, "1.0.1") == Yanked(SLUG, "1.0.1", "1.0.0")
    kept = await journey.inside(lambda: get_version(SLUG, "1.0.1"))
    below = await journey.inside(lambda: get_version(SLUG, "1.0.0"))
    assert kept is not None
    assert below is not None
    assert (kept.is_yanked, kept.yank_reason, kept.yanked_by) == (True, LEAKS, "user_1")
    skill = (await skill_of(journey)).skill
    assert (skill.version, skill.content_digest, skill.yanked_versions) == ("1.0.0", below.content_digest, ("1.0.1",))
    assert await listed(journey) == [("greeting", "1.0.0")]
    changed = (await journey.inside(lambda: read_changes(since, limit=10))).skills
    assert [(row.version, row.yanked_versions) for row in changed] == [("1.0.0", ("1.0.1",))]
    assert (await journey.events())[-1] == ("version.yanked", SLUG)
    with pytest.raises(IllegalTransition):
        await yank(journey, "1.0.1")
    assert await restore(journey, "1.0.1") == Yanked(SLUG, "1.0.1", "1.0.1")
    assert await listed(journey) == [("greeting", "1.0.1")]
    assert (await skill_of(journey)).skill.yanked_versions == ()


async def test_yank_of_the_last_version_withdraws_the_skill__and_a_restore_brings_it_back(journey: Journey) -> None:
    await publish_two(journey)
    await yank(journey, "1.0.0")
    assert await listed(journey) == [("greeting", "1.0.1")]
    assert (await yank(journey, "1.0.1", reason="So does this.")).latest is None
    assert await listed(journey) == []
    tombstone = await tombstone_of(journey)
    assert tombstone is not None
    assert (tombstone.kind, tombstone.by) == (Departure.YANKED, "user_1")
    assert "So does this." in tombstone.reason
    with pytest.raises(IllegalTransition, match="Restore it first"):
        await journey.inside(lambda: rescan_skill(SLUG))
    assert (await restore(journey, "1.0.0")).latest == "1.0.0"
    assert await listed(journey) == [("greeting", "1.0.0")]
    assert await tombstone_of(journey) is None


async def test_yanked_bytes_do_not_come_back_by_themselves__and_other_bytes_are_a_higher_version(
    journey: Journey,
) -> None:
    await publish_two(journey)
    await yank(journey, "1.0.1")
    repository = journey.repository("acme/greeting", {"SKILL.md": skill_md(), "README.md": b"1"})
    (reverted,) = await journey.take_through("acme/greeting")
    assert (reverted.state, reverted.version) == (SubmissionState.PUBLISHED, "1.0.0")
    repository.commit({"SKILL.md": skill_md(), "README.md": b"2"})
    (again,) = await journey.take_through("acme/greeting")
    assert (again.state, again.reason) == (SubmissionState.REJECTED, "bytes_yanked")
    assert LEAKS in (await journey.history(again.id))[-1].message
    repository.commit({"SKILL.md": skill_md(), "README.md": b"3"})
    (mended,) = await journey.take_through("acme/greeting")
    assert (mended.state, mended.version) == (SubmissionState.PUBLISHED, "1.0.2")
    assert (await skill_of(journey)).skill.yanked_versions == ("1.0.1",)


async def test_rescan_after_a_yank_is_about_the_version_people_get__and_makes_no_new_one(journey: Journey) -> None:
    await publish_two(journey)
    await yank(journey, "1.0.1")
    run = await journey.inside(lambda: rescan_skill(SLUG))
    await journey.work()
    scanned = await journey.read(run.id)
    assert (scanned.state, scanned.version) == (SubmissionState.PUBLISHED, "1.0.0")
    kept = await journey.inside(lambda: get_version(SLUG, "1.0.1"))
    assert kept is not None
    assert kept.is_yanked


async def test_quarantine_hides_a_skill_at_once__and_nothing_but_a_person_ends_it(journey: Journey) -> None:
    submission = await journey.publish("acme/greeting", {"SKILL.md": skill_md()})
    await journey.inside(lambda: quarantine_skill(SLUG, reason="Reported.", by="user_1"))
    assert await listed(journey) == []
    tombstone = await tombstone_of(journey)
    assert tombstone is not None
    assert (tombstone.kind, tombstone.reason, tombstone.by) == (Departure.QUARANTINED, "Reported.", "user_1")
    with pytest.raises(IllegalTransition):
        await journey.inside(lambda: rescan_skill(SLUG))
    journey.repository("acme/greeting", {"SKILL.md": skill_md(body="Greet everybody.")})
    (held,) = await journey.take_through("acme/greeting")
    assert (held.id, held.state, held.reason) == (submission.id, SubmissionState.REJECTED, "publishing_held")
    assert await listed(journey) == []
    await journey.inside(lambda: restore_skill(SLUG, reason="It was fine.", by="user_1"))
    assert await listed(journey) == [("greeting", "1.0.0")]
    assert await tombstone_of(journey) is None
    with pytest.raises(IllegalTransition):
        await journey.inside(lambda: restore_skill(SLUG, reason="Again.", by="user_1"))


async def test_run_in_work_does_not_lift_a_quarantine__that_comes_before_it_ends(journey: Journey) -> None:
    await journey.publish("acme/greeting", {"SKILL.md": skill_md()})
    run = await journey.inside(lambda: rescan_skill(SLUG))
    await journey.inside(lambda: quarantine_skill(SLUG, reason="Reported.", by="user_1"))
    await journey.work()
    assert (await journey.read(run.id)).reason == "publishing_held"
    assert await listed(journey) == []


async def test_restore_is_refused__while_a_block_stands_or_every_version_is_yanked(journey: Journey) -> None:
    submission = await journey.publish("acme/greeting", {"SKILL.md": skill_md()})
    assert submission.pin is not None
    digest = submission.pin.content_digest
    await journey.inside(lambda: quarantine_skill(SLUG, reason="Reported.", by="user_1"))
    await yank(journey, "1.0.0")
    with pytest.raises(IllegalTransition, match="Every version"):
        await journey.inside(lambda: restore_skill(SLUG, reason="Fine.", by="user_1"))
    await restore(journey, "1.0.0")
    assert await listed(journey) == [], "a version that is restored does not end the quarantine"

    async def block() -> list[str]:
        return await block_and_stop(make_block(digest=digest, reason="Known bad."))

    await journey.inside(block)
    with pytest.raises(IllegalTransition, match="blocklist"):
        await journey.inside(lambda: restore_skill(SLUG, reason="Fine.", by="user_1"))


async def test_yanks_of_both_versions_at_once_leave_no_skill_behind__and_lose_neither(journey: Journey) -> None:
    await publish_two(journey)
    await asyncio.gather(yank(journey, "1.0.0"), yank(journey, "1.0.1"))
    assert await listed(journey) == []
    assert (await skill_of(journey)).skill.yanked_versions == ("1.0.1", "1.0.0")


@pytest.mark.parametrize(("slug", "version", "reason"), [(SLUG, "9.9.9", "r"), ("a/b/c", "1.0.0", "r")])
async def test_yank_says_what_is_not_there(journey: Journey, slug: str, version: str, reason: str) -> None:
    await journey.publish("acme/greeting", {"SKILL.md": skill_md()})
    with pytest.raises(NotFound):
        await journey.inside(lambda: yank_version(slug, version, reason=reason, by="user_1"))
    with pytest.raises(InvalidInput):
        await journey.inside(lambda: yank_version(SLUG, "1.0.0", reason=" ", by="user_1"))
