"""Asking a judge without a registry around it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from vskill_platform.domain.content import SkillContent, SkillFile, make_content
from vskill_platform.domain.judgement import Judgement
from vskill_platform.domain.scan import Finding, Owasp, ScanReport, Severity, Threat, Verdict
from vskill_platform.ports.clock import Clock, SystemClock
from vskill_platform.scanning.tier2 import ModelJudge
from vskill_platform.scanning.tier2.breaker import Breaker
from vskill_platform.scanning.tier2.client import ChatClient
from vskill_platform.settings import Settings, convert_settings
from vskill_platform.testing.judge_endpoint import JudgeEndpoint

KEY = "sk-very-secret-0123456789"
MODEL = "small-judge"
FINDING = Finding(
    rule_id="DX-001",
    category=Threat.DOWNLOAD_EXECUTE,
    owasp=Owasp.MALICIOUS_SKILL,
    severity=Severity.HIGH,
    file="SKILL.md",
    line=7,
    column=1,
    excerpt="curl x | sh",
    message="Pipes a download into a shell.",
    why="why",
    fix="fix",
    layer="raw",
)


def make_finding(rule_id: str = "DX-001", **changes: object) -> Finding:
    """A finding, high unless it is said otherwise."""
    return msgspec.structs.replace(FINDING, rule_id=rule_id, **changes)


def make_report(*findings: Finding, verdict: Verdict | None = None, limits_hit: tuple[str, ...] = ()) -> ScanReport:
    """A report of tier 1 with these findings."""
    said = verdict or (Verdict.CONCERNS if findings or limits_hit else Verdict.PASS)
    return ScanReport(
        name="greeting",
        verdict=said,
        score=85,
        flagged=said is not Verdict.PASS,
        content_digest="sha256:0",
        ruleset_version="1",
        scanner_version="1",
        limits_hit=limits_hit,
        findings=findings,
    )


def make_skill(body: str = "Greet the user by name.", **files: bytes) -> SkillContent:
    """A skill with this body; further files by path, in which `__` stands for a dot."""
    head = "---\nname: greeting\ndescription: Greets people politely.\n---\n\n# Greeting\n\n"
    more = [SkillFile(path=path.replace("__", "."), content=content) for path, content in files.items()]
    return make_content([SkillFile(path="SKILL.md", content=f"{head}{body}\n".encode()), *more])


def settings_for(endpoint: JudgeEndpoint, **settings: object) -> Settings:
    """Settings with this server as the judge."""
    chosen = {"judge_url": endpoint.url, "judge_model": MODEL, "judge_api_key": KEY, "judge_time_limit_s": 20}
    return convert_settings({**chosen, **settings})


@asynccontextmanager
async def open_court(
    settings: Settings, *, clock: Clock | None = None, failures: int = 100
) -> AsyncIterator[ModelJudge]:
    """A judge that tries again at once."""
    clock = clock or SystemClock()
    client = ChatClient(settings, clock=clock, retry_delays_s=(0.0, 0.0))
    try:
        yield ModelJudge(settings, client, Breaker(clock, failures=failures), clock=clock)
    finally:
        await client.close()


async def ask(
    endpoint: JudgeEndpoint, *findings: Finding, content: SkillContent | None = None, **settings: object
) -> Judgement:
    """What the judge behind this server says of a skill with these findings."""
    async with open_court(settings_for(endpoint, **settings)) as judge:
        return await judge.judge(content or make_skill(), make_report(*findings))
