"""The overview: figures from where they are true, unknown where nobody knows, and no page without a permission."""

from __future__ import annotations

from pathlib import Path

from tests.acceptance.running import inside
from tests.admin.conftest import As
from tests.admin.test_acting import client_of
from tests.admin.test_stuck import three_stuck
from vskill_platform.domain.access import Role
from vskill_platform.domain.catalog import SUBMISSIONS
from vskill_platform.domain.scan import ScanReport, Verdict
from vskill_platform.engines.memory import open_memory
from vskill_platform.ports.commit import Unindex
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.stores.drift import find_drift
from vskill_platform.stores.flow import read_flow
from vskill_platform.stores.news import telling_scan
from vskill_platform.stores.series import count_events
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.envs import make_env
from vskill_platform.testing.submissions import submit
from vskill_platform.web.app import create_control_app
from vskill_platform.worker.cron import CronJob, run_job
from vskill_platform.worker.drift import compare_catalog
from vskill_platform.worker.recovery import sweep_stuck_submissions

OVERVIEW = "/api/v1/admin/overview"
PAGES = ["/admin", "/admin/queue", "/admin/stuck", "/admin/submissions"]


def report(*, limits_hit: tuple[str, ...] = ()) -> ScanReport:
    return ScanReport(
        name="s",
        verdict=Verdict.CONCERNS,
        score=60,
        flagged=True,
        content_digest="sha256:" + "0" * 64,
        ruleset_version="1",
        scanner_version="1",
        limits_hit=limits_hit,
    )


async def test_overview_says_how_it_stands_and_why(registry: WorkerEnv, acting_as: As, clock: FakeClock) -> None:
    await three_stuck(registry)
    await clock.advance(600)
    auditor = await acting_as(Role.AUDITOR)
    told = (await auditor.get(OVERVIEW)).json()
    assert told["judgement"]["standing"] == "DEGRADED"
    codes = {reason["code"] for reason in told["judgement"]["reasons"]}
    assert codes == {"dead_letters", "messages_lost", "sweep_never_ran"}
    assert told["stuck"] == {"total": 3, "lost": 1, "dead": 1}
    assert (told["health"]["queue"]["waiting"], told["health"]["queue"]["dead"]) == (1, 1)


async def test_what_nobody_has_counted_is_unknown__not_zero(
    registry: WorkerEnv, acting_as: As, clock: FakeClock
) -> None:
    auditor = await acting_as(Role.AUDITOR)
    fresh = (await auditor.get(OVERVIEW)).json()
    nothing = {"takenUp": None, "scans": None, "limitedScans": None, "failures": None, "countedAt": None}
    assert (fresh["flow"], fresh["drift"]["last"]) == (nothing, None)
    page = (await auditor.get("/admin")).text
    assert "Unknown: nobody has counted yet" in page
    assert "Unknown: no comparison has reached its end yet" in page
    await inside(registry, count_events)
    assert (await inside(registry, read_flow)).taken_up == 0
    await clock.advance(16 * 60)
    stale = await inside(registry, read_flow)
    assert (stale.taken_up, stale.failures, stale.counted_at is None) == (None, None, False)


async def test_failures_are_counted_by_reason__and_scans_that_hit_a_limit(
    registry: WorkerEnv, acting_as: As, clock: FakeClock
) -> None:
    dead, _, _ = await three_stuck(registry)
    await registry.writes.commit([telling_scan(dead.id, report(), run=1, tier="tier1")])
    await registry.writes.commit([telling_scan(dead.id, report(limits_hit=("time_limit",)), run=2, tier="tier1")])
    await clock.advance(600)
    await inside(registry, sweep_stuck_submissions)
    await inside(registry, count_events)
    flow = await inside(registry, read_flow)
    assert (flow.scans, flow.limited_scans, flow.failures) == (2, 1, {"delivery_exhausted": 1})
    auditor = await acting_as(Role.AUDITOR)
    assert "Delivery exhausted" in (await auditor.get("/admin")).text


async def test_drift_is_found_a_slice_at_a_time__and_told_with_its_time(
    registry: WorkerEnv, acting_as: As, clock: FakeClock
) -> None:
    first = await inside(registry, lambda: submit("first"))
    await inside(registry, lambda: submit("second"))
    assert await inside(registry, compare_catalog) == {"examined": 2, "drifted": 0}
    await registry.writes.commit([Unindex(SUBMISSIONS, first.id)])
    await clock.advance(60)
    assert await inside(registry, compare_catalog) == {"examined": 2, "drifted": 1}
    found = (await inside(registry, find_drift)).drift
    assert found.last is not None
    assert (found.last.missing, found.last.told, found.present) == (1, (f"'sub:{first.id}' has no document.",), None)
    auditor = await acting_as(Role.AUDITOR)
    told = (await auditor.get(OVERVIEW)).json()
    assert "catalog_drift" in {reason["code"] for reason in told["judgement"]["reasons"]}


async def test_jobs_are_shown_with_their_last_run(registry: WorkerEnv, acting_as: As) -> None:
    async def fail() -> None:
        raise RuntimeError("the disk is full")

    await inside(registry, lambda: run_job(CronJob("sweep", 60.0, fail)))
    auditor = await acting_as(Role.AUDITOR)
    told = (await auditor.get(OVERVIEW)).json()
    (job,) = told["jobs"]
    assert (job["job"], job["error"]) == ("sweep", "RuntimeError: the disk is full")
    assert job["dueAt"] > job["startedAt"]
    assert {reason["code"] for reason in told["judgement"]["reasons"]} == {"sweep_failed"}


async def test_pages_are_shown_to_those_who_may__with_buttons_for_those_who_steer(
    registry: WorkerEnv, acting_as: As, clock: FakeClock
) -> None:
    await three_stuck(registry)
    await clock.advance(600)
    reviewer, auditor = await acting_as(Role.REVIEWER), await acting_as(Role.AUDITOR)
    submitter = await acting_as(Role.SUBMITTER)
    for path in PAGES:
        for address in (path, f"{path}?fragment=true"):
            seen, watched = await reviewer.get(address), await auditor.get(address)
            assert (seen.status_code, watched.status_code) == (200, 200), address
            assert "data-api=" not in watched.text, address
            assert "data-bulk=" not in watched.text, address
        assert (await submitter.get(path)).status_code == 403, path
    for path in ("/admin/queue", "/admin/stuck"):
        assert 'data-api="POST' in (await reviewer.get(path)).text, path
    assert "data-bulk=" in (await reviewer.get("/admin/submissions")).text


async def test_submission_page_shows_everything(registry: WorkerEnv, acting_as: As) -> None:
    dead, lost, _ = await three_stuck(registry)
    reviewer = await acting_as(Role.REVIEWER)
    shown = (await reviewer.get(f"/admin/submissions/{dead.id}")).text
    for text in (
        "hopeless",
        dead.message_id or "",
        "Taken out" if False else "Received.",
        "The record as it is stored",
    ):
        assert text in shown
    assert "Lost" in (await reviewer.get(f"/admin/submissions/{lost.id}")).text
    detail = (await reviewer.get(f"/api/v1/admin/submissions/{dead.id}")).json()
    assert (detail["record"]["id"], detail["message"]["status"]) == (dead.id, "dead")
    assert (await reviewer.get("/admin/submissions/sub_none")).status_code == 404


async def test_settings_are_shown_without_secrets(tmp_path: Path) -> None:
    clock = FakeClock()
    engine = await open_memory(clock=clock)
    env = make_env(engine, clock=clock, folder=tmp_path, pause_s=7200.0, blobs_secret_access_key="hunter2-hunter2")
    async with client_of(create_control_app(env)) as operator:
        page = (await operator.get("/admin/settings")).text
        told = (await operator.get("/api/v1/admin/settings")).json()["settings"]
    chosen = {item["name"]: item["value"] for item in told if item["isSet"]}
    assert chosen == {"VSKILL_PLATFORM_PAUSE_S": 7200.0, "VSKILL_PLATFORM_BLOBS_SECRET_ACCESS_KEY": "***"}
    assert "hunter2" not in page
    assert "How long a pause of the queue lasts" in page
    await engine.close()


async def test_settings_are_closed__for_a_reviewer(acting_as: As) -> None:
    reviewer = await acting_as(Role.REVIEWER)
    for path in ("/admin/settings", "/api/v1/admin/settings"):
        assert (await reviewer.get(path)).status_code == 403


async def test_store_that_is_gone_is_an_error__never_zeros(tmp_path: Path) -> None:
    clock = FakeClock()
    engine = await open_memory(clock=clock)
    env = make_env(engine, clock=clock, folder=tmp_path)
    await engine.close()
    async with client_of(create_control_app(env)) as operator:
        for path in [*PAGES, OVERVIEW, "/api/v1/admin/stuck", "/api/v1/admin/queue/messages"]:
            answer = await operator.get(path)
            assert (answer.status_code, bool(answer.headers.get("Retry-After"))) == (503, True), path
