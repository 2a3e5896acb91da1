"""The catalog, held against the records and mended."""

from __future__ import annotations

from litestar import post
from litestar.params import JSONBody

from vskill_platform.domain.access import Permission
from vskill_platform.moving.catalog import CatalogSlice, rebuild_catalog_slice
from vskill_platform.web.access import needs
from vskill_platform.web.acting import act
from vskill_platform.web.api.describing import described
from vskill_platform.web.pages.rendering import PageRequest
from vskill_platform.web.views import RebuildRequest

TAGS = ["admin"]
_SLICE = CatalogSlice(examined=1000, missing=1, differing=0, unbacked=0, malformed=0, told=[], cursor=None)


@post(
    "/api/v1/admin/catalog/rebuild",
    summary="Make lists and search agree with the records",
    tags=TAGS,
    status_code=200,
    opt=described(
        _SLICE,
        body=RebuildRequest(reason="Lists looked wrong."),
        access=needs(Permission.STEER_QUEUE),
    ),
)
async def rebuild_catalog(request: PageRequest, data: JSONBody[RebuildRequest]) -> CatalogSlice:
    """Hold the next slice of the catalog against the records, and mend it unless it is a dry run."""
    return await act(
        request,
        "catalog.rebuild",
        subject="catalog",
        reason=data.reason,
        run=lambda: rebuild_catalog_slice(data.cursor, is_dry_run=data.is_dry_run),
    )


CATALOG_ROUTES = [rebuild_catalog]
