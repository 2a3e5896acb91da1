"""Who somebody is, what they like, what they have installed, and the handle that they publish under."""

from __future__ import annotations

from typing import Annotated

import msgspec
from litestar import Response, delete, get, post
from litestar.params import FromPath, JSONBody

from vskill_platform.domain.access import Role
from vskill_platform.domain.errors import Conflict, NotAllowed
from vskill_platform.stores.installs import count_installs
from vskill_platform.stores.publishers import find_publisher
from vskill_platform.stores.pushed_handles import claiming_handle
from vskill_platform.stores.stars import give_star, take_star_back
from vskill_platform.web.access import caller_of
from vskill_platform.web.api.owning import NOT_KEPT
from vskill_platform.web.clients.clawhub.naming import ClawHubRequest, find_named
from vskill_platform.web.clients.clawhub.publishing import default_handle
from vskill_platform.web.clients.clawhub.reading import Document, Owner
from vskill_platform.web.clients.clawhub.standing import require_offered
from vskill_platform.web.clients.clawhub.uploads import OWNED
from vskill_platform.web.surface.rate_limits import INSTALLS, PUSHES, STARS, limited
from vskill_platform.worker_context import current_env

_ROLES = {Role.SUPER_ADMIN: "admin", Role.REVIEWER: "moderator"}
Short = Annotated[str, msgspec.Meta(max_length=400)]


class InstallEvent(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An install that a client tells of."""

    event: Short = ""
    slug: Short = ""
    owner_handle: Short | None = None


class NewPublisher(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A handle that somebody wants to publish under."""

    handle: Short


@get("/api/v1/whoami", opt=OWNED)
async def whoami(request: ClawHubRequest) -> Document:
    """The caller, by the handle that they publish under."""
    caller = caller_of(request)
    role = "user" if caller.role is None else _ROLES.get(caller.role, "user")
    handle = await default_handle(caller.id, caller.name)
    user = {"handle": handle, "displayName": caller.name, "image": None, "role": role}
    return Response({"user": user}, headers=NOT_KEPT)


@post("/api/v1/stars/{slug:str}", status_code=200, guards=[limited(STARS)], opt=OWNED)
async def star(request: ClawHubRequest, slug: FromPath[str], owner: Owner = "") -> Document:
    """Star a skill."""
    skill = await require_offered(await find_named(request, slug, owner))
    is_new = await give_star(skill, _visitor(request))
    return Response({"ok": True, "starred": True, "alreadyStarred": not is_new})


@delete("/api/v1/stars/{slug:str}", status_code=200, guards=[limited(STARS)], opt=OWNED)
async def unstar(request: ClawHubRequest, slug: FromPath[str], owner: Owner = "") -> Document:
    """Take a star back."""
    skill = await require_offered(await find_named(request, slug, owner))
    was_there = await take_star_back(skill, _visitor(request))
    return Response({"ok": True, "unstarred": was_there, "alreadyUnstarred": not was_there})


def _visitor(request: ClawHubRequest) -> str:
    """What somebody's star is known by: their account."""
    return f"account:{caller_of(request).id}"


@post("/api/cli/telemetry/install", status_code=200, guards=[limited(INSTALLS)], opt=OWNED)
async def report_install(request: ClawHubRequest, data: JSONBody[InstallEvent]) -> Document:
    """Count an install. Other things that clients tell of are not kept."""
    if data.event == "install" and data.slug:
        skill = await require_offered(await find_named(request, data.slug, data.owner_handle or ""))
        await count_installs([skill])
    return Response({"ok": True})


@post("/api/v1/publishers", status_code=200, guards=[limited(PUSHES)], opt=OWNED)
async def create_publisher(request: ClawHubRequest, data: JSONBody[NewPublisher]) -> Document:
    """Take a handle that is free, for somebody who has none yet."""
    caller, handle = caller_of(request), data.handle.strip().lstrip("@").lower()
    if await find_publisher(handle) is not None:
        raise NotAllowed(f"'{handle}' is taken. Its owners can invite you.")
    claiming = await claiming_handle(handle, account=caller.id)
    try:
        await current_env("writes").writes.commit(claiming)
    except Conflict as exc:
        raise NotAllowed(f"Somebody else has just taken '{handle}'.") from exc
    return Response({"ok": True, "publisherId": handle, "handle": handle, "created": True, "trusted": False})


PEOPLE_ROUTES = [whoami, star, unstar, report_install, create_publisher]
