"""What every page about one skill has: the skill, the version it is about, and what stands at its head.

An older slug and a withdrawn skill are told apart by the same functions as in the API; a slug that nobody knows comes back
with those that are near.
"""

from __future__ import annotations

from typing import NamedTuple

from vskill_platform.domain.errors import NotFound, SkillMoved, SkillWithdrawn
from vskill_platform.domain.skill import PublishedSkillSummary, Skill, SkillVersion
from vskill_platform.domain.source_link import source_link
from vskill_platform.ports.catalog import MAX_SEARCH_CHARS
from vskill_platform.stores.counts import SkillCounts, get_counts
from vskill_platform.stores.skills import SkillQuery, search_skills
from vskill_platform.web.api.skill_lookup import published_skill, published_version
from vskill_platform.web.pages.rendering import PageRequest
from vskill_platform.web.pages.wording import path_quote, safe_link

SKILL_PATH = "/skills/{owner:str}/{repo:str}/{skill:str}"
_NEAR = 5


class Frame(NamedTuple):
    """A skill, one of its versions, and the addresses that the pages about it share."""

    skill: Skill
    version: SkillVersion
    counts: SkillCounts

    @property
    def is_newest(self) -> bool:
        """Whether this is the version that people get."""
        return self.version.version == self.skill.version

    @property
    def home(self) -> str:
        """The address of the skill's page."""
        return f"/skills/{path_quote(self.skill.slug)}"

    @property
    def version_home(self) -> str:
        """The address of this version's page, which never becomes that of another."""
        return f"{self.home}/versions/{path_quote(self.version.version)}"

    @property
    def query(self) -> str:
        """What addresses of this version's other pages end with; the newest needs nothing."""
        return "" if self.is_newest else f"?version={path_quote(self.version.version)}"

    @property
    def files(self) -> str:
        """What the addresses of this version's files begin with."""
        return f"{self.version_home}/files/"

    @property
    def archive(self) -> str:
        """The address of this version's zip archive."""
        return f"/api/v1{self.version_home}/archive.zip"

    @property
    def source(self) -> str:
        """Where the source is at the pinned commit; the repository where its host's addresses are not known."""
        version = self.version
        exact = source_link(version.repo_url, commit=version.commit, path=version.skill_path)
        return safe_link(exact or version.repo_url)


async def load_frame(request: PageRequest) -> Frame:
    """The skill that an address is about and the version that it names, in its path or as `version`; else the newest.

    Raises SkillMoved, SkillWithdrawn, or NotFound with the skills that are near.
    """
    named = request.path_params
    found = await find_published(named["owner"], named["repo"], named["skill"])
    version = str(named.get("version") or request.query_params.get("version", ""))
    return Frame(found, await published_version(found, version), await get_counts(found))


async def find_published(owner: str, repo: str, skill: str) -> Skill:
    """The published skill under this slug. Raises SkillMoved, SkillWithdrawn, or NotFound with the skills that are near."""
    try:
        return await published_skill(owner, repo, skill)
    except (SkillMoved, SkillWithdrawn):
        raise
    except NotFound as error:
        near = await find_near(skill)
        raise NotFound(f"There is no skill '{owner}/{repo}/{skill}'.", **error.fields, near=near) from error


async def find_near(words: str) -> tuple[PublishedSkillSummary, ...]:
    """Skills that somebody may have meant."""
    search = words.replace("-", " ")[:MAX_SEARCH_CHARS]
    return tuple((await search_skills(SkillQuery(search=search, limit=_NEAR))).rows)
