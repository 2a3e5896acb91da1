"""How far a skill is trusted, in the words of the original: `certTier` as we call it, and `trustTier` from T0 to T4."""

from __future__ import annotations

from vskill_platform.domain.skill import CertTier

_TRUST = {CertTier.SCANNED: "T2", CertTier.VERIFIED: "T3", CertTier.CERTIFIED: "T4"}


def trust_tier(tier: str) -> str:
    """T2 has passed the scan, T3 a second opinion as well, T4 is a trusted vendor's. T0, blocked, is never published here."""
    return _TRUST[CertTier(tier)]
