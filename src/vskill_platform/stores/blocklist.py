"""The blocklist: asking it, and the operations that change it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from vskill_platform.domain.blocklist import (
    BLOCK_PREFIX,
    Block,
    block_key,
    digest_block_key,
    name_block_key,
    repository_block_key,
    stands_against,
)
from vskill_platform.domain.records import Submission
from vskill_platform.ports.commit import ABSENT, Check, Delete, Emit, Operation, Put
from vskill_platform.ports.kv import MAX_PAGE_KEYS
from vskill_platform.stores.reads import Settled, read_keys, read_prefix, require_complete
from vskill_platform.stores.records import decode_record, encode_record
from vskill_platform.worker_context import current_env

_blocks = msgspec.json.Decoder(Block)


async def find_block(
    submission: Submission, *, names: Sequence[str] = (), content_digest: str | None = None
) -> Block | None:
    """The first entry that stands against a submission: its repository, one of its names there or anywhere, its bytes.

    Raises StoreUnavailable where any of them could not be read: what cannot be known is not cleared.
    """
    found = require_complete(await read_keys(_keys(submission, names, content_digest), _decode))
    return next((block for block in found if stands_against(block, submission.id)), None)


def _keys(submission: Submission, names: Sequence[str], content_digest: str | None) -> list[str]:
    keys = [repository_block_key(submission.repo_url)]
    for name in dict.fromkeys([submission.skill_name, *names]):
        if name:
            keys += [name_block_key(name, repo_url=submission.repo_url), name_block_key(name)]
    return keys if content_digest is None else [*keys, digest_block_key(content_digest)]


async def list_blocks() -> Settled[Block]:
    """Every entry."""
    return await read_prefix(BLOCK_PREFIX, _decode)


class BlockPage(NamedTuple):
    """Entries in the order of their keys, and the cursor to the next; None at the end."""

    blocks: list[Block]
    cursor: str | None


async def page_blocks(*, cursor: str | None = None, limit: int = MAX_PAGE_KEYS) -> BlockPage:
    """One page of entries. Raises InvalidCursor, or StoreUnavailable where one of them could not be read."""
    page = await current_env("kv").kv.list(BLOCK_PREFIX, cursor=cursor, limit=limit)
    blocks = require_complete(await read_keys(page.keys, _decode))
    return BlockPage(blocks, None if page.complete else page.cursor)


async def find_blocks(*, skill_name: str = "", digest: str = "", repo_url: str = "") -> list[Block]:
    """The entries against certain bytes, a name (anywhere, and in a repository) or a repository, as far as they are given.

    Raises StoreUnavailable where any of them could not be read.
    """
    keys = [digest_block_key(digest)] if digest else []
    keys += [repository_block_key(repo_url)] if repo_url else []
    keys += [name_block_key(skill_name)] if skill_name else []
    keys += [name_block_key(skill_name, repo_url=repo_url)] if skill_name and repo_url else []
    return require_complete(await read_keys(keys, _decode))


async def get_block(key: str) -> tuple[Block, int] | None:
    """The entry under a key, and the version of its record; None if there is none."""
    entry = await current_env("kv").kv.get(key) if key.startswith(BLOCK_PREFIX) else None
    return None if entry is None else (_decode(key, entry.value), entry.version)


def blocking(block: Block, *, if_version: int | None = None) -> list[Operation]:
    """The operations that put an entry on the list, in place of the one against the same thing."""
    data = msgspec.json.encode({"kind": block.kind, "reason": block.reason})
    return [
        Put(block_key(block), encode_record(block), if_version=if_version),
        Emit("block.added", block_key(block), data),
    ]


async def clearing(submission: Submission, *, names: Sequence[str], content_digest: str) -> list[Operation]:
    """The operations by which a commit publishes only what nobody blocks by then.

    The entry that this submission's own findings once made against these bytes is taken back.
    """
    own_key = digest_block_key(content_digest)
    entry = await current_env("kv").kv.get(own_key)
    keys = _keys(submission, names, content_digest)
    if entry is None or stands_against(_decode(own_key, entry.value), submission.id):
        return [Check(key, ABSENT) for key in keys]
    removed: list[Operation] = [Delete(own_key, if_version=entry.version), Emit("block.removed", own_key, b"{}")]
    return [*removed, *(Check(key, ABSENT) for key in keys if key != own_key)]


def _decode(key: str, value: bytes) -> Block:
    return decode_record(key, value, decoder=_blocks)
