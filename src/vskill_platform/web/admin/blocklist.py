"""The blocklist for those who keep it: looking for entries, adding one after a look at what it stops, taking one back."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from litestar import Response, get
from litestar.params import QueryParameter

from vskill_platform.domain.access import Permission
from vskill_platform.domain.blocklist import Block, block_key
from vskill_platform.domain.errors import InvalidInput, NotAllowed
from vskill_platform.stores.blocklist import list_blocks
from vskill_platform.stores.reads import require_complete
from vskill_platform.web.access import ACCESS, caller_of, needs
from vskill_platform.web.admin.frame import admin_page
from vskill_platform.web.api.admin.blocklist import BlockPreview, read_preview
from vskill_platform.web.pages.paging import PageNumber, make_paging, offset_of
from vskill_platform.web.pages.rendering import PageRequest

ROWS = 50
Words = Annotated[str, QueryParameter(name="q", max_length=500)]
Digest = Annotated[str, QueryParameter(name="digest", max_length=100)]
SkillName = Annotated[str, QueryParameter(name="skillName", max_length=200)]
RepoUrl = Annotated[str, QueryParameter(name="repoUrl", max_length=2000)]


class Entry(NamedTuple):
    """An entry, and the key that it is taken back by."""

    key: str
    block: Block


@get("/admin/blocklist", opt={ACCESS: needs(Permission.SEE_PANEL)})
async def show_blocklist(
    request: PageRequest,
    *,
    q: Words = "",
    digest: Digest = "",
    skill_name: SkillName = "",
    repo_url: RepoUrl = "",
    number: PageNumber = 1,
) -> Response[str]:
    """Entries that have the words, newest first; and what an entry that is being written would stop."""
    wanted = {"digest": digest.strip(), "skill_name": skill_name.strip(), "repo_url": repo_url.strip()}
    preview, problem = await _preview(request, wanted)
    found = await _search(q)
    offset = offset_of(number, size=ROWS)
    return await admin_page(
        request,
        "admin/blocklist.html",
        section="blocklist",
        q=q,
        wanted=wanted,
        preview=preview,
        problem=problem,
        entries=found[offset : offset + ROWS],
        total=len(found),
        paging=make_paging("/admin/blocklist", number=number, size=ROWS, total=len(found), parameters={"q": q}),
    )


async def _preview(request: PageRequest, wanted: dict[str, str]) -> tuple[BlockPreview | None, str]:
    """What the entry would stop, or why there can be no such entry."""
    if not any(wanted.values()):
        return None, ""
    if not caller_of(request).may(Permission.BLOCK):
        raise NotAllowed("To look at what a block would stop one needs the permission 'block'.")
    try:
        return await read_preview(**wanted), ""
    except InvalidInput as error:
        return None, error.message


async def _search(words: str) -> list[Entry]:
    """The entries that have all the words in them, newest first."""
    entries = require_complete(await list_blocks())
    parts = words.casefold().split()
    found = [block for block in entries if all(part in _text(block) for part in parts)]
    found.sort(key=lambda block: block.created_at, reverse=True)
    return [Entry(block_key(block), block) for block in found]


def _text(block: Block) -> str:
    return f"{block.kind.value} {block.digest} {block.skill_name} {block.repo_url} {block.reason}".casefold()
