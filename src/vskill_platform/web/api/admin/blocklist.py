"""The blocklist: what may not be published, and taking that back."""

from __future__ import annotations

from typing import Annotated

import msgspec
from litestar import get, post
from litestar.params import JSONBody, QueryParameter

from vskill_platform.domain.access import Permission
from vskill_platform.domain.blocklist import block_key
from vskill_platform.domain.errors import InvalidRepositoryUrl, NotFound
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.pipeline.blocking import block_and_stop, make_block, preview_block, unblock
from vskill_platform.stores.blocklist import list_blocks
from vskill_platform.stores.reads import require_readable
from vskill_platform.web.access import needs
from vskill_platform.web.acting import act
from vskill_platform.web.api import examples
from vskill_platform.web.api.describing import described
from vskill_platform.web.api.parameters import MAX_NAME_CHARS, RepositoryUrl
from vskill_platform.web.pages.rendering import PageRequest
from vskill_platform.web.views import Blocked, BlockRequest, BlockView, Unblock, view_block

TAGS = ["admin"]
_PREVIEWED = 50
Digest = Annotated[str, QueryParameter(max_length=100, description="Digest of a skill's content.")]
SkillName = Annotated[str, QueryParameter(name="skillName", max_length=MAX_NAME_CHARS, description="Name of a skill.")]
_BLOCKED = Blocked(key=examples.BLOCK.key, submissions=[examples.ID], detail="It stops 1 submission.")
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
    return Blocked(key=key, submissions=stopped, detail=f"It stops {_count(stopped)}.")


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
    return Blocked(key=data.key, submissions=released, detail=f"{_count(released)} may try again.")


def _count(submissions: list[str]) -> str:
    return f"{len(submissions)} {'submission' if len(submissions) == 1 else 'submissions'}"


class PreviewRow(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A submission that a block would stop."""

    id: str
    skill_name: str
    repo_url: str
    state: SubmissionState


class BlockPreview(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a block would stop: how many submissions, the first of them, and the skills that it would withdraw."""

    total: int
    submissions: list[PreviewRow]
    withdrawn: list[str]


@get(
    "/api/v1/admin/blocklist/preview",
    summary="What a block would stop",
    tags=TAGS,
    opt=described(
        BlockPreview(
            total=1,
            submissions=[
                PreviewRow(
                    id=examples.ID,
                    skill_name="pdf-forms",
                    repo_url=examples.REPOSITORY,
                    state=SubmissionState.PUBLISHED,
                )
            ],
            withdrawn=["acme/skills/pdf-forms"],
        ),
        errors=(InvalidRepositoryUrl,),
        access=needs(Permission.BLOCK),
    ),
)
async def preview_block_entry(
    digest: Digest = "", skill_name: SkillName = "", repo_url: RepositoryUrl = ""
) -> BlockPreview:
    """Look before blocking: changes nothing."""
    return await read_preview(digest=digest, skill_name=skill_name, repo_url=repo_url)


async def read_preview(*, digest: str, skill_name: str, repo_url: str) -> BlockPreview:
    """What an entry against this would stop. Raises InvalidInput for an entry that says nothing."""
    block = make_block(digest=digest, skill_name=skill_name, repo_url=repo_url, reason="A preview.")
    found = await preview_block(block)
    published = [one.slug for one in found if one.state is SubmissionState.PUBLISHED and one.slug]
    rows = [PreviewRow(id=one.id, skill_name=one.skill_name, repo_url=one.repo_url, state=one.state) for one in found]
    return BlockPreview(total=len(rows), submissions=rows[:_PREVIEWED], withdrawn=published[:_PREVIEWED])


BLOCKLIST_ROUTES = [list_block_entries, add_block_entry, remove_block_entry, preview_block_entry]
