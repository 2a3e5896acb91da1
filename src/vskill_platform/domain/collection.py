"""Collections: named, ordered lists of skills that a publisher keeps, and the private paths that lead to one."""

from __future__ import annotations

import re

import msgspec

from vskill_platform.domain.errors import InvalidInput
from vskill_platform.domain.records import Record
from vskill_platform.domain.secrets import hash_secret

COLLECTION_PREFIX = "collection:"
MAX_SKILLS = 500
MAX_TITLE_CHARS = 120
MAX_DESCRIPTION_CHARS = 2000
MAX_PATHS = 50
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")


class CollectionItem(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A skill of a collection; without a version, whichever is the newest."""

    slug: str
    version: str | None = None


class Collection(Record, frozen=True, kw_only=True, rename="camel"):
    """A list of skills. `paths` are the hashes of the secrets of the private paths that lead to it."""

    publisher: str
    name: str
    title: str = ""
    description: str = ""
    is_public: bool = True
    items: tuple[CollectionItem, ...] = ()
    paths: tuple[str, ...] = ()
    created_at: str
    updated_at: str


class PrivatePath(Record, frozen=True, kw_only=True, rename="camel"):
    """A path to a collection for whoever has its secret, which is kept as a hash alone. `id` names it where it is listed."""

    id: str
    publisher: str
    collection: str
    label: str
    created_by: str
    created_at: str


def collection_prefix(publisher: str) -> str:
    """What the keys of a publisher's collections begin with."""
    return f"{COLLECTION_PREFIX}{publisher}/"


def collection_key(publisher: str, name: str) -> str:
    """The key of a collection: its publisher and its name, so there is one of that name."""
    return f"{collection_prefix(publisher)}{name}"


def path_hash(secret: str) -> str:
    """What a private path is kept and found by."""
    return hash_secret(secret)


def path_key(hashed: str) -> str:
    """The key of a private path."""
    return f"private-path:{hashed}"


def path_use_key(hashed: str) -> str:
    """The key of when a private path was last used."""
    return f"private-path-use:{hashed}"


def as_item(given: CollectionItem | str) -> CollectionItem:
    """An item that may be given in one word: a slug, or a slug, `@` and a version."""
    if isinstance(given, CollectionItem):
        return given
    slug, _, version = given.strip().partition("@")
    return CollectionItem(slug=slug, version=version or None)


def check_name(name: str) -> str:
    """The name, if it can be one. Raises InvalidInput."""
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            f"'{name[:64]!r}' cannot be the name of a collection. Use 1 to 64 of a-z, 0-9 and dashes, with no dash at the ends.",
            name=name[:64],
        )
    return name


def check_items(items: tuple[CollectionItem, ...]) -> tuple[CollectionItem, ...]:
    """The items, if a collection can have them: each skill once, and not too many. Raises InvalidInput."""
    slugs = [item.slug for item in items]
    if len(items) > MAX_SKILLS:
        raise InvalidInput(f"A collection has at most {MAX_SKILLS} skills.")
    twice = next((slug for number, slug in enumerate(slugs) if slug in slugs[:number]), None)
    if twice is not None:
        raise InvalidInput(f"'{twice}' is in the list twice. Name each skill once.", slug=twice)
    return items
