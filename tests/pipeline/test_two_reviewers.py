"""What has a critical finding is published only when two different people have approved the same bytes in the same run."""

from __future__ import annotations

import asyncio

import pytest

from tests.pipeline.journey import Journey
from tests.pipeline.test_turning_down import DOUBTFUL, EVIL
from vskill_platform.domain.errors import Conflict, IllegalTransition, SecondReviewerNeeded
from vskill_platform.domain.records import Submission
from vskill_platform.domain.review import OPERATOR_REVIEWER, Reviewer, standing_approval
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.pipeline.intake import Answer
from vskill_platform.pipeline.rescan import reprocess_submission
from vskill_platform.pipeline.review import approve_submission, reject_submission

ADA, BEA = Reviewer("user_1", "ada"), Reviewer("user_2", "bea")
pytestmark = pytest.mark.parametrize("engine", ["memory"], indirect=True)


async def fail(journey: Journey) -> Submission:
    """A submission with a critical finding."""
    journey.repository("acme/greeting", {"SKILL.md": EVIL})
    (failed,) = await journey.take_through("acme/greeting")
    assert failed.state is SubmissionState.TIER1_FAILED
    return failed


async def approve(journey: Journey, submission: Submission, reviewer: Reviewer) -> Submission:
    return await journey.inside(lambda: approve_submission(submission.id, reason="A test.", reviewer=reviewer))


async def test_first_approval_waits_on_the_desk__and_the_second_publishes(journey: Journey) -> None:
    failed = await fail(journey)
    waiting = await approve(journey, failed, ADA)
    assert (waiting.state, waiting.reason) == (SubmissionState.NEEDS_REVIEW, "second_review")
    first = standing_approval(await journey.read(failed.id))
    assert first is not None
    assert (first.by, first.name, first.reason, first.run) == ("user_1", "ada", "A test.", failed.run)
    with pytest.raises(SecondReviewerNeeded, match="another reviewer"):
        await approve(journey, failed, ADA)
    assert (await approve(journey, failed, BEA)).state is SubmissionState.PUBLISHED


async def test_operator_is_one_person__however_often_he_comes(journey: Journey) -> None:
    failed = await fail(journey)
    await approve(journey, failed, OPERATOR_REVIEWER)
    with pytest.raises(SecondReviewerNeeded):
        await journey.inside(lambda: approve_submission(failed.id, reason="Again."))
    assert (await journey.read(failed.id)).state is SubmissionState.NEEDS_REVIEW


async def test_two_approvals_at_once_are_not_one__and_one_of_them_comes_first(journey: Journey) -> None:
    failed = await fail(journey)
    outcomes = await asyncio.gather(
        approve(journey, failed, ADA), approve(journey, failed, BEA), return_exceptions=True
    )
    assert [type(outcome) for outcome in outcomes].count(Conflict) == 1
    assert (await journey.read(failed.id)).state is SubmissionState.NEEDS_REVIEW


async def test_new_run_makes_the_first_approval_void__also_of_the_same_bytes(journey: Journey) -> None:
    failed = await fail(journey)
    await approve(journey, failed, ADA)
    await journey.inside(lambda: reprocess_submission(failed.id))
    await journey.work()
    again = await journey.read(failed.id)
    assert (again.run, again.state, again.first_approval) == (failed.run + 1, SubmissionState.TIER1_FAILED, None)
    assert (await approve(journey, failed, BEA)).state is SubmissionState.NEEDS_REVIEW


async def test_one_reviewer_rejects__what_another_has_approved(journey: Journey) -> None:
    failed = await fail(journey)
    await approve(journey, failed, ADA)
    rejected = await journey.inside(lambda: reject_submission(failed.id, reason="No."))
    assert (rejected.state, rejected.first_approval) == (SubmissionState.REJECTED, None)
    assert (await journey.submit("acme/greeting")).answer is Answer.REJECTED
    assert (await approve(journey, failed, ADA)).state is SubmissionState.NEEDS_REVIEW, "it begins anew"


async def test_one_reviewer_is_enough__where_nothing_is_critical(journey: Journey) -> None:
    journey.repository("acme/greeting", {"SKILL.md": DOUBTFUL})
    (waiting,) = await journey.take_through("acme/greeting")
    assert (await approve(journey, waiting, ADA)).state is SubmissionState.PUBLISHED
    with pytest.raises(IllegalTransition):
        await approve(journey, waiting, BEA)
