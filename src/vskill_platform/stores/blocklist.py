"""The blocklist: asking it, and the operations that change it."""

from __future__ import annotations

from collections.abc import Sequence

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
from vskill_platform.ports.commit import Delete, Emit, Operation, Put
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
    keys = [repository_block_key(submission.repo_url)]
    for name in dict.fromkeys([submission.skill_name, *names]):
        if name:
            keys += [name_block_key(name, repo_url=submission.repo_url), name_block_key(name)]
    if content_digest is not None:
        keys.append(digest_block_key(content_digest))
    found = require_complete(await read_keys(keys, _decode))
    return next((block for block in found if stands_against(block, submission.id)), None)


async def list_blocks() -> Settled[Block]:
    """Every entry."""
    return await read_prefix(BLOCK_PREFIX, _decode)


async def add_block(block: Block) -> None:
    """Put an entry on the list, in place of the one against the same thing."""
    await current_env("writes").writes.commit(blocking(block))


def blocking(block: Block) -> list[Operation]:
    """The operations that put an entry on the list."""
    data = msgspec.json.encode({"kind": block.kind, "reason": block.reason})
    return [Put(block_key(block), encode_record(block)), Emit("block.added", block_key(block), data)]


async def unblocking_own(submission: Submission, content_digest: str) -> list[Operation]:
    """The operations that take back the entry that this submission's findings once made against these bytes."""
    key = digest_block_key(content_digest)
    entry = await current_env("kv").kv.get(key)
    if entry is None or stands_against(_decode(key, entry.value), submission.id):
        return []
    return [Delete(key, if_version=entry.version), Emit("block.removed", key, b"{}")]


def _decode(key: str, value: bytes) -> Block:
    return decode_record(key, value, decoder=_blocks)
