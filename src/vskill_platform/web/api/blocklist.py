"""The blocklist: what may not be published, and whether something is on it."""

from __future__ import annotations

from typing import Annotated

import msgspec
from litestar import get
from litestar.params import QueryParameter

from vskill_platform.domain.blocklist import Block, block_key
from vskill_platform.domain.errors import InvalidInput, InvalidRepositoryUrl
from vskill_platform.domain.repository import known_repository
from vskill_platform.stores.blocklist import find_blocks, page_blocks
from vskill_platform.web.api import examples
from vskill_platform.web.api.describing import described
from vskill_platform.web.api.parameters import DEFAULT_LIMIT, MAX_NAME_CHARS, Cursor, Limit, RepositoryUrl
from vskill_platform.web.views import BlockView, view_block

TAGS = ["trust"]
Name = Annotated[str, QueryParameter(max_length=MAX_NAME_CHARS, description="Name of a skill.")]
Hash = Annotated[
    str,
    QueryParameter(
        name="hash", max_length=100, description="Digest of a skill's content, `sha256:` and 64 hexadecimal digits."
    ),
]


class BlocklistPage(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Entries in the order of their keys; `cursor` leads to the next page and is null at the end."""

    entries: list[BlockView]
    limit: int
    cursor: str | None


class BlocklistCheck(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Whether anything stands against what was asked about, and what."""

    blocked: bool
    entries: list[BlockView]


@get(
    "/api/v1/blocklist",
    summary="List what is blocked",
    tags=TAGS,
    opt=described(BlocklistPage(entries=[examples.BLOCK], limit=50, cursor=None), is_kept=True),
)
async def list_blocklist(cursor: Cursor = None, limit: Limit = DEFAULT_LIMIT) -> BlocklistPage:
    """Everything that may not be published, with reasons. A client that has the page gets 304 by its ETag."""
    found = await page_blocks(cursor=cursor, limit=limit)
    return BlocklistPage(entries=_views(found.blocks), limit=limit, cursor=found.cursor)


@get(
    "/api/v1/blocklist/check",
    summary="Check the blocklist",
    tags=TAGS,
    opt=described(BlocklistCheck(blocked=True, entries=[examples.BLOCK]), errors=(InvalidRepositoryUrl,), is_kept=True),
)
async def check_blocklist(name: Name = "", content_hash: Hash = "", repo_url: RepositoryUrl = "") -> BlocklistCheck:
    """What stands against a skill's name, its bytes, or its repository. Give at least one of them.

    A name is checked everywhere, and in the repository where one is given.
    """
    if not (name or content_hash or repo_url):
        raise InvalidInput("Give a name, a hash or a repoUrl to check.")
    address = known_repository(repo_url) if repo_url else ""
    found = await find_blocks(skill_name=name, digest=content_hash, repo_url=address)
    return BlocklistCheck(blocked=bool(found), entries=_views(found))


def _views(blocks: list[Block]) -> list[BlockView]:
    return [view_block(block, key=block_key(block)) for block in blocks]
