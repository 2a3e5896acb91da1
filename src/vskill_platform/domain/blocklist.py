"""What may not be published: certain bytes, a skill by its name, or everything of a repository."""

from __future__ import annotations

import hashlib
from enum import StrEnum

from vskill_platform.domain.records import Record
from vskill_platform.domain.repository import repository_identity
from vskill_platform.domain.slug import slugify
from vskill_platform.domain.submission import Actor

BLOCK_PREFIX = "block:"
ANY_REPOSITORY = ""
BLOCKED_DIGEST = "blocked_digest"
"""The reason of a submission that was stopped for its bytes alone: other bytes are looked at again."""


class BlockKind(StrEnum):
    """What an entry stands against."""

    DIGEST = "digest"
    NAME = "name"
    REPOSITORY = "repository"


class Block(Record, frozen=True, kw_only=True, rename="camel"):
    """One entry. One that the system made names the submission whose findings made it."""

    kind: BlockKind
    digest: str = ""
    skill_name: str = ""
    repo_url: str = ANY_REPOSITORY
    reason: str
    actor: Actor
    created_at: str
    submission_id: str | None = None


def digest_block_key(digest: str) -> str:
    """The key of the entry against certain bytes."""
    return f"{BLOCK_PREFIX}digest:{digest}"


def name_block_key(skill_name: str, *, repo_url: str = ANY_REPOSITORY) -> str:
    """The key of the entry against a skill's name, in one repository or in any."""
    return f"{BLOCK_PREFIX}name:{_hashed(repository_identity(repo_url), slugify(skill_name))}"


def repository_block_key(repo_url: str) -> str:
    """The key of the entry against a repository."""
    return f"{BLOCK_PREFIX}repository:{_hashed(repository_identity(repo_url))}"


def block_key(block: Block) -> str:
    """The key of an entry."""
    match block.kind:
        case BlockKind.DIGEST:
            return digest_block_key(block.digest)
        case BlockKind.NAME:
            return name_block_key(block.skill_name, repo_url=block.repo_url)
        case BlockKind.REPOSITORY:
            return repository_block_key(block.repo_url)


def stands_against(block: Block, submission_id: str) -> bool:
    """Whether an entry holds for a submission: one that its own findings made does not, or it could never pass again."""
    return block.actor is not Actor.SYSTEM or block.submission_id != submission_id


def _hashed(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
