"""Skills as operators meet them: published or withdrawn, with all their versions."""

from __future__ import annotations

from typing import Annotated

from litestar import get
from litestar.params import QueryParameter

from vskill_platform.domain.access import Permission
from vskill_platform.domain.errors import NotFound
from vskill_platform.domain.scan import Capabilities
from vskill_platform.domain.skill import PublishedSkillSummary, SkillVersion
from vskill_platform.stores.skills import alias_end, find_skill, get_published_skills_list
from vskill_platform.stores.versions import get_versions
from vskill_platform.web.access import needs
from vskill_platform.web.api import examples
from vskill_platform.web.api.admin.requests import ManyRows
from vskill_platform.web.api.describing import described
from vskill_platform.web.api.parameters import Offset
from vskill_platform.web.views import SkillPage, SkillView, VersionView

TAGS = ["admin"]
_SLUG = "acme/skills/pdf-forms"
_SKILL = SkillView(
    slug=_SLUG,
    name="pdf-forms",
    description="Fills in forms.",
    repo_url=examples.REPOSITORY,
    is_withdrawn=False,
    versions=[
        VersionView(
            version="1.0.0",
            published_at="2026-02-21T10:00:00.000Z",
            tier="SCANNED",
            verdict="PASS",
            score=97,
            commit=examples.COMMIT,
            content_digest=examples.DIGEST,
            ruleset_version="1",
            capabilities=Capabilities(),
            capability_changes=None,
            yanked_at="",
            yank_reason="",
        )
    ],
)
Words = Annotated[str, QueryParameter(description="Words to look for.")]
Tier = Annotated[str | None, QueryParameter(description="Trust tier.")]
Slug = Annotated[str, QueryParameter(description="Slug, present or former.")]


@get(
    "/api/v1/admin/skills",
    summary="List published skills",
    tags=TAGS,
    opt=described(
        SkillPage(skills=[PublishedSkillSummary(slug=_SLUG, name="pdf-forms", repo_url=examples.REPOSITORY)], total=1),
        access=needs(Permission.SEE_PANEL),
    ),
)
async def list_skills(search: Words = "", tier: Tier = None, limit: ManyRows = 50, offset: Offset = 0) -> SkillPage:
    """Published skills, newest change first."""
    found = await get_published_skills_list(search=search, tier=tier, limit=limit, offset=offset)
    return SkillPage(skills=found.rows, total=found.total)


@get(
    "/api/v1/admin/skill",
    summary="Show a skill that is or was published",
    tags=TAGS,
    opt=described(_SKILL, errors=(NotFound,), access=needs(Permission.SEE_PANEL)),
)
async def show_skill(slug: Slug) -> SkillView:
    """A skill by its slug or an older one, with all its versions, also where it is withdrawn."""
    found = await find_skill(await alias_end(slug))
    if found is None:
        raise NotFound(f"There is no skill '{slug}', and there was none.", slug=slug)
    skill = found.skill
    return SkillView(
        slug=skill.slug,
        name=skill.name,
        description=skill.description,
        repo_url=skill.repo_url,
        is_withdrawn=found.is_withdrawn,
        versions=[_view_version(version) for version in await get_versions(skill.slug)],
    )


def _view_version(version: SkillVersion) -> VersionView:
    return VersionView(**{name: getattr(version, name) for name in VersionView.__struct_fields__})


SKILL_ROUTES = [list_skills, show_skill]
