"""Collections and private paths for tests of clients."""

from __future__ import annotations

from tests.clients.registry import LiveRegistry
from vskill_platform.domain.collection import Collection, CollectionItem
from vskill_platform.stores.collections import create_collection
from vskill_platform.stores.private_paths import open_path
from vskill_platform.stores.publishers import now_iso


async def collect(registry: LiveRegistry, name: str, *slugs: str, is_public: bool = True) -> str:
    """A collection of `acme` with these skills (`slug` or `slug@version`). Returns the path of its page."""

    async def make() -> None:
        items = tuple(
            CollectionItem(slug=slug.partition("@")[0], version=slug.partition("@")[2] or None) for slug in slugs
        )
        moment = now_iso()
        await create_collection(
            Collection(
                publisher="acme", name=name, items=items, is_public=is_public, created_at=moment, updated_at=moment
            )
        )

    await registry.inside(make)
    return f"/collections/acme/{name}"


async def open_private_path(registry: LiveRegistry, name: str) -> str:
    """A private path to a collection of `acme`: the path of its page, with the secret."""
    opened = await registry.inside(lambda: open_path("acme", name, label="a test", account="user_1"))
    return f"/p/{opened.secret}"
