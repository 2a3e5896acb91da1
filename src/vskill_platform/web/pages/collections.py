"""Collections as people see them: public ones at their own address, private ones also behind a private path."""

from __future__ import annotations

from typing import Annotated

from litestar import Response, get
from litestar.params import PathParameter

from vskill_platform.stores.collections import skills_of_collection
from vskill_platform.stores.private_paths import skills_of_path
from vskill_platform.web.access import caller_of
from vskill_platform.web.api.collection_views import CollectionView, view_collection
from vskill_platform.web.api.collections import visible_collection
from vskill_platform.web.api.owning import NOT_KEPT, CollectionName, Handle
from vskill_platform.web.pages.rendering import PageRequest, page

_HIDDEN = {**NOT_KEPT, "X-Robots-Tag": "noindex"}
Secret = Annotated[str, PathParameter(min_length=1, max_length=100)]


@get("/collections/{name:str}/{collection:str}")
async def show_collection_page(request: PageRequest, name: Handle, collection: CollectionName) -> Response[str]:
    """A collection that the caller may see, and its skills as they are now."""
    found = await visible_collection(caller_of(request), name, collection)
    return page(
        request,
        "collection.html",
        headers={} if found.is_public else NOT_KEPT,
        collection=found,
        skills=await skills_of_collection(found),
        as_json=f"/api/v1/collections/{found.publisher}/{found.name}",
    )


@get("/p/{secret:str}")
async def show_private_path(request: PageRequest, secret: Secret) -> Response[str]:
    """Where a private path leads, for whoever has its secret."""
    found = await skills_of_path(secret)
    return page(
        request,
        "collection.html",
        headers=_HIDDEN,
        collection=found.collection,
        skills=found.skills,
        as_json=f"/p/{secret}/skills.json",
    )


@get("/p/{secret:str}/skills.json")
async def list_private_path(secret: Secret) -> Response[CollectionView]:
    """The same for programs: the skills behind a private path, with their versions and digests."""
    found = await skills_of_path(secret)
    return Response(view_collection(found.collection, found.skills), headers=_HIDDEN)


COLLECTION_PAGES = [show_collection_page, show_private_path, list_private_path]
