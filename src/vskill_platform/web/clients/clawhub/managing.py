"""What publishers and moderators do: take a skill or a version back, give it back; and what ClawHub has that we do not.

A publisher's deletion withdraws the skill, and restoring has its bytes verified again before they are back. A moderator's puts
it into quarantine. A version that is deleted is yanked: its number stays taken.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from litestar import Response, delete, post
from litestar.params import FromPath

from vskill_platform.accounts.ownership import may_manage, require_manager
from vskill_platform.domain.access import Permission
from vskill_platform.domain.errors import InvalidInput, NotAllowed, NotSupported
from vskill_platform.domain.submission import Actor
from vskill_platform.domain.tombstone import Departure
from vskill_platform.pipeline.rescan import rescan_skill
from vskill_platform.pipeline.withdrawal import withdraw_skill
from vskill_platform.pipeline.yanking import quarantine_skill, restore_skill, yank_version
from vskill_platform.stores.tombstones import get_tombstone
from vskill_platform.web.access import caller_of
from vskill_platform.web.acting import act
from vskill_platform.web.api.own_skills import by_publisher, restore_for_publisher
from vskill_platform.web.clients.clawhub.naming import ClawHubRequest, Named, find_named
from vskill_platform.web.clients.clawhub.reading import LATEST, Document
from vskill_platform.web.clients.clawhub.uploads import OWNED

Short = Annotated[str, msgspec.Meta(max_length=1000)]
_OK: dict[str, object] = {"ok": True}
_BY_CLIENT = "Asked for by a client of ClawHub, without a reason."


class Wish(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a request about a skill may say."""

    owner_handle: Short | None = None
    reason: Short | None = None
    version: Short | None = None

    @property
    def why(self) -> str:
        """The reason, which everybody who looks for the skill is told."""
        return (self.reason or "").strip() or _BY_CLIENT


@delete("/api/v1/skills/{slug:str}", status_code=200, opt=OWNED)
async def delete_skill(request: ClawHubRequest, slug: FromPath[str]) -> Document:
    """Withdraw a skill of one's own; for a moderator, put it into quarantine."""
    named, wish = await _wanted(request, slug)
    own_slug = named.skill.slug
    if await may_manage(caller_of(request), own_slug):
        await withdraw_skill(own_slug, reason=wish.why)
    else:
        _require_moderator(request, own_slug)
        await _act(request, "skills.quarantine", named, wish)
    return Response(_OK)


@post("/api/v1/skills/{slug:str}/undelete", status_code=200, opt=OWNED)
async def undelete_skill(request: ClawHubRequest, slug: FromPath[str]) -> Document:
    """Bring a skill back: what its publisher withdrew is verified again first; what was put aside, a moderator gives back."""
    named, wish = await _wanted(request, slug)
    own_slug = named.skill.slug
    tombstone = await get_tombstone(own_slug) if named.found.is_withdrawn else None
    if tombstone is None:
        return Response(_OK)
    if tombstone.kind is Departure.QUARANTINED:
        _require_moderator(request, own_slug)
        await _act(request, "skills.restore", named, wish)
    else:
        await require_manager(caller_of(request), own_slug)
        await rescan_skill(own_slug, actor=Actor.SYSTEM)
    return Response(_OK)


@delete("/api/v1/skills/{slug:str}/versions/{version:str}", status_code=200, opt=OWNED)
async def delete_version(request: ClawHubRequest, slug: FromPath[str], version: FromPath[str]) -> Document:
    """Yank a version. What people get is the highest that is left."""
    named, wish = await _wanted(request, slug)
    await require_manager(caller_of(request), named.skill.slug)
    await yank_version(named.skill.slug, version, reason=wish.why, by=by_publisher(named.owner))
    return Response(_OK)


@post("/api/v1/skills/{slug:str}/versions/{version:str}/restore", status_code=200, opt=OWNED)
async def undelete_version(request: ClawHubRequest, slug: FromPath[str], version: FromPath[str]) -> Document:
    """Hand a version out again that the publisher has yanked."""
    named, wish = await _wanted(request, slug)
    await require_manager(caller_of(request), named.skill.slug)
    await restore_for_publisher(named.skill.slug, version, reason=wish.why, handle=named.owner)
    return Response(_OK)


@post("/api/v1/skills/{slug:str}/tags/{tag:str}", status_code=200, opt=OWNED)
async def set_tag(request: ClawHubRequest, slug: FromPath[str], tag: FromPath[str]) -> Document:
    """There is one tag, and it is always at the highest version: setting it there is all that can be done."""
    named, wish = await _wanted(request, slug)
    await require_manager(caller_of(request), named.skill.slug)
    if tag != LATEST or wish.version != named.skill.version:
        raise NotSupported(
            f"There is only the tag 'latest', and it is at the highest version, {named.skill.version}. "
            "Delete the versions above the one that people are to get."
        )
    return Response({"ok": True, "slug": named.asked, "tag": LATEST, "version": named.skill.version})


async def _wanted(request: ClawHubRequest, slug: str) -> tuple[Named, Wish]:
    wish = await read_wish(request)
    owner = wish.owner_handle or str(request.query_params.get("ownerHandle", ""))
    return await find_named(request, slug, owner), wish


async def read_wish(request: ClawHubRequest) -> Wish:
    """What the body says; clients may send none. Raises InvalidInput."""
    body = await request.body()
    try:
        return msgspec.json.decode(body, type=Wish) if body else Wish()
    except (msgspec.MsgspecError, UnicodeDecodeError) as exc:
        raise InvalidInput(f"The body is not what this address takes: {exc}.") from exc


def _require_moderator(request: ClawHubRequest, slug: str) -> None:
    if not caller_of(request).may(Permission.MODERATE):
        raise NotAllowed(f"'{slug}' is not yours to manage. Its publisher or a moderator can do this.", slug=slug)


async def _act(request: ClawHubRequest, name: str, named: Named, wish: Wish) -> None:
    slug, caller = named.skill.slug, caller_of(request)
    work = quarantine_skill if name == "skills.quarantine" else restore_skill
    await act(request, name, subject=slug, reason=wish.why, run=lambda: work(slug, reason=wish.why, by=caller.id))


MANAGING_ROUTES = [delete_skill, undelete_skill, delete_version, undelete_version, set_tag]
