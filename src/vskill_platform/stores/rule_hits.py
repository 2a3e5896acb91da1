"""How often each rule hit, as of the last time that somebody counted."""

from __future__ import annotations

import msgspec

from vskill_platform.domain.records import Record
from vskill_platform.ports.commit import Put
from vskill_platform.stores.records import decode_record, encode_record
from vskill_platform.worker_context import current_env

HITS_KEY = "rules:hits"


class RuleHits(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How often one rule hit. `published` counts what is published, the others the last run of every submission.

    `quoted` findings only inform. `approved` and `rejected` are submissions that it hit and a person decided about: a rule whose
    hits people approve again and again may be wrong.
    """

    published_skills: int = 0
    published_findings: int = 0
    skills: int = 0
    findings: int = 0
    quoted: int = 0
    approved: int = 0
    rejected: int = 0

    @property
    def overridden(self) -> float | None:
        """The share of the submissions it hit that a person approved all the same; None where it hit none."""
        return self.approved / self.skills if self.skills else None


class HitCounts(Record, frozen=True, kw_only=True, rename="camel"):
    """The hits of every rule that hit at all, when they were counted, and over how much.

    `unknown` reports of published skills and of last runs are not kept or cannot be read.
    """

    as_of: str
    published: int = 0
    published_unknown: int = 0
    submissions: int = 0
    submissions_unknown: int = 0
    rules: dict[str, RuleHits] = msgspec.field(default_factory=dict)


_counts = msgspec.json.Decoder(HitCounts)


async def get_hit_counts() -> HitCounts | None:
    """What was counted last, or None where nobody has counted yet."""
    entry = await current_env("kv").kv.get(HITS_KEY)
    return None if entry is None else decode_record(HITS_KEY, entry.value, decoder=_counts)


async def save_hit_counts(counts: HitCounts) -> None:
    """Keep what was counted, in place of what was counted before."""
    await current_env("writes").writes.commit([Put(HITS_KEY, encode_record(counts))])
