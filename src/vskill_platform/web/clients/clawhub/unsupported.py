"""What ClawHub has and this registry has not. It is said in a sentence, with what there is instead, and never done by halves."""

from __future__ import annotations

from litestar import Response, get, post, route

from vskill_platform.domain.errors import NotSupported
from vskill_platform.web.clients.clawhub.reading import Document
from vskill_platform.web.clients.clawhub.uploads import OWNED

_ANY = ["GET", "POST", "PUT", "PATCH", "DELETE"]


@post(["/api/v1/skills/{slug:str}/rename", "/api/v1/skills/{slug:str}/merge"], opt=OWNED)
async def refuse_renaming() -> None:
    """A skill's name is where its bytes come from."""
    raise NotSupported(
        "Skills are not renamed or merged here: a name is where the bytes come from. Publish it under the new name and delete "
        "the old one."
    )


@post(
    [
        "/api/v1/skills/{slug:str}/transfer",
        "/api/v1/skills/{slug:str}/transfer/accept",
        "/api/v1/skills/{slug:str}/transfer/reject",
        "/api/v1/skills/{slug:str}/transfer/cancel",
    ],
    opt=OWNED,
)
async def refuse_transfer() -> None:
    """A skill stays with its publisher."""
    raise NotSupported(
        "Skills do not change their publisher here. Invite the other account to yours, on the page of your publishers."
    )


@get(["/api/v1/transfers/incoming", "/api/v1/transfers/outgoing"], opt=OWNED)
async def list_transfers() -> Document:
    """There are none, ever."""
    return Response({"transfers": []})


@route(
    [
        "/api/v1/packages",
        "/api/v1/packages/{rest:path}",
        "/api/v1/code-plugins",
        "/api/v1/bundle-plugins",
        "/api/v1/publish/{rest:path}",
    ],
    http_method=_ANY,  # type: ignore[arg-type]
    opt=OWNED,
)
async def refuse_packages() -> None:
    """There are skills here."""
    raise NotSupported("This registry has skills and no packages or plugins. `clawhub publish` is for skills.")


@get("/api/v1/skills-sh/{rest:path}")
async def refuse_catalog() -> None:
    """Another catalog's entries are not resolved here."""
    raise NotSupported("Entries of skills.sh are not resolved here. Submit the repository, and it is verified.")


UNSUPPORTED_ROUTES = [refuse_renaming, refuse_transfer, list_transfers, refuse_packages, refuse_catalog]
