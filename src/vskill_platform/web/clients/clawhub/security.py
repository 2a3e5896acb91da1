"""How a skill was judged: moderation, verification of one version, its card, and verdicts about many at once."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlencode

import msgspec
from litestar import Response, get, post
from litestar.params import FromPath, JSONBody

from vskill_platform.domain.errors import VskillError
from vskill_platform.domain.scan import Finding, Severity
from vskill_platform.domain.skill import SkillVersion
from vskill_platform.domain.slug import is_pushed
from vskill_platform.domain.times import ms_from_iso
from vskill_platform.web.api.security import scan_of
from vskill_platform.web.api.skill_lookup import FRESH, published_version
from vskill_platform.web.clients.clawhub.naming import ClawHubRequest, Named, find_named
from vskill_platform.web.clients.clawhub.reading import Document, Owner, Text, wanted_version
from vskill_platform.web.clients.clawhub.standing import (
    Standing,
    describe_moderation,
    is_suspicious,
    refusal,
    require_offered,
    standing_of,
)
from vskill_platform.web.clients.clawhub.views import view_files
from vskill_platform.web.site import site_url

SCHEMA = "clawhub.skill.verify.v1"
MOST_ASKED = 100
_MOST_EVIDENCE = 50
_SEVERITIES = {Severity.CRITICAL: "critical", Severity.HIGH: "critical", Severity.MEDIUM: "warn", Severity.LOW: "warn"}


class AskedVersion(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One of many versions that somebody has installed."""

    slug: Annotated[str, msgspec.Meta(max_length=400)]
    owner_handle: Annotated[str, msgspec.Meta(max_length=200)] | None = None
    version: Annotated[str, msgspec.Meta(max_length=100)] = ""


class AskedVersions(msgspec.Struct, frozen=True, kw_only=True):
    """Many versions."""

    items: Annotated[list[AskedVersion], msgspec.Meta(max_length=MOST_ASKED)]


@get("/api/v1/skills/{slug:str}/moderation")
async def show_moderation(request: ClawHubRequest, slug: FromPath[str], owner: Owner = "") -> Document:
    """What stands against a skill, with the places in its files. Told of skills that are gone, too."""
    named = await find_named(request, slug, owner)
    standing = await standing_of(named)
    version = await published_version(named.skill, "")
    findings = await _findings(version)
    told = describe_moderation(version, standing, _codes(findings))
    evidence = [_view_evidence(finding) for finding in findings[:_MOST_EVIDENCE]]
    return Response({"moderation": {**told, "evidence": evidence}}, headers=FRESH)


@get("/api/v1/skills/{slug:str}/verify")
async def verify_skill(
    request: ClawHubRequest, slug: FromPath[str], owner: Owner = "", version: Text = "", tag: Text = ""
) -> Document:
    """What is known for certain of a version: its bytes, where they came from and how they were judged."""
    named = await find_named(request, slug, owner)
    standing = await standing_of(named)
    if not standing.is_offered and not standing.is_malware:
        raise refusal(named, standing)
    found = await (
        wanted_version(named.skill, version=version, tag=tag)
        if standing.is_offered
        else published_version(named.skill, version)
    )
    resolved_from = "version" if version else "tag" if tag else "latest"
    told = await _verification(request, named, found, standing)
    return Response({**told, "resolvedFrom": resolved_from, "tag": tag or None}, headers=FRESH)


async def _verification(
    request: ClawHubRequest, named: Named, version: SkillVersion, standing: Standing
) -> dict[str, object]:
    site, skill = site_url(request), named.skill
    reasons = _reasons(version, standing)
    query = urlencode({"ownerHandle": named.owner, "version": version.version})
    return {
        "schema": SCHEMA,
        "ok": not reasons,
        "decision": "fail" if reasons else "pass",
        "reasons": reasons,
        "slug": named.asked,
        "displayName": skill.name,
        "pageUrl": f"{site}/skills/{skill.slug}",
        "publisherHandle": named.owner,
        "publisherDisplayName": named.owner,
        "publisherProfileUrl": f"{site}/publishers/{named.owner}",
        "version": version.version,
        "createdAt": ms_from_iso(version.published_at),
        "card": {"available": True, "url": f"{site}/clawhub/api/v1/skills/{named.asked}/card?{query}"},
        "artifact": {
            "contentDigest": version.content_digest,
            "zipDigest": version.zip_digest,
            "zipSize": version.zip_size,
            "files": view_files(version),
        },
        "provenance": _view_provenance(version),
        "security": await _view_security(version),
        "signature": None,
    }


def _reasons(version: SkillVersion, standing: Standing) -> list[str]:
    """Why a version does not pass; none where it does."""
    if standing.is_malware:
        return [f"malicious: {standing.reason}"]
    return [f"{version.verdict.value.lower()}: score {version.score} of 100"] if is_suspicious(version) else []


def _view_provenance(version: SkillVersion) -> dict[str, object]:
    if is_pushed(version.repo_url):
        return {"source": "push", "submission": version.submission_id}
    return {
        "source": "git",
        "repository": version.repo_url,
        "commit": version.commit,
        "path": version.skill_path,
        "submission": version.submission_id,
    }


async def _view_security(version: SkillVersion) -> dict[str, object]:
    findings = await _findings(version)
    return {
        "verdict": version.verdict.value,
        "score": version.score,
        "tier": version.tier.value,
        "ruleset": version.ruleset_version,
        "scanner": version.scanner_version,
        "reasonCodes": _codes(findings),
        "capabilities": msgspec.to_builtins(version.capabilities),
    }


@get("/api/v1/skills/{slug:str}/card", media_type="text/markdown")
async def show_card(
    request: ClawHubRequest, slug: FromPath[str], owner: Owner = "", version: Text = ""
) -> Response[str]:
    """The same in a few lines for people."""
    named = await find_named(request, slug, owner)
    found = await wanted_version(await require_offered(named), version=version)
    lines = [
        f"# {named.skill.slug} {found.version}",
        "",
        f"- Verdict: {found.verdict.value}, {found.score} of 100, tier {found.tier.value}",
        f"- Published: {found.published_at}",
        f"- Content: {found.content_digest}",
        f"- Archive: {found.zip_digest}",
        f"- Source: {'pushed' if is_pushed(found.repo_url) else f'{found.repo_url} at {found.commit}'}",
        f"- Rules: {found.ruleset_version}, scanner {found.scanner_version}",
        f"- Page: {site_url(request)}/skills/{named.skill.slug}",
    ]
    return Response("\n".join(lines) + "\n", media_type="text/markdown", headers=FRESH)


@post("/api/v1/skills/-/security-verdicts", status_code=200)
async def show_verdicts(request: ClawHubRequest, data: JSONBody[AskedVersions]) -> Document:
    """How each of many installed versions stands today. What is not known is said for that one alone."""
    return Response({"ok": True, "items": [await _verdict(request, one) for one in data.items]})


async def _verdict(request: ClawHubRequest, asked: AskedVersion) -> dict[str, object]:
    told: dict[str, object] = {"slug": asked.slug, "ownerHandle": asked.owner_handle, "version": asked.version}
    try:
        named = await find_named(request, asked.slug, asked.owner_handle or "")
        version = await published_version(named.skill, asked.version)
    except VskillError as error:
        if error.retryable:
            raise
        return {**told, "ok": False, "decision": "fail", "verdict": None, "reasons": [error.message]}
    standing = await standing_of(named)
    reasons = _reasons(version, standing) or ([] if standing.is_offered else [standing.reason])
    reasons += [f"yanked: {version.yank_reason}"] if version.is_yanked else []
    verdict = describe_moderation(version, standing, [])["verdict"]
    return {
        **told,
        "ownerHandle": named.owner,
        "ok": not reasons,
        "decision": "fail" if reasons else "pass",
        "verdict": verdict,
        "reasons": reasons,
    }


async def _findings(version: SkillVersion) -> list[Finding]:
    scan = await scan_of(version)
    return [] if scan is None else list(scan.report.findings)


def _codes(findings: list[Finding]) -> list[str]:
    return list(dict.fromkeys(finding.rule_id for finding in findings))[:_MOST_EVIDENCE]


def _view_evidence(finding: Finding) -> dict[str, object]:
    return {
        "code": finding.rule_id,
        "severity": _SEVERITIES.get(finding.severity, "info"),
        "file": finding.file,
        "line": finding.line,
        "message": finding.message,
        "evidence": finding.excerpt,
    }


SECURITY_ROUTES = [show_moderation, verify_skill, show_card, show_verdicts]
