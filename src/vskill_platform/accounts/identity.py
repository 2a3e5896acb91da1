"""From a secret that a request carries to whoever sent it."""

from __future__ import annotations

from vskill_platform.domain.access import Caller


async def caller_of_session(secret: str) -> Caller | None:
    """Who is signed in with this secret, or None where the session is over or never was."""
    del secret
    return None


async def caller_of_token(secret: str) -> Caller | None:
    """Whose token this is, or None where it is none of ours, has ended or was revoked."""
    del secret
    return None
