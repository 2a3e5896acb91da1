"""Remote workers that fetch their work: claims, leases, archives and results."""

from __future__ import annotations

import asyncio
import hashlib

import msgspec
import pytest

from tests.opinions.desk import PASS, SLUG, Desk
from vskill_platform.domain.access import Role, Scope
from vskill_platform.domain.archives import read_tar
from vskill_platform.domain.content import content_digest
from vskill_platform.domain.external_scan import ExternalScanStatus as S
from vskill_platform.pipeline.reaping import NOBODY_TOOK_IT_MS, reap_external_scans
from vskill_platform.stores.external_scans import iter_open
from vskill_platform.stores.reports import list_reports
from vskill_platform.testing.accounts import make_account, make_token

in_memory = pytest.mark.parametrize("place", ["memory"], indirect=True)
everywhere = pytest.mark.parametrize("place", ["memory", "sqlite", "postgres"], indirect=True)
FINDING = {"ruleId": "B602", "severity": "critical", "file": "SKILL.md", "line": 3, "message": "A shell."}


async def code_of(answer: object) -> str:
    return str(msgspec.json.decode(answer.content)["code"])  # type: ignore[attr-defined]


@everywhere
async def test_worker_finds_takes_reads_and_ends_a_scan(desk: Desk) -> None:
    scan = await desk.ask()
    pending = (await desk.client.get("/api/v1/external-scans/pending?provider=farm")).json()["scans"]
    assert [one["id"] for one in pending] == [scan.id]
    claimed = await desk.claim(scan)
    assert (await desk.client.get("/api/v1/external-scans/pending?provider=farm")).json()["scans"] == []
    archive = await desk.client.get(claimed["archiveUrl"], headers={"x-scan-claim": claimed["claim"]})
    assert f"sha256:{hashlib.sha256(archive.content).hexdigest()}" == claimed["tarDigest"]
    assert content_digest(read_tar(archive.content)) == claimed["contentDigest"] == scan.content_digest
    running = await desk.read()
    assert (running.status, running.worker, running.attempts) == (S.RUNNING, "farmer/one", 1)
    assert claimed["claim"] not in msgspec.json.encode(running).decode()
    answer = await desk.complete(claimed, result={**PASS, "findings": [{**FINDING, "severity": "medium"}]})
    assert (answer.status_code, answer.json()["status"], answer.json()["score"]) == (200, "PASS", 97)
    ended = await desk.read()
    (finding,) = ended.findings
    assert (finding.rule_id, finding.line, finding.excerpt) == ("farm/B602", 3, "import os")
    assert (ended.provider_version, ended.claim_hash, ended.lease_until_ms) == ("2.0", "", None)


@everywhere
async def test_scan_has_one_holder__of_many_that_ask_at_once(desk: Desk) -> None:
    scan = await desk.ask()
    answers = await asyncio.gather(
        *(desk.post("claim", provider="farm", id=scan.id, worker=f"w{number}") for number in range(20))
    )
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 19


async def test_silent_worker_loses_its_scan__and_what_it_says_then_counts_for_nothing(desk: Desk) -> None:
    scan = await desk.ask()
    first = await desk.claim(scan)
    desk.clock.shift(59)
    assert (await desk.post("extend", **_held(first))).status_code == 200
    desk.clock.shift(60)
    for answer in (
        await desk.complete(first),
        await desk.post("extend", **_held(first)),
        await desk.post("release", **_held(first)),
    ):
        assert (answer.status_code, await code_of(answer)) == (409, "external_scan_over")
    gone = await desk.client.get(first["archiveUrl"], headers={"x-scan-claim": first["claim"]})
    assert gone.status_code == 404
    assert (await desk.inside(reap_external_scans))["givenBack"] == 1
    second = await desk.claim(scan, worker="two")
    assert (await desk.complete(first)).status_code == 409
    assert (await desk.complete(second)).status_code == 200
    assert (await desk.complete(second)).status_code == 409
    assert (await desk.read()).worker == "farmer/two"


@in_memory
async def test_lapsed_scan_can_be_taken_before_the_reaper_comes(desk: Desk) -> None:
    scan = await desk.ask()
    await desk.claim(scan)
    desk.clock.shift(61)
    assert (await desk.claim(scan, worker="two"))["id"] == scan.id


@in_memory
async def test_scan_that_every_worker_drops_is_an_error_in_the_end(desk: Desk) -> None:
    scan = await desk.ask()
    for _ in range(4):
        await desk.claim(scan)
        desk.clock.shift(61)
        await desk.inside(reap_external_scans)
    ended = await desk.read()
    assert (ended.status, ended.attempts) == (S.ERROR, 4)
    assert "4 workers took it up and fell silent" in ended.summary


@in_memory
async def test_scan_that_is_given_back_waits_for_the_next_at_once(desk: Desk) -> None:
    scan = await desk.ask()
    claimed = await desk.claim(scan)
    assert (await desk.post("release", **_held(claimed))).status_code == 200
    waiting = await desk.read()
    assert (waiting.status, waiting.attempts, waiting.worker) == (S.PENDING, 0, "")
    assert (await desk.complete(claimed)).status_code == 409
    await desk.claim(scan, worker="two")


@in_memory
async def test_scan_that_nobody_takes_up_times_out_after_a_day(desk: Desk) -> None:
    await desk.ask()
    desk.clock.shift(NOBODY_TOOK_IT_MS / 1000 - 1)
    assert (await desk.inside(reap_external_scans))["left"] == 1
    desk.clock.shift(1)
    assert (await desk.inside(reap_external_scans))["ended"] == 1
    assert (await desk.read()).status is S.TIMED_OUT


@in_memory
@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"contentDigest": "sha256:" + "0" * 64}, 400),
        ({"result": {**PASS, "status": "RUNNING"}}, 400),
        ({"result": {**PASS, "status": "SPLENDID"}}, 400),
        ({"result": {**PASS, "score": 101}}, 400),
        ({"result": {**PASS, "findings": [FINDING] * 201}}, 400),
        ({"result": {**PASS, "findings": [{**FINDING, "message": "x" * 2001}]}}, 400),
        ({"result": {**PASS, "findings": [{**FINDING, "severity": "awful"}]}}, 400),
        ({"claim": "another"}, 409),
        ({"provider": "posted"}, 409),
        ({"provider": "nobody"}, 409),
        ({"id": "000000000000000-00"}, 409),
    ],
)
async def test_result_is_refused__that_is_of_a_wrong_form_or_about_something_else(
    desk: Desk, changes: dict[str, object], status: int
) -> None:
    claimed = await desk.claim(await desk.ask())
    assert (await desk.complete(claimed, **changes)).status_code == status
    assert (await desk.read()).status is S.RUNNING
    assert (await desk.complete(claimed)).status_code == 200


@in_memory
async def test_result_of_more_bytes_than_it_may_have_is_refused(desk: Desk) -> None:
    claimed = await desk.claim(await desk.ask())
    answer = await desk.complete(claimed, result={**PASS, "more": "x" * 1024 * 1024})
    assert answer.status_code == 413
    assert (await desk.read()).status is S.RUNNING


@in_memory
@pytest.mark.parametrize(
    ("result", "status", "score"),
    [
        ({**PASS, "findings": [FINDING]}, S.FAIL, 75),
        ({"status": "FAIL", "score": 100, "findings": []}, S.FAIL, 100),
        ({"status": "PASS", "score": 3, "findings": []}, S.PASS, 3),
        ({"status": "ERROR", "summary": "No disk.", "score": 100}, S.ERROR, None),
        ({"status": "TIMED_OUT"}, S.TIMED_OUT, None),
    ],
)
async def test_result_is_never_better_than_its_findings(
    desk: Desk, result: dict[str, object], status: S, score: int | None
) -> None:
    claimed = await desk.claim(await desk.ask())
    assert (await desk.complete(claimed, result=result)).status_code == 200
    ended = await desk.read()
    assert (ended.status, ended.score) == (status, score)


@in_memory
async def test_finding_names_only_files_of_the_skill__and_nothing_in_it_is_invisible(desk: Desk) -> None:
    claimed = await desk.claim(await desk.ask())
    strange = {**FINDING, "severity": "low", "file": "../../etc/passwd"}
    odd = {**FINDING, "severity": "low", "message": "a\u202eb\n" + "c" * 900, "line": 4000}
    assert (await desk.complete(claimed, result={**PASS, "findings": [strange, odd]})).status_code == 200
    ended = await desk.read()
    (kept,) = ended.findings
    assert (kept.file, kept.line, ended.left_off, ended.score) == ("SKILL.md", 0, 1, 98)
    assert "\u202e" not in kept.message
    assert len(kept.message) <= 500


@in_memory
async def test_objection_from_elsewhere_opens_a_report(desk: Desk) -> None:
    claimed = await desk.claim(await desk.ask())
    await desk.complete(claimed, result={**PASS, "findings": [FINDING]})
    (report,) = await desk.inside(list_reports)
    assert (report.subject, report.provider) == (SLUG, "farm")


@in_memory
@pytest.mark.parametrize("remote_settings", [{"external_scans_per_hour": 2}])
async def test_claims_beyond_the_limit_are_told_to_wait__and_nothing_is_lost(desk: Desk) -> None:
    scans = [await desk.ask(slug=f"acme/skills/s{number}") for number in range(3)]
    for scan in scans[:2]:
        await desk.complete(await desk.claim(scan))
    refused = await desk.post("claim", provider="farm", id=scans[2].id, worker="one")
    assert (refused.status_code, await code_of(refused)) == (429, "rate_limited")
    assert int(refused.headers["retry-after"]) >= 1
    desk.clock.shift(3601)
    await desk.complete(await desk.claim(scans[2]))
    assert (await desk.read(slug="acme/skills/s2")).status is S.PASS


@in_memory
async def test_request_that_was_asked_anew_makes_the_older_claim_worthless(desk: Desk) -> None:
    older = await desk.claim(await desk.ask(text="# Old"))
    newer = await desk.ask(text="# New")
    assert (await desk.complete(older)).status_code == 409
    assert (await desk.read()).status is S.PENDING

    async def read() -> list[str]:
        return [identity async for _, identity in iter_open()]

    assert await desk.inside(read) == [newer.id]


@in_memory
@pytest.mark.parametrize("headers", [{}, {"x-scan-claim": "no"}, {"x-scan-claim": ""}])
async def test_archive_is_for_the_holder_alone(desk: Desk, headers: dict[str, str]) -> None:
    scan = await desk.ask()
    place = f"/api/v1/external-scans/farm/{scan.id}/archive"
    assert (await desk.client.get(place, headers=headers)).status_code == 404
    await desk.claim(scan)
    assert (await desk.client.get(place, headers=headers)).status_code == 404


@in_memory
@pytest.mark.parametrize(
    ("role", "scope", "status"),
    [
        (Role.SUBMITTER, Scope.SCAN, 403),
        (Role.AUDITOR, Scope.SCAN, 403),
        (Role.REVIEWER, Scope.REVIEW, 403),
        (Role.REVIEWER, Scope.READ, 403),
        (None, None, 401),
    ],
)
async def test_scans_are_for_tokens_with_their_scope__of_whoever_may_review(
    desk: Desk, role: Role | None, scope: Scope | None, status: int
) -> None:
    claimed = await desk.claim(await desk.ask())
    if role is None or scope is None:
        del desk.client.headers["Authorization"]
    else:
        token = await make_token(desk.env, await make_account(desk.env, "somebody", role), scope)
        desk.client.headers["Authorization"] = f"Bearer {token}"
    answers = [
        await desk.client.get("/api/v1/external-scans/pending?provider=farm"),
        await desk.post("claim", provider="farm", id=claimed["id"], worker="one"),
        await desk.post("extend", **_held(claimed)),
        await desk.post("release", **_held(claimed)),
        await desk.complete(claimed),
    ]
    assert [answer.status_code for answer in answers] == [status] * 5
    assert (await desk.read()).status is S.RUNNING


def _held(claimed: dict[str, str]) -> dict[str, str]:
    return {name: claimed[name] for name in ("provider", "id", "claim")}
