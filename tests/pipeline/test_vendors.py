"""Trusted vendors: scanned like everybody, and certified where they pass."""

from __future__ import annotations

import pytest

from tests.pipeline.journey import Journey, skill_md
from tests.pipeline.test_turning_down import DOUBTFUL, EVIL
from vskill_platform.domain.errors import Conflict, InvalidInput, NotFound
from vskill_platform.domain.repository import repository_identity
from vskill_platform.domain.submission import SubmissionState, Trigger
from vskill_platform.domain.vendor import read_source, sources_of
from vskill_platform.pipeline.rescan import rescan_skill
from vskill_platform.stores.skills import find_skill
from vskill_platform.stores.vendors import add_vendor, find_vendor, list_vendors, remove_vendor

SLUG = "127-0-0-1-acme/greeting/greeting"
in_memory = pytest.mark.parametrize("engine", ["memory"], indirect=True)


async def trust(journey: Journey, name: str) -> str:
    source = repository_identity(journey.url(name))
    await journey.inside(lambda: add_vendor(source, reason="Known to us.", by="user_1"))
    return source


async def tier_of(journey: Journey, slug: str) -> str:
    found = await journey.inside(lambda: find_skill(slug))
    assert found is not None
    return found.skill.tier.value


@in_memory
async def test_vendor_is_certified_by_a_pass__and_by_nothing_else(journey: Journey) -> None:
    source = await trust(journey, "acme")
    published = await journey.publish("acme/greeting", {"SKILL.md": skill_md()})
    steps = [(entry.state, entry.trigger) for entry in await journey.history(published.id)]
    assert (SubmissionState.VENDOR_APPROVED, Trigger.VENDOR_TRUSTED) in steps
    assert await tier_of(journey, SLUG) == "CERTIFIED"
    journey.repository("acme/doubt", {"SKILL.md": DOUBTFUL})
    journey.repository("acme/evil", {"SKILL.md": EVIL})
    (doubtful,), (evil,) = await journey.take_through("acme/doubt"), await journey.take_through("acme/evil")
    assert (doubtful.state, evil.state) == (SubmissionState.NEEDS_REVIEW, SubmissionState.TIER1_FAILED)
    await journey.publish("other/greeting", {"SKILL.md": skill_md()})
    assert await tier_of(journey, "127-0-0-1-other/greeting/greeting") == "SCANNED"
    assert [vendor.source for vendor in await journey.inside(list_vendors)] == [source]


@in_memory
async def test_vendor_that_is_trusted_no_more_keeps_what_it_has__until_it_is_scanned_again(journey: Journey) -> None:
    source = await trust(journey, "acme/greeting")
    await journey.publish("acme/greeting", {"SKILL.md": skill_md()})
    with pytest.raises(Conflict):
        await journey.inside(lambda: add_vendor(source, reason="Twice.", by="user_1"))
    await journey.inside(lambda: remove_vendor(source))
    assert await tier_of(journey, SLUG) == "CERTIFIED"
    assert await journey.inside(lambda: find_vendor(journey.url("acme/greeting"))) is None
    with pytest.raises(NotFound):
        await journey.inside(lambda: remove_vendor(source))
    await journey.inside(lambda: rescan_skill(SLUG))
    await journey.work()
    assert await tier_of(journey, SLUG) == "SCANNED"


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("github.com/anthropics", "github.com/anthropics"),
        (" https://GitHub.com/Anthropics/ ", "github.com/anthropics"),
        ("https://github.com/anthropics/skills.git", "github.com/anthropics/skills"),
        ("gitlab.com/a/b/c", "gitlab.com/a/b/c"),
    ],
)
def test_source_has_one_form(text: str, source: str) -> None:
    assert read_source(text) == source


@pytest.mark.parametrize(
    "text", ["", "github.com", "github.com/", "/anthropics", "github.com//x", "a b/c", "x/*", "a@b/c"]
)
def test_source_is_refused__when_it_would_trust_a_whole_host_or_is_none(text: str) -> None:
    with pytest.raises(InvalidInput):
        read_source(text)


def test_repository_belongs_to_itself_and_every_owner_above__never_to_the_host_or_a_namesake() -> None:
    sources = sources_of("https://gitlab.com/acme/tools/skills")
    assert sources == ["gitlab.com/acme/tools/skills", "gitlab.com/acme/tools", "gitlab.com/acme"]
    assert "github.com/anthropics" not in sources_of("https://github.com/anthropics-evil/skills")
