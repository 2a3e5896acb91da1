"""Collections: public ones for everybody, private ones for their publisher's members, and the private paths to them."""

from __future__ import annotations

from typing import Annotated

import msgspec
from litestar import Response, delete, get, post, put
from litestar.params import JSONBody, QueryParameter

from vskill_platform.accounts.ownership import is_member, require_member
from vskill_platform.domain.access import Caller
from vskill_platform.domain.collection import Collection, CollectionItem, as_item
from vskill_platform.domain.errors import Conflict, InvalidInput, NotFound
from vskill_platform.stores.collections import (
    CollectionSkill,
    ItemStatus,
    change_collection,
    collections_of,
    create_collection,
    get_collection,
    no_such_collection,
    public_collections,
    remove_collection,
    skills_of_collection,
)
from vskill_platform.stores.private_paths import list_paths, open_path, revoke_path
from vskill_platform.stores.publishers import find_publisher, now_iso
from vskill_platform.web.access import caller_of
from vskill_platform.web.api import examples
from vskill_platform.web.api.collection_views import (
    CollectionList,
    CollectionRequest,
    CollectionSummary,
    CollectionView,
    NewCollection,
    OpenedPathView,
    PathList,
    PathRequest,
    PathView,
    summarise_collection,
    view_collection,
    view_path,
)
from vskill_platform.web.api.describing import described
from vskill_platform.web.api.own_views import Told
from vskill_platform.web.api.owning import NOT_KEPT, CollectionName, Handle, PathId, owned
from vskill_platform.web.api.parameters import MAX_NAME_CHARS, Limit, Offset
from vskill_platform.web.pages.rendering import PageRequest, site_url

TAGS = ["collections"]
COLLECTION = "/api/v1/collections/{name:str}/{collection:str}"
PublisherName = Annotated[str, QueryParameter(max_length=MAX_NAME_CHARS, description="Handle of a publisher.")]
_SKILL = CollectionSkill(
    slug="acme/skills/pdf-forms",
    status=ItemStatus.PUBLISHED,
    version="1.0.0",
    name="pdf-forms",
    description="Fills in forms.",
    content_digest=examples.DIGEST,
    zip_digest=examples.DIGEST,
    tar_digest=examples.DIGEST,
)
EXAMPLE = CollectionView(
    publisher="acme",
    name="starter",
    title="For a start",
    description="What every new machine gets.",
    is_public=True,
    size=1,
    updated_at="2026-11-16T09:00:00.000Z",
    skills=[_SKILL],
)
_SUMMARY = CollectionSummary(
    publisher="acme",
    name="starter",
    title="For a start",
    description="What every new machine gets.",
    is_public=True,
    size=1,
    updated_at="2026-11-16T09:00:00.000Z",
)
_PATH = PathView(
    id="pth_0f6e5d4c3b2a19088f7e6d5c4b3a2910",
    label="build machines",
    created_at="2026-11-16T09:00:00.000Z",
    last_used_at=None,
)
_OPENED = OpenedPathView(
    id=_PATH.id,
    label=_PATH.label,
    secret="told-once",
    url="https://registry.example/p/told-once",
    detail="Keep this address, it is not shown again: https://registry.example/p/told-once",
)
_ITEMS: list[CollectionItem | str] = [CollectionItem(slug="acme/skills/pdf-forms", version="1.0.0")]
_WISH = CollectionRequest(title="For a start", items=_ITEMS)


@get(
    "/api/v1/collections",
    summary="List public collections",
    tags=TAGS,
    opt=described(CollectionList(collections=[_SUMMARY], total=1)),
)
async def list_collections(publisher: PublisherName = "", limit: Limit = 50, offset: Offset = 0) -> CollectionList:
    """The collections that everybody may see, of all publishers or of one."""
    found = await collections_of(publisher) if publisher else await public_collections()
    public = [summarise_collection(collection) for collection in found if collection.is_public]
    return CollectionList(collections=public[offset : offset + limit], total=len(public))


@get(COLLECTION, summary="Show a collection", tags=TAGS, opt=described(EXAMPLE, errors=(NotFound,)))
async def show_collection(request: PageRequest, name: Handle, collection: CollectionName) -> Response[CollectionView]:
    """A collection and its skills as they are now. A private one is there for its publisher's members alone."""
    found = await visible_collection(caller_of(request), name, collection)
    view = view_collection(found, await skills_of_collection(found))
    return Response(view, headers={} if found.is_public else NOT_KEPT)


async def visible_collection(caller: Caller, publisher: str, name: str) -> Collection:
    """A collection that the caller may see. Raises NotFound, also for one that is private and not theirs."""
    collection = (await get_collection(publisher, name)).collection
    if not collection.is_public and not await acts_for(caller, publisher):
        raise no_such_collection(publisher, name)
    return collection


async def acts_for(caller: Caller, handle: str) -> bool:
    """Whether the caller is a member of the publisher that has claimed a handle."""
    found = await find_publisher(handle)
    return found is not None and is_member(caller, found.publisher)


@post(
    "/api/v1/collections/{name:str}",
    summary="Make a collection",
    tags=TAGS,
    opt=owned(
        EXAMPLE, body=NewCollection(name="starter", title="For a start", items=_ITEMS), errors=(NotFound, Conflict)
    ),
)
async def make_collection(request: PageRequest, name: Handle, data: JSONBody[NewCollection]) -> CollectionView:
    """Make a collection of a publisher that you are a member of."""
    await require_member(caller_of(request), name)
    now = now_iso()
    fresh = Collection(publisher=name, name=data.name, created_at=now, updated_at=now)
    wanted = _changed(fresh, data)
    skills = await _require_published(wanted, known=())
    return view_collection(await create_collection(wanted), skills)


@put(
    COLLECTION,
    summary="Change a collection",
    tags=TAGS,
    opt=owned(EXAMPLE, body=_WISH, errors=(NotFound, Conflict)),
)
async def edit_collection(
    request: PageRequest, name: Handle, collection: CollectionName, data: JSONBody[CollectionRequest]
) -> CollectionView:
    """Write a collection anew: its title, description, who may see it, and its skills in their order."""
    await require_member(caller_of(request), name)
    before = (await get_collection(name, collection)).collection
    skills = await _require_published(_changed(before, data), known=before.items)
    return view_collection(await change_collection(name, collection, lambda one: _changed(one, data)), skills)


@delete(
    COLLECTION,
    status_code=200,
    summary="Remove a collection",
    tags=TAGS,
    opt=owned(Told(detail="The collection acme/starter is gone."), errors=(NotFound, Conflict)),
)
async def drop_collection(request: PageRequest, name: Handle, collection: CollectionName) -> Told:
    """Remove a collection and every private path to it. Its skills stay."""
    await require_member(caller_of(request), name)
    await remove_collection(name, collection)
    return Told(detail=f"The collection {name}/{collection} is gone.")


@get(
    f"{COLLECTION}/paths",
    summary="List private paths",
    tags=TAGS,
    opt=owned(PathList(paths=[_PATH]), errors=(NotFound,)),
)
async def list_private_paths(request: PageRequest, name: Handle, collection: CollectionName) -> PathList:
    """The private paths to a collection, with when each was last used. Their secrets are not kept."""
    await require_member(caller_of(request), name)
    found = (await get_collection(name, collection)).collection
    return PathList(paths=[view_path(one) for one in await list_paths(found)])


@post(
    f"{COLLECTION}/paths",
    summary="Open a private path",
    tags=TAGS,
    opt=owned(_OPENED, body=PathRequest(label="build machines"), errors=(NotFound, Conflict)),
)
async def open_private_path(
    request: PageRequest, name: Handle, collection: CollectionName, data: JSONBody[PathRequest]
) -> OpenedPathView:
    """An address that leads whoever has it to a collection. It is told this once."""
    caller = caller_of(request)
    await require_member(caller, name)
    path, secret = await open_path(name, collection, label=data.label, account=caller.id)
    url = f"{site_url(request)}/p/{secret}"
    detail = f"Keep this address, it is not shown again: {url}"
    return OpenedPathView(id=path.id, label=path.label, secret=secret, url=url, detail=detail)


@delete(
    f"{COLLECTION}/paths/{{identity:str}}",
    status_code=200,
    summary="Revoke a private path",
    tags=TAGS,
    opt=owned(Told(detail="The private path is closed."), errors=(NotFound, Conflict)),
)
async def revoke_private_path(request: PageRequest, name: Handle, collection: CollectionName, identity: PathId) -> Told:
    """Close a private path at once."""
    await require_member(caller_of(request), name)
    await revoke_path(name, collection, identity)
    return Told(detail="The private path is closed.")


def _changed(collection: Collection, wish: CollectionRequest) -> Collection:
    items = tuple(as_item(item) for item in wish.items)
    return msgspec.structs.replace(
        collection, title=wish.title, description=wish.description, is_public=wish.is_public, items=items
    )


async def _require_published(collection: Collection, *, known: tuple[CollectionItem, ...]) -> list[CollectionSkill]:
    """The skills of a collection. Raises InvalidInput for one that is new in it and not published."""
    skills = await skills_of_collection(collection)
    for item, skill in zip(collection.items, skills, strict=True):
        if skill.status is ItemStatus.GONE and item not in known:
            shown = f"{item.slug[:200]} {item.version[:60] if item.version else ''}".strip()
            raise InvalidInput(f"There is no published skill '{shown}'.", slug=item.slug[:200])
    return skills


COLLECTION_ROUTES = [
    list_collections,
    show_collection,
    make_collection,
    edit_collection,
    drop_collection,
    list_private_paths,
    open_private_path,
    revoke_private_path,
]
