"""A submission's journey with a judge: where it stands, what is kept, what is asked, and what it costs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import msgspec
import pytest

from tests.judge.asking import KEY, MODEL, open_court, settings_for
from tests.opinions.scanners import WordScanner
from tests.pipeline.journey import Journey, skill_md
from tests.pipeline.test_turning_down import DOUBTFUL, EVIL
from vskill_platform.domain.errors import JudgeUnavailable
from vskill_platform.domain.judgement import Judgement
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE
from vskill_platform.domain.records import Submission
from vskill_platform.domain.scan import Verdict
from vskill_platform.domain.submission import SubmissionState, Trigger
from vskill_platform.pipeline.rescan import rescan_skill
from vskill_platform.pipeline.review import approve_submission
from vskill_platform.ports.commit import Put, Release
from vskill_platform.ports.queue import MessageBatch
from vskill_platform.scanning.tier2 import PROMPT_VERSION
from vskill_platform.stores.judge_spending import cost_of, get_judge_standing, get_spending, take_tokens
from vskill_platform.stores.judgements import judgement_key
from vskill_platform.stores.scans import RUNS_KEPT, get_judgement, get_judgement_of_run
from vskill_platform.stores.skills import find_skill
from vskill_platform.testing.judge_endpoint import Asked, JudgeEndpoint, Reply, completing, failing, saying
from vskill_platform.testing.waits import eventually
from vskill_platform.worker.consumer import handle_submission_queue

pytestmark = pytest.mark.asyncio(loop_scope="package")
S = SubmissionState
SLUG = "127-0-0-1-acme/greeting/greeting"
JUDGED_STEPS = [
    (S.TIER1_SCANNING, Trigger.CLAIMED),
    (S.TIER2_SCANNING, Trigger.TIER1_PASSED),
]


async def take(journey: Journey, name: str = "acme/greeting", content: bytes | None = None) -> Submission:
    """A skill, taken through."""
    journey.repository(name, {"SKILL.md": content or skill_md()})
    (submission,) = await journey.take_through(name)
    return submission


async def kept(journey: Journey, submission: Submission) -> Judgement | None:
    """What is kept of the judge's word in the present run."""
    record = await journey.inside(lambda: get_judgement(submission))
    return None if record is None else record.judgement


async def tier_of(journey: Journey) -> str:
    found = await journey.inside(lambda: find_skill(SLUG))
    assert found is not None
    return found.skill.tier.value


async def rescan(journey: Journey) -> Submission:
    started = await journey.inside(lambda: rescan_skill(SLUG))
    await journey.work()
    return await journey.read(started.id)


async def test_skill_is_verified__when_both_tiers_let_it_pass(journey: Journey, endpoint: JudgeEndpoint) -> None:
    submission = await take(journey)
    assert (submission.state, await tier_of(journey)) == (S.PUBLISHED, "VERIFIED")
    steps = [(entry.state, entry.trigger) for entry in await journey.history(submission.id)]
    assert steps[1:] == [*JUDGED_STEPS, (S.AUTO_APPROVED, Trigger.APPROVED), (S.PUBLISHED, Trigger.PUBLISHED)]
    said = await kept(journey, submission)
    assert said is not None
    assert (said.verdict, said.score, said.model, said.prompt_version) == (Verdict.PASS, 95, MODEL, PROMPT_VERSION)
    assert endpoint.asked[0].request in said.answer
    assert "judge" in submission.timings


async def test_submission_stands_in_tier_2_and_keeps_its_claim__while_the_judge_thinks(
    journey: Journey, endpoint: JudgeEndpoint
) -> None:
    seen: list[Submission] = []

    async def look(asked: Asked) -> Reply:
        parent = (await journey.env.kv.list("sub:")).keys
        found = [await journey.read(key.removeprefix("sub:")) for key in parent]
        seen.extend(one for one in found if one.skill_name)
        return await saying(Verdict.PASS, 90)(asked)

    endpoint.answers = [look]
    await take(journey)
    (during,) = seen
    assert during.state is S.TIER2_SCANNING
    assert during.claim is not None
    assert during.claim.message_id == during.message_id


@pytest.mark.parametrize(
    ("verdict", "score", "state", "reason"),
    [
        (Verdict.CONCERNS, 79, S.NEEDS_REVIEW, "judge_concerns"),
        (Verdict.CONCERNS, 60, S.NEEDS_REVIEW, "judge_concerns"),
        (Verdict.FAIL, 59, S.REJECTED, "tier2_failed"),
    ],
)
async def test_skill_is_held_back__when_the_judge_does_not_let_it_pass(
    journey: Journey, endpoint: JudgeEndpoint, verdict: Verdict, score: int, state: SubmissionState, reason: str
) -> None:
    endpoint.answers = [saying(verdict, score)]
    submission = await take(journey)
    assert (submission.state, submission.reason) == (state, reason)
    said = await kept(journey, submission)
    assert said is not None
    assert (said.verdict, said.score) == (verdict, score)
    assert "SKILL.md:1" in (await journey.history(submission.id))[-1].message


async def test_doubtful_skill_is_published_without_being_verified__when_its_findings_are_false_positives(
    journey: Journey, endpoint: JudgeEndpoint
) -> None:
    submission = await take(journey, content=DOUBTFUL)
    assert endpoint.asked[0].findings
    assert submission.state is S.PUBLISHED
    assert submission.verdict is Verdict.CONCERNS
    assert await tier_of(journey) == "SCANNED"


async def test_doubtful_skill_waits_for_a_person__when_a_finding_is_confirmed(
    journey: Journey, endpoint: JudgeEndpoint
) -> None:
    endpoint.answers = [saying(Verdict.CONCERNS, 70, word="confirmed")]
    submission = await take(journey, content=DOUBTFUL)
    assert submission.state is S.NEEDS_REVIEW


async def test_judge_is_not_asked__when_tier_1_fails_the_skill_or_a_person_has_decided(
    journey: Journey, endpoint: JudgeEndpoint
) -> None:
    evil = await take(journey, "acme/evil", EVIL)
    assert evil.state is S.TIER1_FAILED
    assert await kept(journey, evil) is None
    endpoint.answers = [saying(Verdict.FAIL, 10)]
    submission = await take(journey)
    assert submission.state is S.REJECTED
    await journey.inside(lambda: approve_submission(submission.id, reason="It is ours."))
    asked = len(endpoint.asked)
    again = await rescan(journey)
    assert (again.state, await tier_of(journey)) == (S.PUBLISHED, "CERTIFIED")
    assert await kept(journey, again) is None
    assert len(endpoint.asked) == asked == 1


async def test_person_decides__when_the_judge_is_down_or_talks_nonsense(
    journey: Journey, endpoint: JudgeEndpoint
) -> None:
    for number, (answer, reason) in enumerate(
        [(failing(401), "judge_unavailable"), (completing(lambda asked: "PASS"), "judge_void")]
    ):
        endpoint.answers = [answer]
        submission = await take(journey, f"acme/greeting{number}", skill_md(f"greeting{number}"))
        assert (submission.state, submission.reason) == (S.NEEDS_REVIEW, reason)
        last = (await journey.history(submission.id))[-1]
        assert last.message.startswith("The judge")
        assert last.message.endswith("A person decides.")
        said = await kept(journey, submission)
        assert said is not None
        assert said.problem in last.message
        standing = await journey.inside(get_judge_standing)
        assert standing is not None
        assert (standing.problem_code, standing.verdict) == (reason, None)


async def test_same_question_is_asked_once__also_for_the_same_bytes_of_somebody_else(
    journey: Journey, endpoint: JudgeEndpoint
) -> None:
    submission = await take(journey)
    assert (await rescan(journey)).state is S.PUBLISHED
    other = await take(journey, "other/greeting")
    assert len(endpoint.asked) == 1
    assert other.state is S.PUBLISHED
    said = await kept(journey, other)
    assert said is not None
    assert (said.is_from_cache, said.verdict, said.tokens) == (True, Verdict.PASS, 0)
    first = await journey.inside(lambda: get_judgement_of_run(submission.id, 1))
    assert first is not None
    assert not first.judgement.is_from_cache


async def test_question_is_asked_anew__when_model_or_prompt_or_rules_or_room_are_others(
    journey: Journey, endpoint: JudgeEndpoint
) -> None:
    submission = await take(journey)
    digest = submission.pin.content_digest if submission.pin else ""
    entry = await journey.env.kv.get(judgement_key(digest))
    assert entry is not None
    changes = [
        b'"rulesetVersion":"other"',
        b'"shownBytes":5',
        b'"model":"other"',
        b'"promptVersion":"other"',
    ]
    for number, change in enumerate(changes, start=2):
        name, _, _ = change.partition(b":")
        record = msgspec.json.decode(entry.value)
        _replace(record, name.decode().strip('"'), msgspec.json.decode(change.partition(b":")[2]))
        await journey.env.writes.commit([Put(judgement_key(digest), msgspec.json.encode(record))])
        await rescan(journey)
        assert len(endpoint.asked) == number, change
    await journey.env.writes.commit([Put(judgement_key(digest), b"no record")])
    assert (await rescan(journey)).state is S.PUBLISHED
    assert len(endpoint.asked) == len(changes) + 2


def _replace(record: dict[str, object], name: str, value: object) -> None:
    inner = record["judgement"]
    assert isinstance(inner, dict)
    (record if name in record else inner)[name] = value


async def test_question_is_asked_anew__when_there_was_no_verdict(journey: Journey, endpoint: JudgeEndpoint) -> None:
    await take(journey)
    endpoint.answers = [failing(401), saying(Verdict.PASS, 90)]
    endpoint.asked.clear()
    held = await take(journey, "acme/other", skill_md("other"))
    assert held.state is S.NEEDS_REVIEW
    again = await take(journey, "acme/third", skill_md("other"))
    assert again.state is S.PUBLISHED
    assert len(endpoint.asked) == 2


async def test_published_skill_stays_published__when_only_the_judge_fails_it_later(
    journey: Journey, endpoint: JudgeEndpoint
) -> None:
    submission = await take(journey.with_env(judge=None))
    assert await tier_of(journey) == "SCANNED"
    endpoint.answers = [saying(Verdict.FAIL, 5)]
    again = await rescan(journey)
    assert (again.id, again.state, again.reason) == (submission.id, S.NEEDS_REVIEW, "judge_failed")
    found = await journey.inside(lambda: find_skill(SLUG))
    assert found is not None
    assert not found.is_withdrawn


async def test_skill_becomes_verified__when_it_is_scanned_again_with_a_judge(
    journey: Journey, endpoint: JudgeEndpoint
) -> None:
    await take(journey.with_env(judge=None))
    await rescan(journey)
    assert await tier_of(journey) == "VERIFIED"


async def test_judgements_of_long_ago_are_forgotten_with_the_scan(journey: Journey, endpoint: JudgeEndpoint) -> None:
    submission = await take(journey)
    for _ in range(RUNS_KEPT):
        latest = await rescan(journey)
    runs = [
        await journey.inside(lambda run=run: get_judgement_of_run(submission.id, run))
        for run in range(1, latest.run + 1)
    ]
    assert [run is None for run in runs] == [True] + [False] * RUNS_KEPT


async def test_scan_starts_anew__when_the_worker_goes_while_the_judge_thinks(
    journey: Journey, endpoint: JudgeEndpoint
) -> None:
    journey.repository("acme/greeting", {"SKILL.md": skill_md()})
    intake = await journey.submit("acme/greeting")
    await deliver_one(journey)
    (identity,) = (await journey.read(intake.submission.id)).children
    endpoint.answers = [endpoint.never(), saying(Verdict.PASS, 90)]
    await deliver_one(journey, until=lambda: bool(endpoint.asked))
    assert (await journey.read(identity)).state is S.TIER2_SCANNING
    await journey.work()
    assert (await journey.read(identity)).state is S.PUBLISHED
    triggers = [entry.trigger for entry in await journey.history(identity)]
    assert triggers.count(Trigger.TIER1_PASSED) == 2


async def deliver_one(journey: Journey, *, until: Callable[[], bool] | None = None) -> None:
    """Work on the next message, to the end or until the worker is told to go, which gives it back."""
    queue = journey.env.queue
    (message,) = await queue.receive(SUBMISSIONS_QUEUE, max_messages=1, lease_s=60)
    working = asyncio.create_task(handle_submission_queue(MessageBatch(SUBMISSIONS_QUEUE, [message]), journey.env))
    if until is None:
        await working
        return
    await eventually(until, what="the worker has come that far")
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)
    await queue.exchange(SUBMISSIONS_QUEUE, [[Release(message.lease, 0.0)]], max_messages=0, lease_s=1)


async def test_tokens_are_counted_by_what_was_used__and_nothing_more_is_asked_beyond_the_limit(
    journey: Journey, endpoint: JudgeEndpoint
) -> None:
    await take(journey)
    spent = await journey.inside(get_spending)
    assert (spent.questions, spent.tokens_in, spent.tokens_out) == (1, 1000, 100)
    limited = msgspec.structs.replace(journey.env.settings, judge_tokens_per_day=2000)
    poor = journey.with_env(settings=limited)
    held = await take(poor, "acme/other", skill_md("other"))
    assert (held.state, held.reason) == (S.NEEDS_REVIEW, "judge_unavailable")
    assert "limit" in (await journey.history(held.id))[-1].message
    assert await journey.inside(get_spending) == spent
    assert len(endpoint.asked) == 1


async def test_cost_is_that_of_both_prices__and_limits_the_day(journey: Journey, endpoint: JudgeEndpoint) -> None:
    priced = msgspec.structs.replace(
        journey.env.settings, judge_input_price=2.0, judge_output_price=8.0, judge_cost_per_day=0.1
    )
    rich = journey.with_env(settings=priced)
    await take(rich)
    assert cost_of(await journey.inside(get_spending), priced) == pytest.approx(0.0028)
    poor = journey.with_env(settings=msgspec.structs.replace(priced, judge_cost_per_day=0.01))
    assert (await take(poor, "acme/other", skill_md("other"))).reason == JudgeUnavailable.code


async def test_limit_is_never_passed__however_many_ask_at_once(journey: Journey) -> None:
    limited = msgspec.structs.replace(journey.env.settings, judge_tokens_per_day=1000)
    crowd = journey.with_env(settings=limited)

    async def take_some() -> list[object]:
        return list(await asyncio.gather(*(take_tokens(tokens_in=90, tokens_out=10) for _ in range(40))))

    taken = [one for one in await crowd.inside(take_some) if one is not None]
    assert len(taken) <= 10
    spent = await crowd.inside(get_spending)
    assert (spent.questions, spent.tokens_in, spent.tokens_out) == (len(taken), 90 * len(taken), 10 * len(taken))


async def test_judge_is_asked_once__when_the_submission_then_waits_for_external_scanners(
    journey: Journey, endpoint: JudgeEndpoint
) -> None:
    settings = msgspec.structs.replace(journey.env.settings, external_scanners="words", external_scans_when="before")
    both = journey.with_env(settings=settings, external={"words": WordScanner("words")})
    waiting = await take(both)
    assert waiting.state is S.TIER2_SCANNING
    assert await both.work_externally() == 1
    await both.work()
    published = await both.read(waiting.id)
    assert (published.state, await tier_of(both)) == (S.PUBLISHED, "VERIFIED")
    said = await kept(both, published)
    assert said is not None
    assert (said.verdict, said.is_from_cache) == (Verdict.PASS, True)
    assert len(endpoint.asked) == 1


async def test_two_registries_ask_their_own_judges__side_by_side(journey: Journey, endpoint: JudgeEndpoint) -> None:
    other = JudgeEndpoint()
    other.answers = [saying(Verdict.FAIL, 3)]
    async with other.serve(), open_court(settings_for(other, judge_model="other", judge_api_key="k2")) as strict:
        second = journey.with_env(judge=strict)
        for number in range(2):
            first = await take(journey, f"acme/a{number}", skill_md(f"a{number}"))
            failed = await take(second, f"acme/b{number}", skill_md(f"b{number}"))
            assert (first.state, failed.state) == (S.PUBLISHED, S.REJECTED)
    assert {asked.headers["authorization"] for asked in endpoint.asked} == {f"Bearer {KEY}"}
    assert {asked.headers["authorization"] for asked in other.asked} == {"Bearer k2"}
    assert (len(endpoint.asked), len(other.asked)) == (2, 2)
