"""How a skill was judged: the report with its findings, the same as SARIF, and what the skill can do."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Annotated

import msgspec
from litestar import Response, get
from litestar.params import FromPath, QueryParameter

from vskill_platform.domain.errors import NotFound
from vskill_platform.domain.skill import SkillVersion
from vskill_platform.scanning.sarif import sarif_log
from vskill_platform.scanning.tier1.packs import load_rules
from vskill_platform.stores.scans import ScanRecord, get_scan_of_run
from vskill_platform.web.api.skill_lookup import FRESH, SKILL, published_skill, published_version
from vskill_platform.web.api.skill_views import CapabilityReport, SecurityReport
from vskill_platform.worker_context import current_env

SARIF_TYPE = "application/sarif+json"
Version = Annotated[str, QueryParameter(max_length=64, description="Which version; the newest where none is named.")]


@get(f"{SKILL}/security", summary="The security report", tags=["skills"])
async def show_security(
    owner: FromPath[str], repo: FromPath[str], skill: FromPath[str], version: Version = ""
) -> Response[SecurityReport]:
    """Verdict, score, and every finding with its place, an excerpt, why it matters and what to do about it."""
    found = await published_version(await published_skill(owner, repo, skill), version)
    return Response(describe_security(found, await scan_of(found)), headers=FRESH)


async def scan_of(version: SkillVersion) -> ScanRecord | None:
    """The report on a version; None where it is no longer kept."""
    return await get_scan_of_run(version.submission_id, version.run)


def describe_security(version: SkillVersion, scan: ScanRecord | None) -> SecurityReport:
    """How a version was judged."""
    return SecurityReport(
        slug=version.slug,
        version=version.version,
        tier=version.tier,
        verdict=version.verdict,
        score=version.score,
        content_digest=version.content_digest,
        ruleset_version=version.ruleset_version,
        scanner_version=version.scanner_version,
        scanned_at=version.updated_at if scan is None else scan.scanned_at,
        capabilities=version.capabilities,
        findings=None if scan is None else scan.report.findings,
        limits_hit=None if scan is None else scan.report.limits_hit,
    )


@get(
    f"{SKILL}/security.sarif",
    summary="The security report as SARIF",
    tags=["skills"],
    media_type=SARIF_TYPE,
)
async def show_sarif(
    owner: FromPath[str], repo: FromPath[str], skill: FromPath[str], version: Version = ""
) -> Response[bytes]:
    """The findings as SARIF 2.1.0, which code hosts and editors read. Paths are those of the repository."""
    found = await published_version(await published_skill(owner, repo, skill), version)
    scan = await scan_of(found)
    if scan is None:
        raise NotFound(f"The report on {found.slug} {found.version} is no longer kept.", slug=found.slug)
    rules_folder = current_env("settings").settings.rules_folder
    body = await asyncio.to_thread(_write_sarif, found.skill_path, scan, rules_folder)
    return Response(body, media_type=SARIF_TYPE, headers=FRESH)


def _write_sarif(path: str, scan: ScanRecord, rules_folder: str) -> bytes:
    # The words of rules are those of today; which rules the report is by, it says itself.
    rules = replace(load_rules(rules_folder), version=scan.report.ruleset_version)
    return msgspec.json.encode(sarif_log([(path, scan.report)], ruleset=rules))


@get(f"{SKILL}/capabilities", summary="What a skill can do", tags=["skills"])
async def show_capabilities(
    owner: FromPath[str], repo: FromPath[str], skill: FromPath[str], version: Version = ""
) -> Response[CapabilityReport]:
    """Hosts, commands, files, secrets and packages, as far as the scan saw, and what came new with the version."""
    found = await published_version(await published_skill(owner, repo, skill), version)
    report = CapabilityReport(**{name: getattr(found, name) for name in CapabilityReport.__struct_fields__})
    return Response(report, headers=FRESH)
