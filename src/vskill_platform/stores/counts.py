"""How often a skill was installed and downloaded, and how many visitors have starred it.

Counters are added to and never read first, so no count is lost to another. They belong to the submission that the skill
comes from, so a new name keeps them.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from vskill_platform.domain.skill import Skill
from vskill_platform.ports.commit import Add
from vskill_platform.stores.records import decode_record
from vskill_platform.worker_context import current_env

COUNTS_PREFIX = "counts:"


class SkillCounts(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What was counted. An install is reported by a client; a download is an archive that was fetched.

    An update check is a client that asked whether what it has is still the newest: it is neither.
    """

    installs: int = 0
    downloads: int = 0
    stars: int = 0
    update_checks: int = 0


_counts = msgspec.json.Decoder(SkillCounts)


def skill_identity(skill: Skill) -> str:
    """What a skill is known by whatever it is called; records of old have no submission, and only their slug."""
    return skill.submission_id or skill.slug


def counts_key(identity: str) -> str:
    """The key of a skill's counter."""
    return f"{COUNTS_PREFIX}{identity}"


async def get_counts(skill: Skill) -> SkillCounts:
    """What was counted of a skill so far."""
    return await get_counts_of(skill_identity(skill))


async def get_counts_of(identity: str) -> SkillCounts:
    """The same by the skill's identity."""
    key = counts_key(identity)
    entry = await current_env("kv").kv.get(key)
    return SkillCounts() if entry is None else decode_record(key, entry.value, decoder=_counts)


def counting(identities: Iterable[str], **amounts: int) -> list[Add]:
    """The operations that add to the counters of these skills."""
    return [Add(counts_key(identity), amounts) for identity in identities]
