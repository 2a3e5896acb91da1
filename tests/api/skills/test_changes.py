"""Following the registry: nothing is missed between two questions, whatever happens in between."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from tests.api.skills.registry import OWNER, SKILLS, SLUG, Registry
from tests.pipeline.journey import skill_md
from vskill_platform.domain.skill import Skill
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.pipeline.blocking import block_and_stop, make_block
from vskill_platform.ports.commit import Emit
from vskill_platform.stores.skills import find_skill, putting_published, renaming_away, withdrawing

pytestmark = pytest.mark.asyncio(loop_scope="package")
LONG_AGO = "2020-01-01T00:00:00Z"


class Mirror:
    """A client that keeps a copy of the registry by asking what changed."""

    def __init__(self, registry: Registry, *, limit: int = 50) -> None:
        self._registry = registry
        self._limit = limit
        self._until = LONG_AGO
        self.skills: dict[str, str] = {}
        self.gone: dict[str, dict[str, Any]] = {}

    async def follow(self) -> None:
        """Ask until there is no more."""
        while await self.ask():
            pass

    async def ask(self) -> bool:
        """Ask once. Says whether there is more."""
        answer = await self._registry.read(SKILLS, updatedSince=self._until, limit=self._limit)
        for tombstone in answer["tombstones"]:
            self.skills.pop(tombstone["slug"], None)
            self.gone[tombstone["slug"]] = tombstone
        self.skills.update({skill["slug"]: skill["version"] for skill in answer["skills"]})
        self._until = answer["until"]
        return bool(answer["hasMore"])


async def test_mirror_has_what_the_registry_has__through_publishing_renaming_and_withdrawing(
    registry: Registry,
) -> None:
    mirror = Mirror(registry)
    await registry.journey.publish("acme/greeting", {"SKILL.md": skill_md()})
    await mirror.follow()
    assert mirror.skills == {SLUG: "1.0.0"}
    await registry.update("acme/greeting", {"SKILL.md": skill_md(body="Wave.")})
    await mirror.follow()
    assert mirror.skills == {SLUG: "1.0.1"}
    await registry.update("acme/greeting", {"SKILL.md": skill_md("welcome")})
    await mirror.follow()
    welcome = f"{OWNER}/greeting/welcome"
    assert mirror.skills == {welcome: "1.0.2"}
    assert (mirror.gone[SLUG]["kind"], mirror.gone[SLUG]["to"]) == ("renamed", welcome)
    block = make_block
    await registry.journey.inside(lambda: block_and_stop(block(skill_name="welcome", reason="It phones home.")))
    await mirror.follow()
    assert mirror.skills == {}
    assert (mirror.gone[welcome]["kind"], mirror.gone[welcome]["reason"]) == ("withdrawn", "It phones home.")
    late = Mirror(registry)
    await late.follow()
    assert (late.skills, sorted(late.gone)) == ({}, sorted([SLUG, welcome]))


async def test_mirror_misses_nothing__when_the_log_was_trimmed_between_two_questions(registry: Registry) -> None:
    mirror = Mirror(registry, limit=3)
    await _publish(registry, *(f"acme/many/s{number}" for number in range(10)), late_ms=3 * 86_400_000)
    await mirror.follow()
    assert len(mirror.skills) == 10
    await _publish(registry, "acme/many/late")
    await _withdraw(registry, "acme/many/s3")
    await _rename(registry, "acme/many/s4", "acme/many/moved")
    env = registry.journey.env
    await env.writes.commit([Emit("submission.created", "sub_x", b"{}")])
    assert await env.events.trim(before_ms=env.clock.now_ms() + 60_000) > 0
    await mirror.follow()
    assert sorted(mirror.skills) == sorted(
        [*(f"acme/many/s{number}" for number in range(10) if number not in (3, 4)), "acme/many/late", "acme/many/moved"]
    )


async def test_mirror_misses_nothing__when_much_changes_behind_the_place_it_has_come_to(registry: Registry) -> None:
    mirror = Mirror(registry, limit=3)
    await _publish(registry, *(f"acme/many/s{number}" for number in range(9)))
    while "acme/many/s2" not in mirror.skills:
        assert await mirror.ask()
    await _withdraw(registry, "acme/many/s0")
    await _rename(registry, "acme/many/s1", "acme/many/a-first")
    await _publish(registry, "acme/many/b-second")
    await _withdraw(registry, "acme/many/s8")
    await mirror.follow()
    kept = [f"acme/many/s{number}" for number in range(2, 8)]
    assert sorted(mirror.skills) == ["acme/many/a-first", "acme/many/b-second", *kept]


async def test_mirror_misses_nothing__while_others_publish_and_withdraw_with_clocks_that_are_late(
    registry: Registry,
) -> None:
    """The records hold times that lie in the past, so whoever goes by times misses them."""
    mirror, wanted = Mirror(registry, limit=5), set()
    rounds = 40

    async def change(number: int) -> None:
        slug = f"acme/many/s{number % 13}"
        found = await registry.journey.inside(lambda: find_skill(slug))
        if found is None or found.is_withdrawn:
            await _publish(registry, slug, late_ms=number * 1000)
        else:
            await _withdraw(registry, slug)

    async def change_all() -> None:
        for number in range(rounds):
            await change(number * 7)

    changing = asyncio.create_task(change_all())
    while not changing.done():
        await mirror.follow()
    await changing
    await mirror.follow()
    listed = await registry.read(SKILLS, limit=500)
    wanted = {skill["slug"] for skill in listed["skills"]}
    assert set(mirror.skills) == wanted
    assert wanted


async def test_export_has_every_skill__and_goes_on_with_changes(registry: Registry) -> None:
    slugs = [f"acme/many/s{number:03d}" for number in range(120)]
    await _publish(registry, *slugs)
    answer = await registry.get("/api/v1/export/skills.ndjson")
    assert answer.headers["Content-Type"].startswith("application/x-ndjson")
    lines = [msgspec.json.decode(line) for line in answer.content.splitlines()]
    assert [line["slug"] for line in lines] == slugs
    await _publish(registry, "acme/many/after")
    changes = await registry.read(SKILLS, updatedSince=answer.headers["X-Until"])
    assert ([skill["slug"] for skill in changes["skills"]], changes["hasMore"]) == (["acme/many/after"], False)


async def _publish(registry: Registry, *slugs: str, late_ms: int = 0) -> None:
    now = iso_from_ms(registry.journey.env.clock.now_ms() - late_ms)

    async def publish(slug: str) -> None:
        skill = Skill(slug=slug, name=slug, version="1.0.0", updated_at=now, published_at=now, publisher="acme")
        operations = putting_published(skill, found=await find_skill(slug))
        await registry.journey.env.writes.commit([*operations, Emit("skill.published", slug, b"{}")])

    for slug in slugs:
        await registry.journey.inside(lambda slug=slug: publish(slug))  # type: ignore[misc]


async def _withdraw(registry: Registry, slug: str) -> None:
    async def withdraw() -> None:
        found = await find_skill(slug)
        assert found is not None
        await registry.journey.env.writes.commit(withdrawing(found, reason="Gone."))

    await registry.journey.inside(withdraw)


async def _rename(registry: Registry, slug: str, to_slug: str) -> None:
    """As the migration of slugs does: the record's times stay as they were."""

    async def rename() -> None:
        found = await find_skill(slug)
        assert found is not None
        moved = msgspec.structs.replace(found.skill, slug=to_slug)
        operations = [*putting_published(moved, found=None), *renaming_away(found, to_slug=to_slug)]
        await registry.journey.env.writes.commit(operations)

    await registry.journey.inside(rename)
