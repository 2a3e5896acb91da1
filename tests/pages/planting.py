"""Published skills as the pipeline leaves them, without the minutes that fetching and scanning many would take."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import pytest

from vskill_platform.domain.archives import build_tar, build_zip
from vskill_platform.domain.capabilities import compare, kinds_of
from vskill_platform.domain.content import SkillFile, content_digest, make_content
from vskill_platform.domain.scan import Capabilities, Finding, Owasp, ScanReport, Severity, Threat, Verdict
from vskill_platform.domain.skill import CertTier, Skill, SkillVersion, VersionFile
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.stores.scans import TIER1, ScanRecord, recording
from vskill_platform.stores.skills import find_skill, putting_published
from vskill_platform.stores.versions import get_versions, putting_version
from vskill_platform.worker_context import run_with_worker_env

ON_EVERY_ENGINE = pytest.mark.parametrize("engine_name", ["sqlite", "postgres"], indirect=True)
SLUG = "acme/toolbox/greeting"
MOMENT = "2026-11-16T10:00:00.000Z"
SKILL_MD = (
    b"---\nname: greeting\ndescription: Greets people.\nlicense: MIT\n---\n\n# Greeting\n\nSay hello to *everybody*.\n"
)


async def plant(
    env: WorkerEnv,
    *,
    slug: str = SLUG,
    version: str = "1.0.0",
    files: Mapping[str, bytes] | None = None,
    findings: tuple[Finding, ...] = (),
    capabilities: Capabilities | None = None,
    **fields: Any,
) -> SkillVersion:
    """Publish a version of a skill; `fields` are further fields of its record."""
    return await run_with_worker_env(
        env,
        lambda: _plant(
            env, slug, version, files or {"SKILL.md": SKILL_MD}, findings, capabilities or Capabilities(), fields
        ),
    )


async def _plant(
    env: WorkerEnv,
    slug: str,
    number: str,
    files: Mapping[str, bytes],
    findings: tuple[Finding, ...],
    capabilities: Capabilities,
    fields: dict[str, Any],
) -> SkillVersion:
    content = make_content([SkillFile(path=path, content=body) for path, body in files.items()])
    zipped, tarred = build_zip(content), build_tar(content)
    before = (await get_versions(slug) or [None])[0]
    verdict = fields.pop("verdict", Verdict.PASS)
    shared = {"slug": slug, "version": number, "repo_url": "https://github.com/acme/toolbox", "score": 100}
    shared |= {"name": slug.rpartition("/")[2], "description": "Greets people.", "skill_path": "skills/greeting"}
    shared |= {"commit": "5c799ae462bb3a61ab2aeec195bc5b535877d787", "tier": CertTier.SCANNED}
    shared |= {"content_digest": content_digest(content), "submission_id": f"sub_{slug}", "ruleset_version": "1"}
    shared |= {"published_at": MOMENT, "updated_at": MOMENT, "scanner_version": "1"}
    shared |= {name: value for name, value in fields.items() if name in SkillVersion.__struct_fields__}
    version = SkillVersion(
        **shared,
        zip_digest=await env.blobs.put(zipped),
        zip_size=len(zipped),
        tar_digest=await env.blobs.put(tarred),
        tar_size=len(tarred),
        files=tuple(_describe(file) for file in content.files),
        verdict=verdict,
        capabilities=capabilities,
        capability_changes=None if before is None else compare(before.capabilities, capabilities, since=before.version),
        run=1,
    )
    published = {name: value for name, value in shared.items() if name in Skill.__struct_fields__}
    published |= {
        "publisher": slug.split("/")[0],
        "verdict": verdict.value,
        "capabilities": kinds_of(capabilities),
    } | {name: value for name, value in fields.items() if name in Skill.__struct_fields__}
    await env.writes.commit(
        [
            *putting_published(Skill(**published), found=await find_skill(slug)),
            putting_version(version),
            *recording(_scan(version, findings)),
        ]
    )
    return version


def _describe(file: SkillFile) -> VersionFile:
    return VersionFile(path=file.path, size=len(file.content), sha256=hashlib.sha256(file.content).hexdigest())


def _scan(version: SkillVersion, findings: tuple[Finding, ...]) -> ScanRecord:
    report = ScanReport(
        name=version.name,
        verdict=version.verdict,
        score=version.score,
        flagged=False,
        content_digest=version.content_digest,
        ruleset_version=version.ruleset_version,
        scanner_version=version.scanner_version,
        capabilities=version.capabilities,
        findings=findings,
    )
    return ScanRecord(
        submission_id=version.submission_id,
        run=1,
        tier=TIER1,
        scanned_at=MOMENT,
        commit=version.commit,
        report=report,
    )


def make_finding(**fields: Any) -> Finding:
    """A finding of a rule."""
    given = {
        "rule_id": "NET-001",
        "category": Threat.DATA_EXFILTRATION,
        "owasp": Owasp.MALICIOUS_SKILL,
        "severity": Severity.LOW,
        "file": "SKILL.md",
        "line": 7,
        "column": 1,
        "excerpt": "curl https://example.com",
        "message": "Sends something to a host",
        "why": "What leaves cannot be taken back.",
        "fix": "Ask before sending.",
        "layer": "raw",
    }
    return Finding(**(given | fields))
