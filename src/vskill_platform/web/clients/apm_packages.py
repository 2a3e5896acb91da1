"""Which skill a package of apm is. Slugs have three parts, and apm's own names two or more.

`owner/repo/skill` is the slug itself and always means the same skill. apm sends it with an escaped slash, which is none by
the time it is here. `owner/repo_skill` is the same for commands that take two parts alone; no slug has an underscore.
`owner/name` is what somebody pushed under that name; where nobody did, it is the repository of that name as long as exactly
one skill is published from it.
"""

from __future__ import annotations

from vskill_platform.domain.errors import AmbiguousPackage, NotFound, SkillMoved
from vskill_platform.domain.ids import skill_key, withdrawn_key
from vskill_platform.domain.skill import Skill
from vskill_platform.domain.slug import pushed_skill_slug, slugify
from vskill_platform.stores.skills import FoundSkill, find_skill
from vskill_platform.web.api.skill_lookup import require_published
from vskill_platform.worker_context import current_env

SEPARATOR = "_"
MOST_NAMED = 20
"""How many skills of a repository are named to somebody who has to choose."""


async def find_package(owner: str, repo: str, skill: str = "") -> Skill:
    """The published skill that is meant. Raises NotFound, SkillWithdrawn or AmbiguousPackage."""
    owner, repo, skill = owner.lower(), repo.lower(), skill.lower()
    if not skill:
        repo, _, skill = repo.partition(SEPARATOR)
    slug = f"{owner}/{repo}/{skill}" if skill else await _slug_of(owner, repo)
    return (await _follow(slug)).skill


async def skills_of_repository(owner: str, repo: str) -> list[str]:
    """The slugs of the skills that are published from a repository, some twenty at most."""
    return await _slugs_below(skill_key(f"{owner}/{repo}/"), skill_key(""))


async def _slug_of(owner: str, repo: str) -> str:
    if slugify(owner) != owner or slugify(repo) != repo:
        raise NotFound(f"A package is called owner/name, owner/repository/skill or owner/repository{SEPARATOR}skill.")
    pushed = pushed_skill_slug(owner, repo)
    if await find_skill(pushed) is not None:
        return pushed
    published = await skills_of_repository(owner, repo)
    slugs = published or await _slugs_below(withdrawn_key(f"{owner}/{repo}/"), withdrawn_key(""))
    if len(slugs) > 1:
        raise AmbiguousPackage(
            f"{owner}/{repo} has several skills. Ask for one of them by its whole name: {', '.join(slugs)}.",
            owner=owner,
            repo=repo,
        )
    return slugs[0] if slugs else f"{owner}/{repo}"


async def _slugs_below(prefix: str, kind: str) -> list[str]:
    page = await current_env("kv").kv.list(prefix, limit=MOST_NAMED)
    return [key.removeprefix(kind) for key in page.keys]


async def _follow(slug: str) -> FoundSkill:
    """The skill under its present slug. The client follows no redirects, and its lock file holds the address it asked for."""
    try:
        return await require_published(slug)
    except SkillMoved as moved:
        return await require_published(str(moved.fields["slug"]))
