"""The blocklist as the original's client keeps and asks it before it installs anything.

The client holds an entry against every skill of its `skillName`. Entries of ours that stand against bytes or a repository
therefore have none, or a skill of another publisher would be refused for its name.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from litestar import Response, get
from litestar.params import QueryParameter

from vskill_platform.domain.blocklist import ANY_REPOSITORY, Block, BlockKind
from vskill_platform.domain.errors import AmbiguousPackage, InvalidInput
from vskill_platform.domain.repository import known_repository
from vskill_platform.domain.slug import skill_slug
from vskill_platform.domain.submission import Category
from vskill_platform.stores.blocklist import find_blocks, page_blocks
from vskill_platform.stores.skills import FoundSkill, alias_end, find_skill
from vskill_platform.stores.submissions import SubmissionRow, get_submission_index
from vskill_platform.web.api.parameters import MAX_NAME_CHARS, RepositoryUrl
from vskill_platform.web.api.skill_lookup import FRESH
from vskill_platform.web.clients.vskill.naming import resolve_name
from vskill_platform.web.surface.kept_answers import KEPT

BLOCKLIST = "/vskill/api/v1/blocklist"
MOST_ALIKE = 50
Name = Annotated[str, QueryParameter(max_length=MAX_NAME_CHARS)]


class Blocked(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """An entry. What is blocked here is blocked whole, so there is one severity."""

    skill_name: str
    threat_type: str
    severity: str
    reason: str
    evidence_urls: list[str]
    discovered_at: str
    source_url: str | None = None
    content_hash: str | None = None


class Blocklist(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Every entry. `lastUpdated` is when the newest was made, and empty where there is none."""

    entries: list[Blocked]
    count: int
    last_updated: str


class Rejection(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A submission of that name that was turned down."""

    skill_name: str
    state: str
    reason: str
    score: int | None
    rejected_at: str
    repo_url: str


class Safety(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Whether anything stands against installing a skill."""

    blocked: bool
    rejected: bool
    tainted: bool
    entry: Blocked | None = None
    rejection: Rejection | None = None
    taint_reason: str | None = None


@get(BLOCKLIST, opt={KEPT: True})
async def list_client_blocklist() -> Response[Blocklist]:
    """The whole list: the client keeps it for an hour and asks by its ETag."""
    blocks: list[Block] = []
    cursor: str | None = None
    while True:
        page = await page_blocks(cursor=cursor)
        blocks += page.blocks
        if page.cursor is None:
            break
        cursor = page.cursor
    newest = max((block.created_at for block in blocks), default="")
    answer = Blocklist(entries=[_entry(block) for block in blocks], count=len(blocks), last_updated=newest)
    return Response(answer, headers=FRESH)


@get(f"{BLOCKLIST}/check", opt={KEPT: True})
async def check_client_blocklist(name: Name = "", repo_url: RepositoryUrl = "") -> Response[Safety]:
    """Whether a skill is blocked, or was turned down and is published from nowhere."""
    if not name:
        raise InvalidInput("Give the name of a skill to check.")
    found, blocks = await _look_up(name, repo_url)
    rejection = None if _is_published(found) else await _find_rejection(name)
    withdrawn = found is not None and found.is_withdrawn and not blocks
    return Response(
        Safety(
            blocked=bool(blocks),
            entry=_entry(blocks[0], name=name) if blocks else None,
            rejected=rejection is not None,
            rejection=rejection,
            tainted=withdrawn,
            taint_reason="It is no longer published here." if withdrawn else None,
        ),
        headers=FRESH,
    )


async def _look_up(name: str, repo_url: str) -> tuple[FoundSkill | None, list[Block]]:
    """The skill that is meant, where one is, and what stands against its name, its repository or its bytes."""
    address = known_repository(repo_url) if repo_url else ""
    short = name.rpartition("/")[2]
    try:
        found = await find_skill(await alias_end(await resolve_name(name)))
    except AmbiguousPackage:
        found = None
    skill = None if found is None else found.skill
    blocks = await find_blocks(
        skill_name=short,
        digest="" if skill is None else skill.content_digest,
        repo_url=address or ("" if skill is None else skill.repo_url),
    )
    return found, blocks


def _is_published(found: FoundSkill | None) -> bool:
    return found is not None and not found.is_withdrawn


async def _find_rejection(name: str) -> Rejection | None:
    short = name.rpartition("/")[2]
    found = await get_submission_index(state=Category.REJECTED.value, search=short, limit=MOST_ALIKE)
    row = next((row for row in found.rows if _is_about(row, name)), None)
    if row is None:
        return None
    return Rejection(
        skill_name=row.skill_name,
        state=row.state.value,
        reason=row.reason or "",
        score=row.score,
        rejected_at=row.updated_at,
        repo_url=row.repo_url,
    )


def _is_about(row: SubmissionRow, name: str) -> bool:
    if not row.skill_name:
        return False
    return name in (row.skill_name, row.slug) or ("/" in name and skill_slug(row.repo_url, row.skill_name) == name)


def _entry(block: Block, *, name: str = "") -> Blocked:
    return Blocked(
        skill_name=name or _name_of(block),
        threat_type=f"blocked-{block.kind.value.lower()}",
        severity="critical",
        reason=block.reason,
        evidence_urls=[],
        discovered_at=block.created_at,
        source_url=None if block.repo_url == ANY_REPOSITORY else block.repo_url,
        content_hash=block.digest or None,
    )


def _name_of(block: Block) -> str:
    if block.kind is not BlockKind.NAME:
        return ""
    return block.skill_name if block.repo_url == ANY_REPOSITORY else skill_slug(block.repo_url, block.skill_name)
