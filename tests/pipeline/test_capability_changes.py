"""A new version is compared with the one before, in the commit that publishes it, and its gains are told."""

from __future__ import annotations

import msgspec
from structlog.testing import capture_logs

from tests.pipeline.journey import Journey, skill_md
from vskill_platform.domain.ids import version_key
from vskill_platform.domain.records import Submission
from vskill_platform.domain.scan import Capabilities
from vskill_platform.domain.skill import SkillVersion
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.pipeline.rescan import rescan_skill
from vskill_platform.ports.commit import Put
from vskill_platform.stores.versions import get_version, get_versions
from vskill_platform.web.api.submissions import view_submission

SLUG = "127-0-0-1-acme/greeting/greeting"
FIRST = skill_md(body="Read https://docs.acme.example/greetings first.")
SECOND = skill_md(body="Read https://api.acme.example/greetings first.\n\n```bash\nfiglet hello\n```")


async def publish_both(journey: Journey) -> Submission:
    """The first version and then the second."""
    repository = journey.repository("acme/greeting", {"SKILL.md": FIRST})
    await journey.take_through("acme/greeting")
    repository.commit({"SKILL.md": SECOND})
    (submission,) = await journey.take_through("acme/greeting")
    assert (submission.state, submission.version) == (SubmissionState.PUBLISHED, "1.0.1")
    return submission


async def versions_of(journey: Journey) -> list[SkillVersion]:
    """The newest first."""
    return await journey.inside(lambda: get_versions(SLUG))


async def test_new_version_has_what_it_gained_and_lost__and_the_first_has_nothing_to_compare(journey: Journey) -> None:
    await publish_both(journey)
    second, first = await versions_of(journey)
    assert first.capability_changes is None
    changes = second.capability_changes
    assert changes is not None
    assert (changes.since, changes.has_same_rules) == ("1.0.0", True)
    assert changes.added == Capabilities(network_hosts=("api.acme.example",), commands=("figlet",))
    assert changes.removed == Capabilities(network_hosts=("docs.acme.example",))


async def test_gains_are_in_history_log_and_event__when_a_version_is_published(journey: Journey) -> None:
    with capture_logs() as logs:
        submission = await publish_both(journey)
    (entry,) = [entry for entry in logs if entry["event"] == "capabilities_gained"]
    assert (entry["slug"], entry["version"], entry["since"]) == (SLUG, "1.0.1", "1.0.0")
    assert (entry["network_hosts"], entry["commands"]) == (["api.acme.example"], ["figlet"])
    last = (await journey.history(submission.id))[-1]
    assert last.message == (f"Published as {SLUG} 1.0.1. Unlike 1.0.0, it reaches api.acme.example; runs figlet.")
    events = (await journey.env.events.read(0)).events
    told = [msgspec.json.decode(event.data) for event in events if event.kind == "skill.published"]
    assert [data.get("gained") for data in told] == [None, {"network_hosts": 1, "commands": 1}]


async def test_gains_decide_nothing__and_a_view_of_the_submission_has_them(journey: Journey) -> None:
    submission = await publish_both(journey)
    view = await journey.inside(lambda: view_submission(submission.id))
    assert (view.state, view.reason) == (SubmissionState.PUBLISHED, None)
    assert view.capability_changes is not None
    assert view.capability_changes.gained == {"network_hosts": ("api.acme.example",), "commands": ("figlet",)}


async def test_rescan_keeps_what_was_said_when_the_version_came(journey: Journey) -> None:
    submission = await publish_both(journey)
    before = (await versions_of(journey))[0].capability_changes
    with capture_logs() as logs:
        await journey.inside(lambda: rescan_skill(SLUG))
        await journey.work()
    second, _ = await versions_of(journey)
    assert second.run == 3
    assert second.capability_changes == before
    assert [entry for entry in logs if entry["event"] == "capabilities_gained"] == []
    assert (await journey.history(submission.id))[-1].message == f"Its bytes are published already as {SLUG} 1.0.1."


async def test_version_by_other_rules_is_compared_with_a_doubt(journey: Journey) -> None:
    repository = journey.repository("acme/greeting", {"SKILL.md": FIRST})
    await journey.take_through("acme/greeting")
    (first,) = await versions_of(journey)
    older = msgspec.structs.replace(first, ruleset_version="2026.01+00000000")
    await journey.env.writes.commit([Put(version_key(SLUG, "1.0.0"), msgspec.json.encode(older))])
    repository.commit({"SKILL.md": SECOND})
    await journey.take_through("acme/greeting")
    changes = (await versions_of(journey))[0].capability_changes
    assert changes is not None
    assert not changes.has_same_rules


async def test_version_from_before_comparisons_is_read__and_the_next_is_compared_with_it(journey: Journey) -> None:
    repository = journey.repository("acme/greeting", {"SKILL.md": FIRST})
    await journey.take_through("acme/greeting")
    key = version_key(SLUG, "1.0.0")
    entry = await journey.env.kv.get(key)
    assert entry is not None
    record = msgspec.json.decode(entry.value)
    del record["capabilityChanges"]
    del record["capabilities"]["secrets"]
    await journey.env.writes.commit([Put(key, msgspec.json.encode(record))])
    assert (await journey.inside(lambda: get_version(SLUG, "1.0.0"))) is not None
    repository.commit({"SKILL.md": SECOND})
    await journey.take_through("acme/greeting")
    changes = (await versions_of(journey))[0].capability_changes
    assert changes is not None
    assert changes.added.commands == ("figlet",)
