"""What the API says of collections and the private paths to them."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from vskill_platform.domain.collection import (
    MAX_DESCRIPTION_CHARS,
    MAX_SKILLS,
    MAX_TITLE_CHARS,
    Collection,
    CollectionItem,
)
from vskill_platform.stores.collections import CollectionSkill
from vskill_platform.stores.private_paths import ListedPath
from vskill_platform.web.api.own_views import Asked


class CollectionRequest(Asked, frozen=True, kw_only=True, rename="camel"):
    """A collection as it is to be. An item is a slug, a slug with `@` and a version, or both by name."""

    title: Annotated[str, msgspec.Meta(max_length=MAX_TITLE_CHARS)] = ""
    description: Annotated[str, msgspec.Meta(max_length=MAX_DESCRIPTION_CHARS)] = ""
    is_public: bool = True
    items: Annotated[list[CollectionItem | str], msgspec.Meta(max_length=MAX_SKILLS)] = msgspec.field(
        default_factory=list
    )


class NewCollection(CollectionRequest, frozen=True, kw_only=True, rename="camel"):
    """A new collection and its name."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=64)]


class CollectionSummary(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A collection as lists show it."""

    publisher: str
    name: str
    title: str
    description: str
    is_public: bool
    size: int
    updated_at: str


class CollectionList(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Collections by publisher and name."""

    collections: list[CollectionSummary]
    total: int


class CollectionView(CollectionSummary, frozen=True, kw_only=True, rename="camel"):
    """A collection and its skills as they are now, with their digests."""

    skills: list[CollectionSkill]


class PathRequest(Asked, frozen=True, kw_only=True, rename="camel"):
    """What a private path is for."""

    label: Annotated[str, msgspec.Meta(max_length=200)] = ""


class PathView(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A private path, without its secret."""

    id: str
    label: str
    created_at: str
    last_used_at: str | None


class PathList(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The private paths to a collection."""

    paths: list[PathView]


class OpenedPathView(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A new private path. `secret` and `url` are told this once."""

    id: str
    label: str
    secret: str
    url: str
    detail: str


def summarise_collection(collection: Collection) -> CollectionSummary:
    """A collection as lists show it."""
    return CollectionSummary(**_summary(collection))


def view_collection(collection: Collection, skills: list[CollectionSkill]) -> CollectionView:
    """A collection with its skills. Its private paths are not among what is told."""
    return CollectionView(**_summary(collection), skills=skills)


def view_path(listed: ListedPath) -> PathView:
    """A private path as its owners see it."""
    path = listed.path
    return PathView(id=path.id, label=path.label, created_at=path.created_at, last_used_at=listed.last_used_at)


def _summary(collection: Collection) -> dict[str, Any]:
    names = ("publisher", "name", "title", "description", "is_public", "updated_at")
    return {**{name: getattr(collection, name) for name in names}, "size": len(collection.items)}
