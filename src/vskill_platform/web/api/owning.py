"""What routes have in common that are about what belongs to somebody: who may ask, and that nobody keeps the answer."""

from __future__ import annotations

from typing import Annotated

from litestar.params import PathParameter

from vskill_platform.domain.access import Permission
from vskill_platform.domain.errors import VskillError
from vskill_platform.web.access import needs
from vskill_platform.web.api.describing import described
from vskill_platform.web.surface.rate_limits import Rate

NOT_KEPT = {"Cache-Control": "no-store"}
OWNED = needs(Permission.OWN)
Handle = Annotated[str, PathParameter(min_length=1, max_length=100, description="Handle of a publisher.")]
Repo = Annotated[str, PathParameter(min_length=1, max_length=100, description="Second part of the skill's slug.")]
SkillPart = Annotated[str, PathParameter(min_length=1, max_length=100, description="Third part of the skill's slug.")]
Version = Annotated[str, PathParameter(min_length=1, max_length=100, description="Version of the skill.")]
Member = Annotated[str, PathParameter(min_length=1, max_length=100, description="Name that the member signs in with.")]
ClaimId = Annotated[str, PathParameter(min_length=1, max_length=100, description="Id of the claim.")]
PathId = Annotated[str, PathParameter(min_length=1, max_length=100, description="Id of the private path.")]
CollectionName = Annotated[str, PathParameter(min_length=1, max_length=100, description="Name of the collection.")]


def owned(
    example: object,
    *,
    body: object = None,
    errors: tuple[type[VskillError], ...] = (),
    also: tuple[int, ...] = (),
    rate: Rate | None = None,
) -> dict[str, object]:
    """The `opt` of a route for people who have signed in, which acts on what is theirs."""
    return described(example, body=body, errors=errors, also=also, rate=rate, access=OWNED)
