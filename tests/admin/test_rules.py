"""Rules in the panel and its API: seen by all who see it, changed by those who may, tried before."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest

from tests.admin.test_acting import client_of, read_entries
from tests.pages.planting import make_finding, plant
from vskill_platform import __version__
from vskill_platform.domain.access import Role
from vskill_platform.domain.scan import Severity, Threat, Verdict
from vskill_platform.pipeline.rule_hits import count_rule_hits
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.scanning.tier1.rules import load_ruleset
from vskill_platform.testing.accounts import make_account, make_session, sign_in
from vskill_platform.web.app import create_control_app, create_web_app
from vskill_platform.worker_context import run_with_worker_env

RULES = "/api/v1/admin/rules"
BASE = load_ruleset().version


@pytest.fixture
async def operator(env: WorkerEnv) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(create_control_app(env)) as client:
        yield client


async def plant_three(env: WorkerEnv) -> None:
    """A skill that PI-001 alone keeps from passing, one that nothing hits, one by rules of long ago."""
    found = make_finding(rule_id="PI-001", severity=Severity.HIGH, category=Threat.PROMPT_INJECTION, line=3)
    newest = {"ruleset_version": BASE, "scanner_version": __version__}
    await plant(env, slug="a/b/flagged", findings=(found,), verdict=Verdict.CONCERNS, score=85, **newest)
    await plant(env, slug="a/b/good", **newest)
    await plant(env, slug="a/b/old")


async def test_rule_is_tried_and_then_changed__with_who_when_and_why(
    env: WorkerEnv, operator: httpx.AsyncClient
) -> None:
    await plant_three(env)
    tried = (await operator.post(f"{RULES}/PI-001/dry-run", json={"severity": "off"})).json()
    assert (tried["isDone"], tried["otherVerdict"], tried["run"]["unchanged"], tried["run"]["unknown"]) == (
        True,
        1,
        1,
        {"other_rules": 1},
    )
    (change,) = tried["changes"]
    assert (change["slug"], change["verdict"], change["newVerdict"], change["newScore"]) == (
        "a/b/flagged",
        "CONCERNS",
        "PASS",
        100,
    )
    assert (await operator.get(f"{RULES}/dry-runs/{tried['run']['id']}")).json()["changes"] == [change]
    changed = await operator.put(f"{RULES}/pi-001", json={"severity": "off", "reason": "Wrong here."})
    assert changed.status_code == 200, changed.text
    told = (await operator.get(f"{RULES}/PI-001")).json()
    assert (told["rule"]["severity"], told["rule"]["baseSeverity"]) == ("off", "high")
    assert told["rulesetVersion"] == tried["run"]["newVersion"] != BASE
    (past,) = told["history"]
    assert (past["by"], past["reason"], past["before"], past["word"]) == ("operator", "Wrong here.", None, "off")
    entry = (await read_entries(env))[-1]
    assert (entry.act, entry.reason, "rules:changes" in entry.touched) == ("rules.change", "Wrong here.", True)
    await operator.put(f"{RULES}/PI-001", json={"severity": "default", "reason": "It was right."})
    assert (await operator.get(RULES)).json()["rulesetVersion"] == BASE


async def test_change_is_refused__for_what_is_no_rule_no_severity_or_has_no_reason(
    env: WorkerEnv, operator: httpx.AsyncClient
) -> None:
    refused: list[tuple[str, dict[str, str], int]] = [
        ("XX-999", {"severity": "off", "reason": "Why."}, 404),
        ("PI-001", {"severity": "harmless", "reason": "Why."}, 400),
        ("PI-001", {"severity": "off", "reason": " "}, 400),
        ("PI-001", {"severity": "off"}, 400),
    ]
    for rule, body, status in refused:
        assert (await operator.put(f"{RULES}/{rule}", json=body)).status_code == status, (rule, body)
    assert await read_entries(env) == []


@pytest.mark.parametrize(("role", "sees", "changes"), [(Role.AUDITOR, 200, 403), (Role.SUPER_ADMIN, 200, 200)])
async def test_rules_are_seen_and_changed_by_role(env: WorkerEnv, role: Role, sees: int, changes: int) -> None:
    async with client_of(create_web_app(env)) as client:
        sign_in(client, await make_session(env, await make_account(env, "bob", role)))
        assert (await client.get(RULES)).status_code == sees
        headers = {"Origin": "http://registry", "Sec-Fetch-Site": "same-origin"}
        body = {"severity": "off", "reason": "Why."}
        answer = await client.put(f"{RULES}/PI-001", json=body, headers=headers)
        assert answer.status_code == changes, answer.text
        shown = (await client.get("/admin/rules/PI-001", headers={"Accept": "text/html"})).text
        assert ("Dry run</button>" in shown) is (changes == 200)


async def test_critical_rule_that_is_off_is_warned_about__on_the_pages(operator: httpx.AsyncClient) -> None:
    assert "data-critical-off" not in (await operator.get("/admin/rules")).text
    await operator.put(f"{RULES}/SH-001", json={"severity": "off", "reason": "A test."})
    assert "data-critical-off" in (await operator.get("/admin/rules")).text
    assert "data-critical-off" in (await operator.get("/admin/rules/SH-001")).text
    assert (await operator.get(RULES)).json()["criticalOff"] == ["SH-001"]


async def test_pages_show_hits_with_their_time__and_say_when_nobody_has_counted(
    env: WorkerEnv, operator: httpx.AsyncClient
) -> None:
    await plant_three(env)
    assert "Hits have not been counted yet" in (await operator.get("/admin/rules")).text
    assert (await operator.get(f"{RULES}/PI-001")).json()["rule"]["hits"] is None
    await run_with_worker_env(env, count_rule_hits)
    listed = await operator.get("/admin/rules?show=hit")
    assert "PI-001" in listed.text
    assert "DX-001" not in listed.text
    assert (await operator.get(f"{RULES}/PI-001")).json()["rule"]["hits"]["publishedSkills"] == 1
    assert (await operator.get(f"{RULES}/DX-001")).json()["rule"]["hits"]["publishedSkills"] == 0


async def test_rescan_is_steered(env: WorkerEnv, operator: httpx.AsyncClient) -> None:
    await plant_three(env)
    started = await operator.post(f"{RULES}/rescans", json={"reason": "New rules."})
    assert started.status_code == 200, started.text
    listed = (await operator.get(f"{RULES}/rescans")).json()["rescans"]
    assert [(one["rescan"]["total"], one["rescan"]["current"]) for one in listed] == [(3, 2)]
    # What is planted has no submission, so the one that is outdated cannot be started, and the rescan says so.
    assert (listed[0]["rescan"]["state"], listed[0]["rescan"]["failed"]) == ("DONE", 1)
    assert "a/b/old" in (await operator.get("/admin/rules/rescans")).text
    identity = listed[0]["rescan"]["id"]
    refused = await operator.post(f"{RULES}/rescans/{identity}/pause", json={"reason": "Too late."})
    assert (refused.status_code, refused.json()["code"]) == (409, "illegal_transition")
