"""The blocklist: what may not be published, and taking that back."""

from __future__ import annotations

from litestar import get, post
from litestar.params import JSONBody

from vskill_platform.domain.access import Permission
from vskill_platform.domain.blocklist import block_key
from vskill_platform.domain.errors import NotFound
from vskill_platform.pipeline.blocking import block_and_stop, make_block, unblock
from vskill_platform.stores.blocklist import list_blocks
from vskill_platform.stores.reads import require_readable
from vskill_platform.web.access import needs
from vskill_platform.web.acting import act
from vskill_platform.web.api import examples
from vskill_platform.web.api.describing import described
from vskill_platform.web.pages.rendering import PageRequest
from vskill_platform.web.views import Blocked, BlockRequest, BlockView, Unblock, view_block

TAGS = ["admin"]
_BLOCKED = Blocked(key=examples.BLOCK.key, submissions=[examples.ID])
_BLOCK = BlockRequest(skill_name="pdf-forms", reason="It steals keys.")
_UNBLOCK = Unblock(key=examples.BLOCK.key, reason="The finding was wrong.")


@get(
    "/api/v1/admin/blocklist",
    summary="List the blocklist",
    tags=TAGS,
    opt=described([examples.BLOCK], access=needs(Permission.SEE_PANEL)),
)
async def list_block_entries() -> list[BlockView]:
    """Every entry with its key."""
    return [view_block(block, key=block_key(block)) for block in require_readable(await list_blocks())]


@post(
    "/api/v1/admin/blocklist",
    summary="Block something",
    tags=TAGS,
    status_code=200,
    opt=described(_BLOCKED, body=_BLOCK, access=needs(Permission.BLOCK)),
)
async def add_block_entry(request: PageRequest, data: JSONBody[BlockRequest]) -> Blocked:
    """Block bytes, a name or a repository. What is published and matches is withdrawn, what is under way is stopped."""
    block = make_block(digest=data.digest, skill_name=data.skill_name, repo_url=data.repo_url, reason=data.reason)
    key = block_key(block)
    stopped = await act(request, "blocklist.add", subject=key, reason=data.reason, run=lambda: block_and_stop(block))
    return Blocked(key=key, submissions=stopped)


@post(
    "/api/v1/admin/blocklist/remove",
    summary="Take a block back",
    tags=TAGS,
    status_code=200,
    opt=described(_BLOCKED, body=_UNBLOCK, errors=(NotFound,), access=needs(Permission.BLOCK)),
)
async def remove_block_entry(request: PageRequest, data: JSONBody[Unblock]) -> Blocked:
    """Take an entry off the list. Submissions that it alone had stopped get a new run."""
    released = await act(
        request, "blocklist.remove", subject=data.key, reason=data.reason, run=lambda: unblock(data.key)
    )
    return Blocked(key=data.key, submissions=released)


BLOCKLIST_ROUTES = [list_block_entries, add_block_entry, remove_block_entry]
