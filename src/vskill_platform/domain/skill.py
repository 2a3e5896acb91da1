"""The records that the registry keeps about published skills, as far as lists and names need them."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from vskill_platform.domain.records import Record


class CertTier(StrEnum):
    """How far a skill was verified."""

    SCANNED = "SCANNED"
    VERIFIED = "VERIFIED"
    CERTIFIED = "CERTIFIED"


class Skill(Record, frozen=True, kw_only=True, rename="camel"):
    """A published skill: the newest version's summary. Older records may lack what has a default here."""

    slug: str = ""
    name: str = ""
    repo_url: str = ""
    description: str = ""
    category: str = ""
    publisher: str = ""
    version: str = ""
    tier: CertTier = CertTier.SCANNED
    score: int = 0
    published_at: str = ""
    updated_at: str = ""


class PublishedSkillSummary(msgspec.Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """What an enumeration of published skills gives for each."""

    slug: str
    name: str
    repo_url: str
    description: str = ""
    version: str = ""
    tier: str = CertTier.SCANNED.value
    score: int = 0
    updated_at: str = ""
