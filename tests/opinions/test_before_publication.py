"""External scans of what is not published yet: the submission waits, and what the scanners say decides."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from tests.opinions.scanners import WordScanner
from tests.opinions.test_after_publication import BAD, GOOD, SLUG, S, in_memory
from tests.pipeline.journey import Journey
from tests.pipeline.test_turning_down import DOUBTFUL
from vskill_platform.domain.external_scan import ExternalReport
from vskill_platform.domain.ids import CommitId, MessageId
from vskill_platform.domain.messages import EXTERNAL_SCANS_QUEUE
from vskill_platform.domain.records import Submission
from vskill_platform.domain.recovery import STUCK_THRESHOLD_MS, MessageStatus
from vskill_platform.domain.submission import SubmissionState, Trigger
from vskill_platform.pipeline.opinion_results import settle_scan
from vskill_platform.pipeline.reaping import reap_external_scans
from vskill_platform.pipeline.rescan import reprocess_submission
from vskill_platform.pipeline.review import approve_submission
from vskill_platform.ports.commit import Bury, Commit, Committed, Operation
from vskill_platform.settings import Settings
from vskill_platform.stores.external_scans import FoundScan, find_external_scan, get_external_scan, list_external_scans
from vskill_platform.stores.reports import list_reports
from vskill_platform.testing.clock import FakeClock
from vskill_platform.worker.recovery import sweep_stuck_submissions

BEFORE: dict[str, object] = {"external_scanners": "words,more", "external_scans_when": "before"}
W = SubmissionState


@pytest.fixture
def settings() -> dict[str, object]:
    return BEFORE


async def submit(journey: Journey, files: dict[str, bytes]) -> Submission:
    """The submission of a repository's one skill, as far as it comes without external scans."""
    journey.repository("acme/greeting", files)
    (submission,) = await journey.take_through("acme/greeting")
    return submission


async def message_status(journey: Journey, submission: Submission) -> MessageStatus:
    identity = MessageId(submission.message_id or "")
    return (await journey.env.queue.find([identity]))[identity].status


def patient(journey: Journey, **settings: object) -> Journey:
    """The same registry with other settings."""
    before = journey.env.settings
    values = {name: getattr(before, name) for name in Settings.__struct_fields__}
    return journey.with_env(settings=Settings(**{**values, **settings}))


async def test_submission_waits_for_its_scanners__and_is_published_when_all_pass(journey: Journey) -> None:
    waiting = await submit(journey, GOOD)
    assert (waiting.state, waiting.slug, waiting.claim) == (W.TIER2_SCANNING, None, None)
    assert await message_status(journey, waiting) is MessageStatus.DELAYED
    assert await journey.work_externally() == 2
    assert await journey.work() == 1
    published = await journey.read(waiting.id)
    assert (published.state, published.run, published.slug) == (W.PUBLISHED, 1, SLUG)
    scan = await journey.inside(lambda: get_external_scan(SLUG, "words"))
    assert scan is not None
    assert (scan.status, scan.slug, scan.content_digest) == (
        S.PASS,
        SLUG,
        published.pin and published.pin.content_digest,
    )
    assert await journey.work_externally() == 0
    steps = [entry.trigger for entry in await journey.history(waiting.id)]
    assert steps.count(Trigger.TIER1_PASSED) == 1


@in_memory
async def test_objection_needs_a_person__and_their_approval_publishes_with_it_in_view(journey: Journey) -> None:
    waiting = await submit(journey, BAD)
    await journey.work_externally()
    await journey.work()
    held = await journey.read(waiting.id)
    assert (held.state, held.reason) == (W.NEEDS_REVIEW, "external_scan_failed")
    assert await journey.inside(list_reports) == []
    await journey.inside(lambda: approve_submission(held.id, reason="It is a fruit."))
    scan = await journey.inside(lambda: get_external_scan(SLUG, "words"))
    assert scan is not None
    assert scan.status is S.FAIL
    assert await journey.work_externally() == 0


@in_memory
async def test_scanner_that_comes_to_no_result_needs_a_person(journey: Journey, more: WordScanner) -> None:
    more.breaks = True
    waiting = await submit(journey, GOOD)
    await journey.work_externally()
    await journey.work()
    held = await journey.read(waiting.id)
    assert (held.state, held.reason) == (W.NEEDS_REVIEW, "external_scan_incomplete")


@in_memory
async def test_submission_that_waited_long_enough_needs_a_person__and_late_answers_are_kept_for_them(
    journey: Journey,
) -> None:
    waiting = await submit(journey, BAD)
    assert waiting.message_id is not None
    await journey.env.queue.requeue([MessageId(waiting.message_id)])
    assert await journey.work() == 1
    again = await journey.read(waiting.id)
    assert (again.state, await message_status(journey, again)) == (W.TIER2_SCANNING, MessageStatus.DELAYED)
    hasty = patient(journey, external_scans_wait_s=0.001)
    await journey.env.queue.requeue([MessageId(waiting.message_id)])
    await hasty.work()
    held = await journey.read(waiting.id)
    assert (held.state, held.reason) == (W.NEEDS_REVIEW, "external_scans_late")
    await journey.work_externally()
    assert await journey.work() == 0
    assert [scan.status for scan in await journey.inside(lambda: list_external_scans(waiting.id))] == [S.FAIL, S.FAIL]
    assert (await journey.read(waiting.id)).state is W.NEEDS_REVIEW


@in_memory
async def test_doubtful_skill_is_scanned_for_its_reviewer__who_need_not_wait(journey: Journey) -> None:
    journey.repository("acme/doubt", {"SKILL.md": DOUBTFUL})
    (doubtful,) = await journey.take_through("acme/doubt")
    assert (doubtful.state, doubtful.reason) == (W.NEEDS_REVIEW, "concerns")
    await journey.work_externally()
    assert [scan.status for scan in await journey.inside(lambda: list_external_scans(doubtful.id))] == [S.PASS, S.PASS]
    assert (await journey.read(doubtful.id)).state is W.NEEDS_REVIEW


@in_memory
async def test_what_a_person_has_approved_waits_for_nobody(journey: Journey) -> None:
    waiting = await submit(journey, BAD)
    await journey.work_externally()
    await journey.work()
    await journey.inside(lambda: approve_submission(waiting.id, reason="Fine."))
    await journey.inside(lambda: reprocess_submission(waiting.id))
    await journey.work()
    assert (await journey.read(waiting.id)).state is W.PUBLISHED


@in_memory
async def test_newer_run_makes_the_older_requests_stale(journey: Journey, words: WordScanner) -> None:
    repository = journey.repository("acme/greeting", BAD)
    (waiting,) = await journey.take_through("acme/greeting")
    repository.commit(GOOD)
    await journey.take_through("acme/greeting")
    newer = await journey.read(waiting.id)
    assert (newer.state, newer.run) == (W.TIER2_SCANNING, 2)
    await journey.work_externally()
    await journey.work()
    assert (await journey.read(waiting.id)).state is W.PUBLISHED
    assert len(words.seen) == 1
    assert newer.pin is not None
    assert words.seen == [newer.pin.content_digest]


class Meeting:
    """Writes whose first two commits are held until both are there, so that each was prepared without the other."""

    def __init__(self, inner: Commit) -> None:
        self._inner, self._came, self._both = inner, 0, asyncio.Event()

    async def commit(self, operations: Sequence[Operation], *, id: CommitId | None = None) -> Committed:
        """Commit, once both are there."""
        self._came += 1
        if self._came >= 2:
            self._both.set()
        await self._both.wait()
        return await self._inner.commit(operations, id=id)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


async def test_two_last_answers_at_the_same_moment_wake_the_submission(journey: Journey) -> None:
    waiting = await submit(journey, GOOD)

    async def settle(provider: str) -> None:
        async def find() -> FoundScan:
            found = await find_external_scan(waiting.id, provider)
            assert found is not None
            return found

        await settle_scan(find, ExternalReport(provider=provider, status=S.PASS, score=100))

    meeting = journey.with_env(writes=Meeting(journey.env.writes))
    await meeting.inside(lambda: asyncio.gather(settle("words"), settle("more")))
    assert await message_status(journey, waiting) is MessageStatus.WAITING
    await journey.work()
    assert (await journey.read(waiting.id)).state is W.PUBLISHED


async def test_sweep_leaves_a_submission_alone__while_it_waits_for_scanners(journey: Journey) -> None:
    waiting = await submit(journey, GOOD)
    later = journey.with_env(clock=FakeClock(waiting.updated_ms + STUCK_THRESHOLD_MS + 1))
    swept = await later.inside(sweep_stuck_submissions)
    assert (swept.examined, swept.left, swept.requeued) == (1, 1, 0)
    assert waiting.message_id is not None
    await journey.env.queue.drop([MessageId(waiting.message_id)], reason="lost")
    assert (await later.inside(sweep_stuck_submissions)).requeued == 1
    await journey.work()
    assert (await journey.read(waiting.id)).state is W.TIER2_SCANNING
    await journey.work_externally()
    await journey.work()
    assert (await journey.read(waiting.id)).state is W.PUBLISHED


@in_memory
async def test_request_that_is_given_up_wakes_the_submission(journey: Journey) -> None:
    waiting = await submit(journey, GOOD)
    messages = await journey.env.queue.receive(EXTERNAL_SCANS_QUEUE, max_messages=2, lease_s=60)
    await journey.env.writes.commit([Bury(message.lease, "killed") for message in messages])
    await journey.inside(reap_external_scans)
    await journey.work()
    held = await journey.read(waiting.id)
    assert (held.state, held.reason) == (W.NEEDS_REVIEW, "external_scan_incomplete")
