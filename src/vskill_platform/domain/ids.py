"""The names by which things are known. Random parts are handed in, so that this stays pure."""

from __future__ import annotations

import hashlib
from typing import NewType
from uuid import UUID

from vskill_platform.domain.repository import repository_identity

SubmissionId = NewType("SubmissionId", str)
MessageId = NewType("MessageId", str)
CommitId = NewType("CommitId", str)
Digest = NewType("Digest", str)

SUBMISSION_PREFIX = "sub:"
SKILL_PREFIX = "skill:"
ALIAS_PREFIX = "skill:alias:"
VERSION_PREFIX = "version:"


def submission_id(random: UUID) -> SubmissionId:
    """`sub_` and the hex digits of a random UUID."""
    return SubmissionId(f"sub_{random.hex}")


def message_id(random: UUID) -> MessageId:
    """`msg_` and the hex digits of a random UUID."""
    return MessageId(f"msg_{random.hex}")


def sha256_digest(content: bytes) -> Digest:
    """The digest under which content is stored: `sha256:` and 64 hex digits."""
    return Digest(f"sha256:{hashlib.sha256(content).hexdigest()}")


def submission_key(identity: str) -> str:
    """The key of a submission's record."""
    return f"{SUBMISSION_PREFIX}{identity}"


def submitter_prefix(account: str) -> str:
    """What the keys begin with that name the submissions an account has made."""
    return f"submitter:{account}:"


def submitter_key(account: str, identity: str) -> str:
    """The key that says that an account has started a run of a submission."""
    return f"{submitter_prefix(account)}{identity}"


def claim_key(repo_url: str, skill_name: str) -> str:
    """The key that makes (repository, skill) unique among submissions, however their letters are cased."""
    identity = f"{repository_identity(repo_url)}\n{skill_name.casefold()}".encode()
    return f"claim:{hashlib.sha256(identity).hexdigest()}"


def history_key(identity: str, number: int) -> str:
    """The key of one entry of a submission's history; keys sort in the order of entries."""
    return f"hist:{identity}:{number:08d}"


def skill_key(slug: str) -> str:
    """The key of a published skill's record."""
    return f"{SKILL_PREFIX}{slug}"


def alias_key(slug: str) -> str:
    """The key under which an older slug names the newer one."""
    return f"{ALIAS_PREFIX}{slug}"


def withdrawn_key(slug: str) -> str:
    """The key under which a skill is kept that is published no more."""
    return f"withdrawn:{slug}"


def version_prefix(slug: str) -> str:
    """What the keys of a skill's versions begin with."""
    return f"{VERSION_PREFIX}{slug}:"


def version_key(slug: str, version: str) -> str:
    """The key of one version of a skill."""
    return f"{version_prefix(slug)}{version}"


def scan_key(identity: str, run: int, tier: str) -> str:
    """The key of what one tier said in one run of a submission."""
    return f"scan:{identity}:{run:06d}:{tier}"
