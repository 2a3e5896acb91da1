"""The stores: records that keep what they do not know, listings to the end, slugs that move, scans that are asked for once."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from tests.acceptance.running import inside
from vskill_platform.domain.errors import (
    Conflict,
    IllegalTransition,
    InvalidInput,
    MalformedRecord,
    NotFound,
    RecordFromFuture,
    StoreUnavailable,
)
from vskill_platform.domain.external_scan import ExternalScanStatus
from vskill_platform.domain.messages import EXTERNAL_SCANS_QUEUE, RunExternalScan, decode_message
from vskill_platform.domain.records import advance
from vskill_platform.domain.skill import CertTier
from vskill_platform.domain.submission import Actor, SubmissionState, Trigger
from vskill_platform.ports.commit import Put
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.stores.catalog import count_submissions
from vskill_platform.stores.external_dispatch import dispatch_external_scans
from vskill_platform.stores.external_scans import (
    ExternalScan,
    get_external_scan,
    list_external_scans,
    put_external_scan,
)
from vskill_platform.stores.leases import give_up_lease, renew_lease, take_lease
from vskill_platform.stores.pause import get_pause, pause_queue
from vskill_platform.stores.reads import Settled, require_readable
from vskill_platform.stores.repo_health import (
    RepoHealth,
    RepoStatus,
    get_repo_health,
    list_repo_health,
    put_repo_health,
)
from vskill_platform.stores.skills import (
    SkillQuery,
    SlugMigration,
    enumerate_published_skills,
    get_published_skills_list,
    iter_published_skills,
    migrate_skill_slugs,
    resolve_slug,
    search_skills,
)
from vskill_platform.stores.submissions import (
    Found,
    find_submission,
    get_history,
    get_submission,
    get_submission_index,
    get_submissions_fresh,
    moving,
)
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.probe import PlainProbe
from vskill_platform.testing.submissions import putting_skill, putting_submission, submission_at, submit

S = SubmissionState
NOW = "2026-02-21T10:00:00.000Z"


async def claimed(env: WorkerEnv, identity: str) -> Found:
    """Take one step with a submission."""
    found = await inside(env, lambda: get_submission(identity))
    step = advance(
        found.submission,
        S.TIER1_SCANNING,
        trigger=Trigger.CLAIMED,
        actor=Actor.WORKER,
        now_ms=env.clock.now_ms(),
        message="Claimed.",
    )
    await env.writes.commit(moving(found, step))
    return found


async def test_submission_comes_into_being_with_everything_that_belongs_to_it(env: WorkerEnv) -> None:
    submission = await inside(env, lambda: submit("demo"))
    assert await inside(env, lambda: get_submissions_fresh([submission.id])) == [submission]
    assert len(await inside(env, lambda: get_history(submission.id))) == 1
    assert (await inside(env, get_submission_index)).total == 1
    assert [event.kind for event in (await env.events.read(0)).events] == ["submission.created"]
    assert (await env.queue.stats("submissions")).waiting == 1


async def test_second_submission_of_a_skill_is_refused__nothing_of_it_is_written(env: WorkerEnv) -> None:
    await inside(env, lambda: submit("demo"))
    with pytest.raises(Conflict):
        await inside(env, lambda: submit("demo"))
    assert (await env.queue.stats("submissions")).waiting == 1
    assert (await inside(env, get_submission_index)).total == 1


async def test_of_many_submitters_at_once_one_wins(env: WorkerEnv) -> None:
    outcomes = await asyncio.gather(*(inside(env, lambda: submit("demo")) for _ in range(20)), return_exceptions=True)
    assert sum(isinstance(outcome, Conflict) for outcome in outcomes) == 19
    assert await inside(env, count_submissions) == {
        "active": 1, "review": 0, "published": 0, "rejected": 0, "blocked": 0, "total": 1,
    }  # fmt: skip


async def test_step_keeps_the_fields_it_does_not_know(env: WorkerEnv) -> None:
    submission = await inside(env, lambda: submit("demo"))
    key = f"sub:{submission.id}"
    entry = await env.kv.get(key)
    assert entry is not None
    richer = json.dumps({**json.loads(entry.value), "submitterEmail": "a@example.org", "later": {"deep": [1]}})
    await env.writes.commit([Put(key, richer.encode())])
    await claimed(env, submission.id)
    after = await env.kv.get(key)
    assert after is not None
    record = json.loads(after.value)
    assert (record["state"], record["submitterEmail"], record["later"]) == (
        "TIER1_SCANNING",
        "a@example.org",
        {"deep": [1]},
    )


async def test_record_from_the_future_can_be_read__not_written(env: WorkerEnv) -> None:
    submission = await inside(env, lambda: submit("demo"))
    key = f"sub:{submission.id}"
    entry = await env.kv.get(key)
    assert entry is not None
    await env.writes.commit([Put(key, json.dumps({**json.loads(entry.value), "v": 2}).encode())])
    assert (await inside(env, lambda: get_submission(submission.id))).submission.state is S.RECEIVED
    with pytest.raises(RecordFromFuture):
        await claimed(env, submission.id)


@pytest.mark.parametrize(
    "value",
    [b"junk", b"[]", b'{"id": 1}', b'{"id":"x","state":"LOST"}', b"\xff\xfe", b'{"id":"x","updatedAt":"yesterday"}'],
)
async def test_malformed_record_is_an_error_with_its_key__and_is_counted_in_a_read_of_many(
    env: WorkerEnv, value: bytes
) -> None:
    good = await inside(env, lambda: submit("demo"))
    await env.writes.commit([Put("sub:bad", value)])
    with pytest.raises(MalformedRecord, match="sub:bad"):
        await inside(env, lambda: find_submission("bad"))
    read = await inside(env, lambda: get_submissions_fresh(["bad", good.id, "nowhere"]))
    assert (list(read), read.malformed, read.missing, read.failed) == ([good], 1, 1, 0)


async def test_submission_that_is_not_there_is_not_found(env: WorkerEnv) -> None:
    with pytest.raises(NotFound, match="sub_nowhere"):
        await inside(env, lambda: get_submission("sub_nowhere"))


async def test_step_that_is_not_in_the_table_is_refused(env: WorkerEnv) -> None:
    submission = await inside(env, lambda: submit("demo"))
    with pytest.raises(IllegalTransition):
        advance(submission, S.PUBLISHED, trigger=Trigger.PUBLISHED, actor=Actor.WORKER, now_ms=0, message="")


async def test_history_replays_to_the_state(env: WorkerEnv) -> None:
    submission = await inside(env, lambda: submit("demo"))
    await claimed(env, submission.id)
    history = await inside(env, lambda: get_history(submission.id))
    assert [entry.number for entry in history] == [1, 2]
    assert [entry.source for entry in history] == [None, S.RECEIVED]
    assert history[-1].state is (await inside(env, lambda: get_submission(submission.id))).submission.state


async def test_index_filters_by_state_and_category__and_searches(env: WorkerEnv, clock: FakeClock) -> None:
    for number, state in enumerate(S):
        item = submission_at(
            state, updated_ms=clock.now_ms() + number, identity=f"s{number}", skill_name=f"skill {state}"
        )
        await env.writes.commit(putting_submission(item))
    assert (await inside(env, get_submission_index)).total == len(S)
    active = await inside(env, lambda: get_submission_index(state="active"))
    assert [row.state for row in active.rows] == [
        S.VENDOR_APPROVED,
        S.AUTO_APPROVED,
        S.TIER2_SCANNING,
        S.TIER1_SCANNING,
        S.RECEIVED,
    ]
    assert [row.state for row in (await inside(env, lambda: get_submission_index(state="BLOCKED"))).rows] == [S.BLOCKED]
    assert [row.state for row in (await inside(env, lambda: get_submission_index(search="publ"))).rows] == [S.PUBLISHED]
    assert (await inside(env, count_submissions))["total"] == len(S)


@pytest.mark.parametrize("count", [0, 1, 999, 1000, 1001, 2500, 25_000])
async def test_enumeration_is_exact__on_every_path(env: WorkerEnv, engine: Engine, count: int) -> None:
    """Natively, and on a plain KV with empty pages in the middle of its listing."""
    for start in range(0, count, 2000):
        numbers = range(start, min(start + 2000, count))
        await env.writes.commit([Put(f"skill:a/b/{number:06}", b'{"name":"n"}') for number in numbers])
    await env.writes.commit([Put("skill:alias:old", b"a/b/000000"), Put("sub:x", b"{}")])
    native = await inside(env, enumerate_published_skills)
    plain_env = replace(env, kv=PlainProbe(engine, page_size=700, has_empty_pages=True))
    plain = await inside(plain_env, enumerate_published_skills)
    assert len(native) == count
    assert native == plain

    async def stream() -> int:
        return sum([len(chunk) async for chunk in iter_published_skills()])

    assert await inside(env, stream) == count


async def test_record_of_an_older_form_has_the_defaults(env: WorkerEnv) -> None:
    await env.writes.commit([Put("skill:plain", b"{}"), Put("skill:null", b'{"name":null,"repoUrl":null}')])
    found = await inside(env, enumerate_published_skills)
    assert [(skill.slug, skill.name, skill.repo_url) for skill in found] == [
        ("null", "null", ""),
        ("plain", "plain", ""),
    ]


async def test_skills_are_listed_from_the_catalog(env: WorkerEnv) -> None:
    await env.writes.commit(
        [*putting_skill("a/b/one", tier=CertTier.VERIFIED), *putting_skill("a/b/two", description="Reviews code.")]
    )
    assert (await inside(env, get_published_skills_list)).total == 2
    verified = await inside(env, lambda: get_published_skills_list(tier="VERIFIED"))
    assert [skill.slug for skill in verified.rows] == ["a/b/one"]
    found = await inside(env, lambda: get_published_skills_list(search="code reviews"))
    assert [skill.slug for skill in found.rows] == ["a/b/two"]


async def test_skills_are_searched_filtered_sorted_and_counted(env: WorkerEnv) -> None:
    await env.writes.commit(
        [
            *putting_skill("a/b/one", publisher="a", category="data", capabilities=("network",), installs=5),
            *putting_skill("a/b/two", publisher="a", category="text", capabilities=("network", "secrets"), installs=9),
            *putting_skill("c/d/three", publisher="c", category="text", tier=CertTier.VERIFIED, verdict="PASS"),
        ]
    )

    async def slugs(**fields: Any) -> list[str]:
        return [row.slug for row in (await inside(env, lambda: search_skills(SkillQuery(**fields)))).rows]

    assert await slugs(sort="installs") == ["a/b/two", "a/b/one", "c/d/three"]
    assert await slugs(sort="name", descending=False, limit=2) == ["a/b/one", "c/d/three"]
    assert await slugs(capability=("secrets",)) == ["a/b/two"]
    assert await slugs(publisher=("a",), category=("data", "text"), offset=1, sort="installs") == ["a/b/one"]
    assert await slugs(search="three", tier=("VERIFIED",)) == ["c/d/three"]
    found = await inside(env, lambda: search_skills(SkillQuery(category=("text",), counts=("category", "capability"))))
    assert found.total == 2
    assert found.counts == {"category": {"data": 1, "text": 2}, "capability": {"network": 1, "secrets": 1}}
    row = next(row for row in found.rows if row.slug == "c/d/three")
    assert (row.publisher, row.category, row.verdict, row.capabilities, row.installs) == ("c", "text", "PASS", (), 0)


async def test_old_slugs_move__and_live_on_as_aliases(env: WorkerEnv) -> None:
    await env.writes.commit(
        [
            *putting_skill("review", repo_url="https://github.com/acme/skills", name="Review"),
            *putting_skill("acme/skills/kept"),
            *putting_skill("taken", repo_url="https://github.com/acme/skills", name="kept"),
            *putting_skill("nowhere", repo_url=""),
            Put("skill:broken", b"junk"),
        ]
    )
    dry = await inside(env, lambda: migrate_skill_slugs(dry_run=True))
    assert (dry.examined, dry.moved) == (5, 2)
    done = await inside(env, migrate_skill_slugs)
    assert done == SlugMigration(examined=5, moved=1, conflicts=1, unmovable=2, failed=0)
    assert await inside(env, lambda: resolve_slug("review")) == "acme/skills/review"
    assert await inside(env, lambda: resolve_slug("acme/skills/review")) == "acme/skills/review"
    assert await inside(env, lambda: resolve_slug("nothing")) is None
    assert (await inside(env, lambda: get_published_skills_list(search="review"))).total == 1
    again = await inside(env, migrate_skill_slugs)
    assert (again.moved, again.conflicts) == (0, 1)


async def test_alias_of_a_skill_that_is_gone_resolves_to_nothing(env: WorkerEnv) -> None:
    await env.writes.commit([Put("skill:alias:old", b"a/b/gone")])
    assert await inside(env, lambda: resolve_slug("old")) is None


async def test_external_scan_is_asked_for_once__while_it_is_pending(env: WorkerEnv) -> None:
    assert await inside(env, lambda: dispatch_external_scans("a/b/c", ["semgrep", "bandit", "semgrep"])) == [
        "semgrep",
        "bandit",
    ]
    assert await inside(env, lambda: dispatch_external_scans("a/b/c", ["semgrep"])) == []
    messages = await env.queue.receive(EXTERNAL_SCANS_QUEUE, max_messages=10, lease_s=60)
    assert [decode_message(message.body) for message in messages] == [
        RunExternalScan(slug="a/b/c", provider=provider, requested_at=NOW) for provider in ("semgrep", "bandit")
    ]
    scan = await inside(env, lambda: get_external_scan("a/b/c", "semgrep"))
    assert scan is not None
    assert (scan.status, scan.message_id) == (ExternalScanStatus.PENDING, messages[0].id)


async def test_parallel_dispatches_ask_once(env: WorkerEnv) -> None:
    outcomes = await asyncio.gather(
        *(inside(env, lambda: dispatch_external_scans("a/b/c", ["semgrep"])) for _ in range(10))
    )
    assert sorted(outcomes) == [[]] * 9 + [["semgrep"]]


async def test_external_scan_can_be_asked_for_again__when_it_has_an_answer(env: WorkerEnv) -> None:
    await inside(env, lambda: dispatch_external_scans("a/b/c", ["semgrep"]))
    answer = ExternalScan(
        slug="a/b/c", provider="semgrep", status=ExternalScanStatus.PASS, requested_at=NOW, updated_at=NOW, score=97
    )
    await inside(env, lambda: put_external_scan(answer))
    assert await inside(env, lambda: list_external_scans("a/b/c")) == [answer]
    assert await inside(env, lambda: dispatch_external_scans("a/b/c", ["semgrep"])) == ["semgrep"]
    await inside(env, lambda: put_external_scan(msgspec.structs.replace(answer, slug="x/y/z")))
    assert await inside(env, lambda: get_external_scan("x/y/z", "bandit")) is None


async def test_repo_health_is_kept_per_skill(env: WorkerEnv) -> None:
    look = RepoHealth(slug="a/b/c", status=RepoStatus.STALE, checked_at=NOW)
    assert await inside(env, lambda: get_repo_health("a/b/c")) is None
    await inside(env, lambda: put_repo_health(look))
    assert await inside(env, lambda: get_repo_health("a/b/c")) == look
    assert await inside(env, list_repo_health) == [look]


async def test_lease_has_one_holder__and_ends_by_itself(env: WorkerEnv, clock: FakeClock) -> None:
    first = await inside(env, lambda: take_lease("job", holder="one", seconds=30))
    assert first is not None
    assert await inside(env, lambda: take_lease("job", holder="two", seconds=30)) is None
    first = await inside(env, lambda: renew_lease(first, seconds=30))
    assert first is not None
    clock.shift(30)
    second = await inside(env, lambda: take_lease("job", holder="two", seconds=30))
    assert second is not None
    assert await inside(env, lambda: renew_lease(first, seconds=30)) is None
    await inside(env, lambda: give_up_lease(first))
    assert await inside(env, lambda: take_lease("job", holder="one", seconds=30)) is None
    await inside(env, lambda: give_up_lease(second))
    assert await inside(env, lambda: take_lease("job", holder="one", seconds=30)) is not None


@pytest.mark.parametrize("seconds", [0, -1, 86_401, float("nan")])
async def test_pause_that_would_not_end_is_refused(env: WorkerEnv, seconds: float) -> None:
    with pytest.raises(InvalidInput):
        await inside(env, lambda: pause_queue(reason="x", seconds=seconds))


async def test_pause_has_a_reason_and_an_end(env: WorkerEnv, clock: FakeClock) -> None:
    await inside(env, lambda: pause_queue(reason="maintenance"))
    pause = await inside(env, get_pause)
    assert pause is not None
    assert (pause.reason, pause.until) == ("maintenance", "2026-02-21T11:00:00.000Z")
    clock.shift(3600)
    assert await inside(env, get_pause) is None


async def test_unknown_is_not_empty__when_nothing_could_be_read(env: WorkerEnv, engine: Engine) -> None:
    submission = await inside(env, lambda: submit("demo"))
    broken = replace(env, kv=PlainProbe(engine, fail_on=lambda key: True))
    read = await inside(broken, lambda: get_submissions_fresh([submission.id]))
    assert (list(read), read.failed) == ([], 1)
    with pytest.raises(StoreUnavailable):
        require_readable(read)
    assert require_readable(Settled(missing=3)) == []


async def test_alias_and_record_that_are_no_text_are_malformed(env: WorkerEnv) -> None:
    await env.writes.commit([Put("skill:alias:old", b"\xff"), Put("external-scan:a/b/c:bandit", b'{"\xff":1}')])
    with pytest.raises(MalformedRecord):
        await inside(env, lambda: resolve_slug("old"))
    scan = ExternalScan(
        slug="a/b/c", provider="bandit", status=ExternalScanStatus.PASS, requested_at=NOW, updated_at=NOW
    )
    with pytest.raises(MalformedRecord):
        await inside(env, lambda: put_external_scan(scan))


async def test_external_scan_is_asked_for_again__when_its_message_is_gone_or_dead(env: WorkerEnv) -> None:
    async def ask() -> list[str]:
        return await inside(env, lambda: dispatch_external_scans("a/b/c", ["semgrep"]))

    assert await ask() == ["semgrep"]
    [message] = await env.queue.receive(EXTERNAL_SCANS_QUEUE, max_messages=1, lease_s=60)
    assert await ask() == []
    message.bury(error="hopeless")
    assert message.settlement is not None
    await env.writes.commit([message.settlement])
    assert await ask() == ["semgrep"]


async def test_repo_health_keeps_the_fields_it_does_not_know(env: WorkerEnv) -> None:
    await env.writes.commit(
        [Put("repo-health:a/b/c", b'{"v":1,"slug":"a/b/c","status":"ONLINE","checkedAt":"x","later":7}')]
    )
    await inside(env, lambda: put_repo_health(RepoHealth(slug="a/b/c", status=RepoStatus.STALE, checked_at=NOW)))
    entry = await env.kv.get("repo-health:a/b/c")
    assert entry is not None
    assert (json.loads(entry.value)["later"], json.loads(entry.value)["status"]) == (7, "STALE")
