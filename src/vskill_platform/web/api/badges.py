"""Badges for READMEs: how a skill was judged, as a picture and in the form that shields.io draws."""

from __future__ import annotations

from litestar import Response, get
from litestar.params import FromPath

from vskill_platform.domain.badge import Badge, BadgeColour, draw_badge
from vskill_platform.domain.errors import SkillWithdrawn
from vskill_platform.domain.scan import Verdict
from vskill_platform.domain.skill import CertTier
from vskill_platform.web.api.skill_lookup import SKILL, published_skill, published_version
from vskill_platform.web.api.skill_views import BadgeEndpoint

_LABEL = "vskill"
_SHORTLY = {"Cache-Control": "public, max-age=300"}
_WORDS = {CertTier.SCANNED: "scanned", CertTier.VERIFIED: "verified", CertTier.CERTIFIED: "certified"}
_COLOURS = {Verdict.PASS: BadgeColour.GOOD, Verdict.CONCERNS: BadgeColour.FAIR, Verdict.FAIL: BadgeColour.BAD}


@get(f"{SKILL}/badge", summary="A badge as a picture", tags=["skills"], media_type="image/svg+xml")
async def show_badge(owner: FromPath[str], repo: FromPath[str], skill: FromPath[str]) -> Response[str]:
    """An SVG with a text alternative. A skill that was withdrawn has a badge that says so."""
    badge = await _badge_of(owner, repo, skill)
    return Response(draw_badge(badge), media_type="image/svg+xml", headers=_SHORTLY)


@get(f"{SKILL}/badge.json", summary="A badge for shields.io", tags=["skills"])
async def show_badge_endpoint(
    owner: FromPath[str], repo: FromPath[str], skill: FromPath[str]
) -> Response[BadgeEndpoint]:
    """The same badge as an endpoint of shields.io."""
    badge = await _badge_of(owner, repo, skill)
    is_error = badge.colour is BadgeColour.NONE
    view = BadgeEndpoint(label=badge.label, message=badge.message, color=badge.colour.value, is_error=is_error)
    return Response(view, headers=_SHORTLY)


async def _badge_of(owner: str, repo: str, skill: str) -> Badge:
    """The badge of a skill. One that is no longer published says so: who shows it should see that."""
    try:
        found = await published_skill(owner, repo, skill)
    except SkillWithdrawn:
        return Badge(_LABEL, "withdrawn", BadgeColour.NONE)
    version = await published_version(found, "")
    return Badge(_LABEL, f"{_WORDS[version.tier]} · {version.score}", _COLOURS[version.verdict])
