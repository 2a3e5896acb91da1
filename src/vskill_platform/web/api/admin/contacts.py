"""E-mail addresses that people left: looking at one, and erasing one from everything."""

from __future__ import annotations

import re
from typing import Annotated

import msgspec
from litestar import Response, get, post
from litestar.params import JSONBody

from vskill_platform.accounts.erasing import erase_email
from vskill_platform.domain.access import Permission
from vskill_platform.domain.account import check_email
from vskill_platform.domain.errors import Conflict, InvalidInput, NotFound
from vskill_platform.stores.contacts import find_contact
from vskill_platform.web.access import needs
from vskill_platform.web.acting import act
from vskill_platform.web.api.describing import described
from vskill_platform.web.api.own_views import Asked, Erased
from vskill_platform.web.api.owning import NOT_KEPT
from vskill_platform.web.api.parameters import Identity
from vskill_platform.web.pages.rendering import PageRequest
from vskill_platform.web.pages.wording import plural

TAGS = ["admin"]
_SEEING = needs(Permission.MANAGE_ACCOUNTS)


class ContactView(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The address that was left with a submission."""

    email: str
    created_at: str


class EraseRequest(Asked, frozen=True, kw_only=True, rename="camel"):
    """The address to erase, and why. The reason is kept without the address."""

    email: Annotated[str, msgspec.Meta(min_length=1, max_length=254)]
    reason: str


@get(
    "/api/v1/admin/contacts/{identity:str}",
    summary="Show the address left with a submission",
    tags=TAGS,
    opt=described(
        ContactView(email="ada@example.org", created_at="2026-11-16T09:00:00.000Z"), errors=(NotFound,), access=_SEEING
    ),
)
async def show_contact(identity: Identity) -> Response[ContactView]:
    """The e-mail address that somebody has left with a submission."""
    contact = await find_contact(identity)
    if contact is None:
        raise NotFound(f"No address was left with the submission '{identity}'.", id=identity)
    return Response(ContactView(email=contact.address, created_at=contact.created_at), headers=NOT_KEPT)


@post(
    "/api/v1/admin/contacts/erase",
    status_code=200,
    summary="Erase an e-mail address",
    tags=TAGS,
    opt=described(
        Erased(erased=3, detail="The address is erased from 3 records."),
        body=EraseRequest(email="ada@example.org", reason="They asked for it"),
        errors=(Conflict,),
        access=_SEEING,
    ),
)
async def erase_contact_address(request: PageRequest, data: JSONBody[EraseRequest]) -> Erased:
    """Erase an address from every account and every submission. Backups that were made before still have it."""
    address = check_email(data.email)
    if address is None:
        raise InvalidInput("Give the address that is to be erased.")
    reason = re.sub(re.escape(address), "(the address)", data.reason, flags=re.IGNORECASE)
    count = await act(request, "contact.erase", subject="contact", reason=reason, run=lambda: erase_email(address))
    return Erased(erased=count, detail=f"The address is erased from {plural(count, 'record')}.")


CONTACT_ROUTES = [show_contact, erase_contact_address]
