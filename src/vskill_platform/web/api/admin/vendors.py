"""Trusted vendors: who they are, trusting one, and trusting one no more."""

from __future__ import annotations

from typing import Annotated

import msgspec
from litestar import get, post
from litestar.params import JSONBody

from vskill_platform.domain.access import Permission
from vskill_platform.domain.errors import Conflict, NotFound
from vskill_platform.domain.vendor import MAX_SOURCE_CHARS, Vendor
from vskill_platform.stores.vendors import add_vendor, list_vendors, remove_vendor
from vskill_platform.web.access import caller_of, needs
from vskill_platform.web.acting import act
from vskill_platform.web.api.describing import described
from vskill_platform.web.pages.rendering import PageRequest

TAGS = ["admin"]
_STAYS = "What it has published stays as it is, its tier too, until it is scanned again."


class VendorRequest(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """An owner (`github.com/anthropics`) or a repository (`github.com/anthropics/skills`), and why."""

    source: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_SOURCE_CHARS)]
    reason: str


class VendorView(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A trusted vendor: since when, why, and the name of whoever said so."""

    source: str
    reason: str
    since: str
    by: str


class VendorList(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Every trusted vendor, by source."""

    vendors: list[VendorView]


class VendorResult(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The vendor, and what that means for its skills."""

    vendor: VendorView
    detail: str


_VENDOR = VendorView(
    source="github.com/anthropics", reason="They made the format.", since="2026-11-16T09:00:00.000Z", by="ada"
)
_REQUEST = VendorRequest(source="github.com/anthropics", reason="They made the format.")


@get(
    "/api/v1/admin/vendors",
    summary="List trusted vendors",
    tags=TAGS,
    opt=described(VendorList(vendors=[_VENDOR]), access=needs(Permission.SEE_PANEL)),
)
async def list_trusted() -> VendorList:
    """Whose skills are certified where the scan lets them pass."""
    return VendorList(vendors=[view_vendor(vendor) for vendor in await list_vendors()])


def view_vendor(vendor: Vendor) -> VendorView:
    """A vendor as the API has it."""
    return VendorView(source=vendor.source, reason=vendor.reason, since=vendor.since, by=vendor.name or vendor.by)


@post(
    "/api/v1/admin/vendors",
    summary="Trust a vendor",
    tags=TAGS,
    status_code=200,
    opt=described(
        VendorResult(vendor=_VENDOR, detail="github.com/anthropics is trusted from now on."),
        body=_REQUEST,
        errors=(Conflict,),
        access=needs(Permission.MANAGE_VENDORS),
    ),
)
async def trust_vendor(request: PageRequest, data: JSONBody[VendorRequest]) -> VendorResult:
    """Its skills are scanned like all others; those that pass are certified."""
    caller = caller_of(request)
    vendor = await act(
        request,
        "vendors.add",
        subject=data.source,
        reason=data.reason,
        run=lambda: add_vendor(data.source, reason=data.reason.strip(), by=caller.id, name=caller.name),
    )
    detail = (
        f"{vendor.source} is trusted from now on. What it has published already is certified when it is scanned again."
    )
    return VendorResult(vendor=view_vendor(vendor), detail=detail)


@post(
    "/api/v1/admin/vendors/remove",
    summary="Trust a vendor no more",
    tags=TAGS,
    status_code=200,
    opt=described(
        VendorResult(vendor=_VENDOR, detail=_STAYS),
        body=_REQUEST,
        errors=(NotFound,),
        access=needs(Permission.MANAGE_VENDORS),
    ),
)
async def distrust_vendor(request: PageRequest, data: JSONBody[VendorRequest]) -> VendorResult:
    """From now on its skills count like all others. What is published stays."""
    vendor = await act(
        request, "vendors.remove", subject=data.source, reason=data.reason, run=lambda: remove_vendor(data.source)
    )
    return VendorResult(vendor=view_vendor(vendor), detail=f"{vendor.source} is trusted no more. {_STAYS}")


VENDOR_ROUTES = [list_trusted, trust_vendor, distrust_vendor]
