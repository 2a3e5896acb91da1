"""From a secret that a request carries to whoever sent it."""

from __future__ import annotations

from vskill_platform.domain.access import Caller, CallerKind
from vskill_platform.stores.sessions import find_session
from vskill_platform.stores.tokens import find_token


async def caller_of_session(secret: str) -> Caller | None:
    """Who is signed in with this secret, or None where the session is over or never was."""
    found = await find_session(secret)
    if found is None:
        return None
    account = found.account
    return Caller(kind=CallerKind.SESSION, id=account.id, name=account.name, role=account.role, credential=found.id)


async def caller_of_token(secret: str) -> Caller | None:
    """Whose token this is, or None where it is none of ours, has ended or was revoked."""
    found = await find_token(secret)
    if found is None:
        return None
    account, token = found.account, found.token
    return Caller(
        kind=CallerKind.TOKEN,
        id=account.id,
        name=account.name,
        role=account.role,
        scopes=frozenset(token.scopes),
        credential=token.id,
    )
