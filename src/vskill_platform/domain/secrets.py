"""Secrets that people and programs come with: how they are kept, and the one way to compare them."""

from __future__ import annotations

import hashlib
import hmac


def hash_secret(secret: str) -> str:
    """What is kept of a random secret. Enough for one with 128 bits or more; a password needs a slow hash."""
    return hashlib.sha256(secret.encode()).hexdigest()


def equal_secrets(given: str | bytes, expected: str | bytes) -> bool:
    """Whether two secrets, hashes or signatures are the same, in a time that does not tell where they differ."""
    return hmac.compare_digest(_as_bytes(given), _as_bytes(expected))


def _as_bytes(secret: str | bytes) -> bytes:
    return secret.encode() if isinstance(secret, str) else secret
