"""Stars: one for each visitor and skill. A visitor is known by the hash of a secret that only their browser holds."""

from __future__ import annotations

import hashlib

from vskill_platform.domain.errors import Conflict
from vskill_platform.domain.skill import Skill
from vskill_platform.ports.commit import ABSENT, Delete, Put
from vskill_platform.stores.counts import counting, skill_identity
from vskill_platform.worker_context import current_env


def star_key(skill: Skill, visitor: str) -> str:
    """The key of a visitor's star. `visitor` is the secret; only its hash is written."""
    return f"star:{skill_identity(skill)}:{hashlib.sha256(visitor.encode()).hexdigest()}"


async def has_star(skill: Skill, visitor: str) -> bool:
    """Whether a visitor has starred a skill."""
    return await current_env("kv").kv.get(star_key(skill, visitor)) is not None


async def give_star(skill: Skill, visitor: str) -> bool:
    """Star a skill; a second time changes nothing. Says whether it did."""
    given = Put(star_key(skill, visitor), b"{}", if_version=ABSENT)
    try:
        await current_env("writes").writes.commit([given, *counting([skill_identity(skill)], stars=1)])
    except Conflict:
        return False
    return True


async def take_star_back(skill: Skill, visitor: str) -> bool:
    """Take a star back; where there is none, nothing changes. Says whether it did."""
    env = current_env("kv")
    key = star_key(skill, visitor)
    entry = await env.kv.get(key)
    if entry is None:
        return False
    try:
        await env.writes.commit([Delete(key, if_version=entry.version), *counting([skill_identity(skill)], stars=-1)])
    except Conflict:
        return False
    return True
