"""Looking at a repository before submitting it."""

from __future__ import annotations

from typing import Annotated

import msgspec
from litestar import post
from litestar.params import JSONBody
from litestar.status_codes import HTTP_200_OK

from vskill_platform.domain.errors import InvalidRepositoryUrl, SourceRefused, SourceUnreachable
from vskill_platform.pipeline.discovery import discover_skills
from vskill_platform.web.api import examples
from vskill_platform.web.api.describing import described
from vskill_platform.web.api.parameters import MAX_URL_CHARS
from vskill_platform.web.surface.rate_limits import DISCOVERIES, limited


class DiscoveryRequest(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The repository to look at."""

    repo_url: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_URL_CHARS)]


class DiscoveredSkill(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A skill of the repository: the name that it would be submitted under, and its folder (`""` is the root)."""

    name: str
    path: str


class DiscoveryAnswer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The repository in its normal form, the commit that was looked at, and the skills in it."""

    repo_url: str
    tree_path: str
    commit: str
    skills: list[DiscoveredSkill]


_EXAMPLE = DiscoveryAnswer(
    repo_url=examples.REPOSITORY,
    tree_path="",
    commit=examples.COMMIT,
    skills=[DiscoveredSkill(name="pdf-forms", path="skills/pdf-forms")],
)


@post(
    "/api/v1/submissions/discover",
    status_code=HTTP_200_OK,
    summary="Look for skills in a repository",
    tags=["submissions"],
    guards=[limited(DISCOVERIES)],
    opt=described(
        _EXAMPLE,
        body=DiscoveryRequest(repo_url=examples.REPOSITORY),
        errors=(InvalidRepositoryUrl, SourceRefused, SourceUnreachable),
        rate=DISCOVERIES,
    ),
)
async def discover(data: JSONBody[DiscoveryRequest]) -> DiscoveryAnswer:
    """Fetch the newest commit and list the skills that a submission of this address would be about. Nothing is submitted."""
    found = await discover_skills(data.repo_url)
    skills = [DiscoveredSkill(name=folder.name, path=folder.path) for folder in found.folders]
    return DiscoveryAnswer(repo_url=found.repo_url, tree_path=found.tree_path, commit=found.commit, skills=skills)
