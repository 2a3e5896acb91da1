"""What people decide: blocks, and skills that wait for a person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from tests.pipeline.journey import Journey, skill_md
from tests.pipeline.test_turning_down import DOUBTFUL, EVIL
from vskill_platform.domain.blocklist import BlockKind, block_key
from vskill_platform.domain.content import SkillContent
from vskill_platform.domain.errors import Conflict, IllegalTransition, InvalidInput, NotFound
from vskill_platform.domain.review import Reviewer
from vskill_platform.domain.scan import ScanReport
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.pipeline.blocking import block_and_stop, make_block, unblock
from vskill_platform.pipeline.intake import Answer
from vskill_platform.pipeline.rescan import reprocess_submission, rescan_submission
from vskill_platform.pipeline.review import approve_submission, reject_submission
from vskill_platform.ports.scanner import NO_CHANGES, Scanner
from vskill_platform.stores.blocklist import list_blocks
from vskill_platform.stores.skills import enumerate_published_skills
from vskill_platform.stores.versions import get_versions

SLUG = "127-0-0-1-acme/greeting/greeting"
ADA, BEA = Reviewer("user_1", "ada"), Reviewer("user_2", "bea")


async def test_block_withdraws_what_is_published__and_unblocking_brings_it_back(journey: Journey) -> None:
    submission = await journey.publish("acme/greeting", {"SKILL.md": skill_md()})
    journey.repository("acme/other", {"SKILL.md": skill_md("other")})
    await journey.take_through("acme/other")
    url = journey.url("acme/greeting")

    async def add() -> list[str]:
        return await block_and_stop(make_block(repo_url=url, reason="Stolen."))

    stopped = await journey.inside(add)
    assert stopped == [submission.id]
    assert (await journey.read(submission.id)).state is SubmissionState.BLOCKED
    assert [skill.name for skill in await journey.inside(enumerate_published_skills)] == ["other"]
    assert (await journey.submit("acme/greeting")).answer is Answer.BLOCKED
    (entry,) = await journey.inside(list_blocks)
    assert await journey.inside(lambda: unblock(block_key(entry))) == [submission.id]
    await journey.work()
    assert (await journey.read(submission.id)).state is SubmissionState.PUBLISHED
    names = sorted(skill.name for skill in await journey.inside(enumerate_published_skills))
    assert names == ["greeting", "other"]


async def test_block_that_comes_during_a_scan_is_not_overtaken__by_the_publication(journey: Journey) -> None:
    journey.repository("acme/greeting", {"SKILL.md": skill_md()})
    racing = journey.with_env(scanner=_Blocking(journey.env.scanner))
    (submission,) = await racing.take_through("acme/greeting")
    assert submission.state is not SubmissionState.PUBLISHED
    assert await journey.inside(enumerate_published_skills) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"reason": " ", "digest": "sha256:0"},
        {"reason": "r"},
        {"reason": "r", "digest": "sha256:0", "skill_name": "x"},
        {"reason": "r", "repo_url": "nonsense"},
    ],
)
async def test_block_is_refused__when_it_says_nothing(journey: Journey, fields: dict[str, str]) -> None:
    async def make() -> object:
        return make_block(**fields)

    with pytest.raises(InvalidInput):
        await journey.inside(make)
    with pytest.raises(NotFound):
        await journey.inside(lambda: unblock("block:digest:nothing"))


async def test_person_approves_the_bytes_that_were_scanned__whatever_the_source_is_now(journey: Journey) -> None:
    repository = journey.repository("acme/greeting", {"SKILL.md": DOUBTFUL})
    (waiting,) = await journey.take_through("acme/greeting")
    repository.commit({"SKILL.md": EVIL})
    approved = await journey.inside(lambda: approve_submission(waiting.id, reason="Looked at it."))
    assert (approved.state, approved.slug, approved.version) == (SubmissionState.PUBLISHED, SLUG, "1.0.0")
    (version,) = await journey.inside(lambda: get_versions(SLUG))
    assert waiting.pin is not None
    assert (version.content_digest, version.tier) == (waiting.pin.content_digest, "CERTIFIED")
    assert "Looked at it." in (await journey.history(waiting.id))[-1].message
    with pytest.raises(IllegalTransition):
        await journey.inside(lambda: approve_submission(waiting.id, reason="Again."))


async def test_decision_of_a_person_stands_for_the_bytes__in_every_later_run(journey: Journey) -> None:
    repository = journey.repository("acme/greeting", {"SKILL.md": EVIL, "README.md": b"1"})
    (failed,) = await journey.take_through("acme/greeting")
    await journey.inside(lambda: approve_submission(failed.id, reason="A test of ours.", reviewer=ADA))
    await journey.inside(lambda: approve_submission(failed.id, reason="So it is.", reviewer=BEA))
    repository.commit({"SKILL.md": EVIL, "README.md": b"1"})
    await journey.inside(lambda: rescan_submission(failed.id))
    await journey.work()
    again = await journey.read(failed.id)
    assert (again.state, again.version) == (SubmissionState.PUBLISHED, "1.0.0")
    (version,) = await journey.inside(lambda: get_versions(SLUG))
    assert version.tier == "CERTIFIED"
    journey.repository("acme/doubt", {"SKILL.md": DOUBTFUL})
    (waiting,) = await journey.take_through("acme/doubt")
    await journey.inside(lambda: reject_submission(waiting.id, reason="Not here."))
    await journey.inside(lambda: reprocess_submission(waiting.id))
    await journey.work()
    rejected = await journey.read(waiting.id)
    assert (rejected.state, rejected.reason) == (SubmissionState.REJECTED, "review_rejected")


async def test_block_finds_what_is_published__though_the_last_run_was_about_something_else(journey: Journey) -> None:
    repository = journey.repository("acme/greeting", {"SKILL.md": skill_md("Greeting Card")})
    (published,) = await journey.take_through("acme/greeting")
    assert published.pin is not None
    repository.commit({"SKILL.md": DOUBTFUL})
    await journey.take_through("acme/greeting")

    async def add() -> list[str]:
        assert published.pin is not None
        return await block_and_stop(make_block(digest=published.pin.content_digest, reason="Known bad."))

    assert await journey.inside(add) == [published.id]
    assert await journey.inside(enumerate_published_skills) == []


async def test_person_rejects__and_only_another_source_is_looked_at_again(journey: Journey) -> None:
    repository = journey.repository("acme/greeting", {"SKILL.md": DOUBTFUL})
    (waiting,) = await journey.take_through("acme/greeting")
    with pytest.raises(InvalidInput):
        await journey.inside(lambda: reject_submission(waiting.id, reason=""))
    await journey.inside(lambda: reject_submission(waiting.id, reason="Not here."))
    assert (await journey.submit("acme/greeting", skill="greeting")).answer is Answer.REJECTED
    assert (await journey.submit("acme/greeting")).answer is Answer.REJECTED
    repository.commit({"SKILL.md": skill_md()})
    (again,) = await journey.take_through("acme/greeting")
    assert (again.id, again.state) == (waiting.id, SubmissionState.PUBLISHED)


async def test_approval_is_refused__while_a_block_stands_or_nothing_was_scanned(journey: Journey) -> None:
    journey.repository("acme/greeting", {"SKILL.md": DOUBTFUL})
    (waiting,) = await journey.take_through("acme/greeting")
    journey.repository("acme/empty", {"README.md": b"x"})
    (empty,) = await journey.take_through("acme/empty")
    with pytest.raises(IllegalTransition):
        await journey.inside(lambda: approve_submission(empty.id, reason="Why not."))

    async def add() -> list[str]:
        return await block_and_stop(make_block(skill_name="greeting", reason="Taken."))

    await journey.inside(add)
    with pytest.raises((Conflict, IllegalTransition)):
        await journey.inside(lambda: approve_submission(waiting.id, reason="Why not."))


@dataclass
class _Blocking:
    """The real scanner, while a person blocks what it looks at."""

    scanner: Scanner

    async def scan(self, content: SkillContent, *, changes: Mapping[str, str] = NO_CHANGES) -> ScanReport:
        report = await self.scanner.scan(content, changes=changes)
        block = make_block(digest=report.content_digest, reason="Known bad.")
        assert block.kind is BlockKind.DIGEST
        await block_and_stop(block)
        return report
