"""What a route says of itself for the OpenAPI document, beside its parameters and types: an example, and its errors.

    @get("/api/v1/stats", summary="Figures", tags=["stats"], opt=described(EXAMPLE))

What any route may answer (400 for wrong parameters, 429, 503 and so on) is added by `openapi.py`; a route names what is its
own. A test holds every route to this.
"""

from __future__ import annotations

from typing import NamedTuple

from vskill_platform.domain.errors import NotAllowed, SignInRequired, VskillError
from vskill_platform.web.access import ACCESS, Access
from vskill_platform.web.surface.kept_answers import KEPT
from vskill_platform.web.surface.rate_limits import RATE, Rate

DESCRIBED = "described"


class Description(NamedTuple):
    """An example of the answer (a record as it goes over the wire, or text) and of the body, and the errors of the route.

    `also` has further statuses that the same answer comes with. `types` has the media types of an answer that is no record.
    """

    example: object
    body: object
    errors: tuple[type[VskillError], ...]
    also: tuple[int, ...] = ()
    types: tuple[str, ...] = ()


def described(
    example: object,
    *,
    body: object = None,
    errors: tuple[type[VskillError], ...] = (),
    also: tuple[int, ...] = (),
    rate: Rate | None = None,
    is_kept: bool = False,
    access: Access | None = None,
    types: tuple[str, ...] = (),
) -> dict[str, object]:
    """The `opt` of a route. `is_kept` says that its answer depends on the address and the store alone.

    Without `access` a route has that of the router it stands in, and none where that has none.
    """
    options: dict[str, object] = {DESCRIBED: Description(example, body, errors, also, types), RATE: rate, KEPT: is_kept}
    if access is None:
        return options
    options[DESCRIBED] = Description(example, body, (*errors, SignInRequired, NotAllowed), also, types)
    return {**options, ACCESS: access}
