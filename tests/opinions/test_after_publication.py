"""External scans of what is published already: asked for by the commit that publishes."""

from __future__ import annotations

import msgspec
import pytest

from tests.opinions.scanners import BAD_WORD, WordScanner
from tests.pipeline.journey import Journey, skill_md
from vskill_platform.domain.external_scan import ExternalScanStatus
from vskill_platform.domain.messages import EXTERNAL_SCANS_QUEUE
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.domain.report import ReportReason, ReportStatus
from vskill_platform.pipeline.reaping import reap_external_scans
from vskill_platform.pipeline.rescan import rescan_skill
from vskill_platform.ports.commit import Bury, Put, Release
from vskill_platform.stores.external_scans import ExternalScan, get_external_scan, iter_open, list_external_scans
from vskill_platform.stores.reports import list_reports

SLUG = "127-0-0-1-acme/greeting/greeting"
GOOD = {"SKILL.md": skill_md()}
BAD = {"SKILL.md": skill_md(body=f"Talk about a {BAD_WORD}.")}
in_memory = pytest.mark.parametrize("engine", ["memory"], indirect=True)
S = ExternalScanStatus


async def scan_of(journey: Journey, provider: str = "words") -> ExternalScan:
    scan = await journey.inside(lambda: get_external_scan(SLUG, provider))
    assert scan is not None
    return scan


async def open_requests(journey: Journey) -> list[str]:
    async def read() -> list[str]:
        return [provider async for provider, _ in iter_open()]

    return await journey.inside(read)


async def test_published_skill_is_handed_to_every_scanner__in_the_commit_that_publishes(
    journey: Journey, words: WordScanner
) -> None:
    published = await journey.publish("acme/greeting", GOOD)
    assert published.pin is not None
    waiting = await scan_of(journey)
    assert (waiting.status, waiting.run, waiting.submission_id) == (S.PENDING, published.run, published.id)
    assert waiting.pin == published.pin
    assert sorted(await open_requests(journey)) == ["more", "words"]
    assert await journey.work_externally() == 2
    assert words.seen == [published.pin.content_digest]
    ended = await scan_of(journey)
    assert (ended.status, ended.score, ended.provider_version, ended.worker) == (S.PASS, 100, "1.0", "local")
    assert None not in (ended.started_at, ended.completed_at)
    assert await open_requests(journey) == []
    assert (await journey.env.queue.stats(EXTERNAL_SCANS_QUEUE))[:4] == (0, 0, 0, 0)
    changes = [kind for kind, subject in await journey.events() if subject == SLUG]
    assert changes.count("external_scan.changed") == 6


async def test_objection_opens_one_report_for_each_scanner__however_often_the_bytes_are_scanned(
    journey: Journey,
) -> None:
    await journey.publish("acme/greeting", BAD)
    await journey.work_externally()
    assert (await scan_of(journey)).status is S.FAIL
    first = await journey.inside(list_reports)
    await journey.inside(lambda: rescan_skill(SLUG))
    await journey.work()
    await journey.work_externally()
    assert (await scan_of(journey)).run == 2
    reports = await journey.inside(list_reports)
    assert sorted(reports, key=lambda report: report.id) == sorted(first, key=lambda report: report.id)
    assert {report.provider for report in reports} == {"words", "more"}
    assert {(report.subject, report.reason, report.status) for report in reports} == {
        (SLUG, ReportReason.EXTERNAL_SCAN, ReportStatus.OPEN)
    }
    assert "word in SKILL.md:8" in reports[0].text


@in_memory
async def test_newer_version_makes_an_older_request_stale__and_its_answer_is_never_shown_for_other_bytes(
    journey: Journey, words: WordScanner
) -> None:
    repository = journey.repository("acme/greeting", BAD)
    await journey.take_through("acme/greeting")
    older = await journey.env.queue.receive(EXTERNAL_SCANS_QUEUE, max_messages=2, lease_s=60)
    repository.commit(GOOD)
    await journey.take_through("acme/greeting")
    now = await scan_of(journey)
    await journey.env.writes.commit([Release(message.lease) for message in older])
    assert await journey.work_externally() == 4
    published = await scan_of(journey)
    assert (published.status, published.findings) == (S.PASS, ())
    assert words.seen == [now.content_digest]
    assert await journey.inside(list_reports) == []


@in_memory
async def test_scanner_that_cannot_run_says_why__and_never_passes(
    journey: Journey, words: WordScanner, more: WordScanner
) -> None:
    words.unavailable, more.breaks = "It is not installed.", True
    await journey.publish("acme/greeting", GOOD)
    await journey.work_externally()
    first, second = await scan_of(journey), await scan_of(journey, "more")
    assert (first.status, first.summary, first.score) == (S.ERROR, "It is not installed.", None)
    assert (second.status, second.summary) == (S.ERROR, "The scanner broke: RuntimeError.")
    assert await open_requests(journey) == []


@in_memory
async def test_scanner_that_no_worker_has_is_an_error(journey: Journey) -> None:
    bare = journey.with_env(external={})
    await bare.publish("acme/greeting", GOOD)
    await bare.work_externally()
    assert "no scanner 'words'" in (await scan_of(bare)).summary


@in_memory
async def test_bytes_that_are_gone_are_an_error(journey: Journey) -> None:
    await journey.publish("acme/greeting", GOOD)
    await journey.env.blobs.collect(set(), put_before_ms=2**52)
    await journey.work_externally()
    scan = await scan_of(journey)
    assert (scan.status, scan.score) == (S.ERROR, None)


@in_memory
@pytest.mark.parametrize("settings", [{"external_scanners": "words", "external_scans_per_hour": 1}])
async def test_scans_beyond_the_limit_wait__and_none_is_lost(journey: Journey, words: WordScanner) -> None:
    for number in range(3):
        await journey.publish(f"acme/greeting{number}", {"SKILL.md": skill_md(body=f"Greet {number}.")})
    await journey.work_externally()
    assert len(words.seen) == 1
    stats = await journey.env.queue.stats(EXTERNAL_SCANS_QUEUE)
    assert (stats.delayed, stats.dead) == (2, 0)
    delayed = await journey.env.queue.peek(EXTERNAL_SCANS_QUEUE, status=MessageStatus.DELAYED)
    assert [message.attempts for message in delayed.messages] == [0, 0]
    assert await open_requests(journey) == ["words", "words"]


async def test_request_whose_every_attempt_failed_ends_with_the_reason(journey: Journey) -> None:
    await journey.publish("acme/greeting", GOOD)
    messages = await journey.env.queue.receive(EXTERNAL_SCANS_QUEUE, max_messages=2, lease_s=60)
    await journey.env.writes.commit([Bury(message.lease, "the worker died") for message in messages])
    assert (await journey.inside(reap_external_scans))["ended"] == 2
    scan = await scan_of(journey)
    assert (scan.status, scan.summary) == (S.ERROR, "Every attempt failed, the last with: the worker died")
    assert (await journey.env.queue.stats(EXTERNAL_SCANS_QUEUE)).dead == 0
    assert await open_requests(journey) == []


@in_memory
async def test_request_whose_message_is_lost_ends_with_the_reason__and_others_are_left(journey: Journey) -> None:
    await journey.publish("acme/greeting", GOOD)
    lost = await scan_of(journey)
    assert lost.message_id is not None
    await journey.env.queue.drop([lost.message_id], reason="lost")  # type: ignore[list-item]
    counts = await journey.inside(reap_external_scans)
    assert (counts["ended"], counts["left"]) == (1, 1)
    assert (await scan_of(journey)).summary == "Its message was lost."


@in_memory
async def test_record_of_an_older_version_is_read__with_nothing_known_of_its_bytes(journey: Journey) -> None:
    old = b'{"v":1,"slug":"a/b/c","provider":"semgrep","status":"PASS","requestedAt":"x","updatedAt":"y","score":97}'
    await journey.env.writes.commit([Put("external-scan:a/b/c:semgrep", old)])
    (scan,) = await journey.inside(lambda: list_external_scans("a/b/c"))
    assert (scan.score, scan.content_digest, scan.is_about("")) == (97, "", False)
    assert msgspec.json.decode(msgspec.json.encode(scan))["carrier"] == "local"
