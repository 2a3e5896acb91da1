"""Second opinions as people, programs and operators see them."""

from __future__ import annotations

from dataclasses import replace

import httpx
import msgspec

from tests.admin.test_acting import client_of, read_entries
from tests.health.conftest import Registry
from tests.pages.planting import plant
from vskill_platform.domain.access import Role
from vskill_platform.domain.external_scan import ExternalFinding, ExternalReport, ExternalScanStatus
from vskill_platform.domain.judgement import FindingJudgement, Judgement
from vskill_platform.domain.records import Pin
from vskill_platform.domain.scan import Severity, Verdict
from vskill_platform.domain.skill import SkillVersion
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.stores.external_scans import (
    ExternalScan,
    ending_scan,
    find_external_scan,
    get_external_scan,
    opening,
    put_external_scan,
)
from vskill_platform.stores.scans import JudgementRecord, recording_judgement
from vskill_platform.testing.accounts import make_account, make_token
from vskill_platform.testing.clock import START_MS
from vskill_platform.testing.submissions import putting_submission, submission_at
from vskill_platform.web.app import create_web_app

SLUG = "acme/toolbox/greeting"
PAGE = f"/skills/{SLUG}"
API = f"/api/v1/skills/{SLUG}"
NOW = iso_from_ms(START_MS)
HOSTILE = "<script>alert(1)</script>"
FINDINGS = (
    ExternalFinding(rule_id="B404", severity=Severity.LOW, file="run.py", line=1, message="Imports subprocess"),
    ExternalFinding(
        rule_id="B602", severity=Severity.CRITICAL, file="run.py", line=2, message=HOSTILE, same_as="EXEC-001"
    ),
)
S = ExternalScanStatus


def pin_of(version: SkillVersion) -> Pin:
    return Pin(commit=version.commit, content_digest=version.content_digest, tar_digest=version.tar_digest)


def scan_of(version: SkillVersion, provider: str, status: ExternalScanStatus, **fields: object) -> ExternalScan:
    scan = ExternalScan(
        slug=version.slug, provider=provider, status=status, requested_at=NOW, updated_at=NOW, pin=pin_of(version)
    )
    return msgspec.structs.replace(scan, **fields)


async def opine(registry: Registry, *scans: ExternalScan) -> None:
    for scan in scans:
        await registry.inside(lambda scan=scan: put_external_scan(scan))


async def read(registry: Registry, *addresses: str) -> list[httpx.Response]:
    async with client_of(create_web_app(registry.env)) as client:
        return [await client.get(address, headers={"Accept": "text/html, application/json"}) for address in addresses]


async def operator(registry: Registry, role: Role = Role.REVIEWER) -> httpx.AsyncClient:
    account = await make_account(registry.env, "ada", role)
    client = client_of(create_web_app(registry.env))
    client.headers["Authorization"] = f"Bearer {await make_token(registry.env, account)}"
    return client


async def test_no_section_is_shown__when_nobody_was_asked(registry: Registry) -> None:
    await plant(registry.env)
    page, security, opinions = await read(registry, PAGE, f"{PAGE}/security", f"{API}/opinions")
    assert "Second opinions</h" not in page.text + security.text
    assert opinions.json()["opinions"]["providers"] == []


async def test_each_provider_is_shown_apart__with_findings_that_lead_to_the_file(registry: Registry) -> None:
    version = await plant(registry.env, files={"SKILL.md": b"---\nname: greeting\n---\nHi.\n", "run.py": b"import x\n"})
    failing = scan_of(
        version, "bandit", S.FAIL, score=74, findings=FINDINGS, provider_version="1.9.1", completed_at=NOW, left_off=2
    )
    await opine(registry, failing, scan_of(version, "semgrep", S.PENDING), scan_of(version, "clam", S.PASS, score=100))
    overview, page, answer = await read(registry, PAGE, f"{PAGE}/security", f"{API}/opinions")
    assert f'href="{PAGE}/versions/1.0.0/files/run.py#L2"' in page.text
    assert "also found by our rule" in page.text
    assert HOSTILE not in page.text
    assert "&lt;script&gt;" in page.text
    assert page.text.index("B602") < page.text.index("B404"), "the gravest first"
    assert "And 2 more findings that are not kept." in page.text
    assert "bandit objects to this skill" in overview.text
    providers = answer.json()["opinions"]["providers"]
    assert [(one["provider"], one["status"], one["score"]) for one in providers] == [
        ("bandit", "FAIL", 74),
        ("clam", "PASS", 100),
        ("semgrep", "PENDING", None),
    ]
    assert providers[0]["findings"][0]["sameAs"] == "EXEC-001"


async def test_page_follows_answers_that_are_yet_to_come__and_stands_still_once_they_are_there(
    registry: Registry,
) -> None:
    version = await plant(registry.env)
    await opine(registry, scan_of(version, "bandit", S.RUNNING))
    page, part = await read(registry, f"{PAGE}/security", f"{PAGE}/opinions")
    assert f'data-live-fragment="{PAGE}/opinions"' in page.text
    assert "At it" in part.text
    assert "<html" not in part.text
    await opine(registry, scan_of(version, "bandit", S.PASS, score=100))
    (page,) = await read(registry, f"{PAGE}/security")
    assert "data-live=" not in page.text


async def test_answer_is_late__when_it_is_open_for_longer_than_submissions_wait(registry: Registry) -> None:
    version = await plant(registry.env)
    await opine(registry, scan_of(version, "bandit", S.PENDING))
    wait_s = registry.env.settings.external_scans_wait_s
    for shift_s, is_late in ((wait_s, False), (1, True)):
        registry.clock.shift(shift_s)
        (answer,) = await read(registry, f"{API}/opinions")
        assert answer.json()["opinions"]["providers"][0]["isLate"] is is_late


async def test_opinion_on_other_bytes_is_not_shown(registry: Registry) -> None:
    version = await plant(registry.env)
    other = Pin(commit="c" * 40, content_digest="sha256:other", tar_digest="sha256:t")
    await opine(registry, scan_of(version, "bandit", S.FAIL, score=0, pin=other))
    page, answer = await read(registry, PAGE, f"{API}/opinions")
    assert answer.json()["opinions"]["providers"] == []
    assert "objects" not in page.text


async def test_why_a_scan_did_not_end_is_told_to_operators_alone(registry: Registry) -> None:
    version = await plant(registry.env)
    waiting = scan_of(version, "bandit", S.RUNNING, id="000000000000001-x", worker="ada/farm-7")
    await opine(registry, waiting)
    await end(registry, "bandit", ExternalReport(provider="bandit", status=S.ERROR, summary="farm-7 fell silent"))
    for shown in await read(registry, PAGE, f"{PAGE}/security", f"{API}/opinions"):
        assert "farm-7" not in shown.text
    async with await operator(registry) as client:
        assert "farm-7 fell silent" in (await client.get("/admin/scanners")).text


async def end(registry: Registry, provider: str, report: ExternalReport) -> None:
    """Store an answer as workers do."""

    async def work() -> None:
        found = await find_external_scan(SLUG, provider)
        assert found is not None
        _, operations = ending_scan(found, report)
        await registry.env.writes.commit(operations)

    await registry.inside(work)


async def judge_says(registry: Registry, version: SkillVersion, **fields: object) -> None:
    judgement = Judgement(
        model="local-model",
        prompt_version="7",
        verdict=Verdict.CONCERNS,
        score=70,
        concerns=(f"It says {HOSTILE}",),
        findings=(
            FindingJudgement(rule_id="NET-001", file="SKILL.md", line=7, is_confirmed=False, reason="Only an example."),
        ),
        answer="raw words of the model",
    )
    record = JudgementRecord(
        submission_id=version.submission_id,
        run=version.run,
        judged_at=NOW,
        content_digest=version.content_digest,
        judgement=msgspec.structs.replace(judgement, **fields),
    )
    await registry.env.writes.commit([recording_judgement(record)])


async def test_judge_is_shown__with_what_it_makes_of_each_finding(registry: Registry) -> None:
    version = await plant(registry.env)
    await judge_says(registry, version)
    page, answer = await read(registry, f"{PAGE}/security", f"{API}/opinions")
    for words in ("local-model", "Takes it for harmless", "Only an example.", "It says &lt;script&gt;"):
        assert words in page.text
    assert HOSTILE not in page.text
    judge = answer.json()["opinions"]["judge"]
    assert (judge["model"], judge["promptVersion"], judge["verdict"], judge["score"]) == (
        "local-model",
        "7",
        "CONCERNS",
        70,
    )
    assert "raw words" not in answer.text + page.text


async def test_judge_without_a_verdict_says_why__and_a_pass_that_does_not_count_is_none(registry: Registry) -> None:
    version = await plant(registry.env)
    await judge_says(registry, version, verdict=None, score=None, problem="The judge did not answer in time.")
    (page,) = await read(registry, f"{PAGE}/security")
    assert "The judge did not answer in time. A person decides." in page.text
    await judge_says(registry, version, verdict=Verdict.PASS, addressed=("SKILL.md:3",))
    (answer,) = await read(registry, f"{API}/opinions")
    assert answer.json()["opinions"]["judge"]["verdict"] == "CONCERNS"


async def test_submission_shows_the_opinions_that_it_waits_for(registry: Registry) -> None:
    version = await plant(registry.env)
    submission = submission_at(
        SubmissionState.TIER2_SCANNING, updated_ms=START_MS, identity="sub_waiting", pin=pin_of(version)
    )
    await registry.env.writes.commit(putting_submission(submission))
    waiting = scan_of(version, "bandit", S.PENDING, slug="sub_waiting", submission_id="sub_waiting", run=1)
    await opine(registry, waiting)
    page, answer = await read(registry, "/submissions/sub_waiting", "/api/v1/submissions/sub_waiting")
    assert "Second opinions" in page.text
    assert 'data-live-every="5"' in page.text
    assert answer.json()["opinions"]["providers"][0]["provider"] == "bandit"


async def test_panel_says_who_is_asked_what_waits_and_what_came_last(registry: Registry) -> None:
    version = await plant(registry.env)

    class Missing:
        """A scanner that is not installed."""

        name = "bandit"

        async def unavailable_because(self) -> str:
            return "bandit is not installed here."

    settings = msgspec.structs.replace(
        registry.env.settings, external_scanners="bandit,remote:farm", judge_url="http://j/v1"
    )
    env = replace(registry.env, external={"bandit": Missing()}, settings=settings)  # type: ignore[dict-item]
    waiting = scan_of(version, "farm", S.PENDING, id=f"{START_MS - 90_000:015d}-x")
    await opine(registry, scan_of(version, "bandit", S.RUNNING, id="000000000000001-y"), waiting)
    await end(registry, "bandit", ExternalReport(provider="bandit", status=S.PASS, score=97))
    await env.writes.commit([opening(waiting)])
    async with await operator(Registry(env, registry.clock)) as client:
        view = (await client.get("/api/v1/admin/scanners")).json()
        page = (await client.get("/admin/scanners")).text
    bandit, farm = view["providers"]
    assert bandit["unavailableBecause"] == "bandit is not installed here."
    assert bandit["last"][0]["score"] == 97
    assert (farm["carrier"], farm["unavailableBecause"], farm["open"], farm["oldestOpenMs"]) == (
        "pull",
        None,
        1,
        90_000,
    )
    assert view["judge"]["isOn"]
    assert view["judge"]["isBreakerOpen"] is None
    assert "bandit is not installed here." in page
    assert "Fetched by workers elsewhere" in page


async def test_operator_asks_a_scanner_again__about_the_published_bytes(registry: Registry) -> None:
    version = await plant(registry.env)
    settings = msgspec.structs.replace(registry.env.settings, external_scanners="bandit")
    asking = Registry(replace(registry.env, settings=settings), registry.clock)
    await opine(registry, scan_of(version, "bandit", S.ERROR, summary="It was not installed."))
    async with await operator(asking) as client:
        body = {"slug": SLUG, "provider": "bandit", "reason": "It is installed now."}
        asked = await client.post("/api/v1/admin/scanners/ask", json=body)
        unknown = await client.post("/api/v1/admin/scanners/ask", json={**body, "provider": "nobody"})
        nothing = await client.post("/api/v1/admin/scanners/ask", json={**body, "slug": "a/b/c"})
    assert asked.json() == {"slug": SLUG, "provider": "bandit", "detail": "bandit is asked again."}
    assert (unknown.status_code, nothing.status_code) == (404, 404)
    scan = await registry.inside(lambda: get_external_scan(SLUG, "bandit"))
    assert scan is not None
    assert (scan.status, scan.content_digest) == (S.PENDING, version.content_digest)
    assert (await registry.env.queue.stats("external-scans")).waiting == 1
    assert [entry.act for entry in await read_entries(registry.env)] == ["scanners.ask"]


async def test_badge_text_names_the_badge__beside_second_opinions(registry: Registry) -> None:
    version = await plant(registry.env)
    await opine(registry, scan_of(version, "bandit", S.PASS, score=100))
    (page,) = await read(registry, PAGE)
    assert "Macro" not in page.text
    assert f"{API}/badge" in page.text
