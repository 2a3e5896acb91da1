"""AC-US3-04 of both documents: the five modules that ask for the env need nothing but to be called where there is one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import pytest

from tests.seed.planting import OpenEngine
from vskill_platform.domain.errors import BindingUnavailable
from vskill_platform.domain.external_scan import ExternalScanStatus
from vskill_platform.domain.messages import EXTERNAL_SCANS_QUEUE
from vskill_platform.domain.submission import SubmissionState
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
from vskill_platform.stores.repo_health import (
    RepoHealth,
    RepoStatus,
    get_repo_health,
    list_repo_health,
    put_repo_health,
)
from vskill_platform.stores.submissions import (
    find_submission,
    get_stuck_submissions,
    get_submission_index,
    get_submissions_fresh,
)
from vskill_platform.testing.clock import START_MS, FakeClock
from vskill_platform.testing.envs import make_env
from vskill_platform.testing.submissions import putting_submission, submission_at
from vskill_platform.worker_context import request_env_storage, run_with_worker_env

SLUG = "acme/skills/pdf"
NOON = "2026-02-21T12:00:00.000Z"
SCAN = ExternalScan(
    slug=SLUG, provider="clam", status=ExternalScanStatus.PASS, requested_at=NOON, updated_at=NOON, score=90
)
HEALTH = RepoHealth(slug=SLUG, status=RepoStatus.ONLINE, checked_at=NOON)

Use = Callable[[Engine], Awaitable[None]]


async def use_submissions(engine: Engine) -> None:
    record = submission_at(SubmissionState.RECEIVED, updated_ms=START_MS - 300_000, identity="sub_a")
    await engine.writes.commit(putting_submission(record))
    found = await find_submission("sub_a")
    assert found is not None
    assert found.submission == record
    assert await get_submissions_fresh(["sub_a"]) == [record]
    assert [stuck.id for stuck in await get_stuck_submissions()] == ["sub_a"]
    assert [row.id for row in (await get_submission_index()).rows] == ["sub_a"]


async def use_catalog(engine: Engine) -> None:
    record = submission_at(SubmissionState.NEEDS_REVIEW, updated_ms=START_MS, identity="sub_a")
    await engine.writes.commit(putting_submission(record))
    counts = await count_submissions()
    assert (counts["review"], counts["total"]) == (1, 1)


async def use_external_scans(engine: Engine) -> None:
    await put_external_scan(SCAN)
    assert await get_external_scan(SLUG, "clam") == SCAN
    assert await list_external_scans(SLUG) == [SCAN]


async def use_repo_health(engine: Engine) -> None:
    await put_repo_health(HEALTH)
    assert await get_repo_health(SLUG) == HEALTH
    assert await list_repo_health() == [HEALTH]


async def use_external_dispatch(engine: Engine) -> None:
    assert await dispatch_external_scans(SLUG, ["clam", "semgrep"]) == ["clam", "semgrep"]
    assert (await engine.queue.stats(EXTERNAL_SCANS_QUEUE)).waiting == 2


FIVE_MODULES: dict[str, Use] = {
    "submissions": use_submissions,
    "catalog": use_catalog,
    "external_scans": use_external_scans,
    "repo_health": use_repo_health,
    "external_dispatch": use_external_dispatch,
}
CALLS_AND_BINDINGS: dict[str, tuple[Callable[[], Awaitable[object]], str]] = {
    "submissions, one": (lambda: find_submission("sub_a"), "kv"),
    "submissions, many": (lambda: get_submissions_fresh(["sub_a"]), "kv"),
    "submissions, stuck": (get_stuck_submissions, "kv"),
    "submissions, listed": (get_submission_index, "catalog"),
    "catalog": (count_submissions, "catalog"),
    "external scans, read": (lambda: get_external_scan(SLUG, "clam"), "kv"),
    "external scans, listed": (lambda: list_external_scans(SLUG), "kv"),
    "external scans, written": (lambda: put_external_scan(SCAN), "writes"),
    "repository health, read": (lambda: get_repo_health(SLUG), "kv"),
    "repository health, listed": (list_repo_health, "kv"),
    "repository health, written": (lambda: put_repo_health(HEALTH), "writes"),
    "external dispatch": (lambda: dispatch_external_scans(SLUG, ["clam"]), "queue"),
}


@pytest.mark.parametrize("module", FIVE_MODULES)
async def test_0310_ac_us3_04__each_of_the_five_modules_works_in_a_worker_batch(
    engine: Engine, env: WorkerEnv, module: str
) -> None:
    await run_with_worker_env(env, lambda: FIVE_MODULES[module](engine))


@pytest.mark.parametrize("module", FIVE_MODULES)
async def test_0310_ac_us3_04__each_of_the_five_modules_works_in_a_request(
    engine: Engine, env: WorkerEnv, module: str
) -> None:
    await request_env_storage.run(env, lambda: FIVE_MODULES[module](engine))


@pytest.mark.parametrize("call", CALLS_AND_BINDINGS)
async def test_0310_ac_us3_04__each_of_the_five_modules_names_its_binding__outside_both(call: str) -> None:
    ask, binding = CALLS_AND_BINDINGS[call]

    with pytest.raises(BindingUnavailable, match=f"'{binding}'") as caught:
        await ask()

    assert caught.value.fields == {"binding": binding}


@pytest.mark.parametrize("module", FIVE_MODULES)
async def test_0310_ac_us3_04__the_worker_env_comes_first__when_there_is_a_request_too(
    open_engine: OpenEngine, clock: FakeClock, tmp_path: Path, module: str
) -> None:
    of_worker, of_request = await open_engine(), await open_engine()
    worker_env = make_env(of_worker, clock=clock, folder=tmp_path)
    request_env = make_env(of_request, clock=clock, folder=tmp_path)

    await request_env_storage.run(
        request_env, lambda: run_with_worker_env(worker_env, lambda: FIVE_MODULES[module](of_worker))
    )

    assert (await of_request.kv.list("")).keys == []


@pytest.mark.parametrize("module", FIVE_MODULES)
async def test_0313_ac_us3_04__the_five_modules_find_nothing_left_behind__after_a_batch(
    engine: Engine, env_with: partial[WorkerEnv], module: str
) -> None:
    await run_with_worker_env(env_with(), lambda: FIVE_MODULES[module](engine))

    with pytest.raises(BindingUnavailable):
        await FIVE_MODULES[module](engine)
