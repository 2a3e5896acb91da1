"""Second opinions on a published version, for programs."""

from __future__ import annotations

import msgspec
from litestar import Response, get
from litestar.params import FromPath

from vskill_platform.web.api.security import Version
from vskill_platform.web.api.skill_lookup import FRESH, SKILL, published_skill, published_version
from vskill_platform.web.opinions import Opinions, opinions_on_version


class OpinionsView(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What others say of a version: external scanners, each apart, and the judge."""

    slug: str
    version: str
    opinions: Opinions


@get(f"{SKILL}/opinions", summary="Second opinions on a skill", tags=["skills"])
async def show_opinions(
    owner: FromPath[str], repo: FromPath[str], skill: FromPath[str], version: Version = ""
) -> Response[OpinionsView]:
    """What each external scanner and the judge say of these bytes, and who has yet to answer.

    A finding with `sameAs` was found by a rule of ours in the same place. A FAIL of anybody is looked at by a person.
    """
    found = await published_version(await published_skill(owner, repo, skill), version)
    view = OpinionsView(slug=found.slug, version=found.version, opinions=await opinions_on_version(found))
    return Response(view, headers=FRESH)
