"""Sessions: who is signed in, by a secret that only a browser holds; we keep its hash.

Nothing here is remembered between two requests, so a session that was ended is over at once, in every process. Ending all of an
account's raises the epoch in its record: one write, however many there are.
"""

from __future__ import annotations

import secrets
from typing import NamedTuple

import msgspec
import structlog

from vskill_platform.domain.account import (
    SESSION_PREFIX,
    Account,
    Session,
    digest_start,
    is_session_live,
    session_id,
    session_key,
    short_user_agent,
)
from vskill_platform.domain.errors import Conflict, NotFound, StoreUnavailable
from vskill_platform.domain.secrets import hash_secret
from vskill_platform.domain.times import iso_from_ms, ms_from_iso
from vskill_platform.ports.commit import ABSENT, Delete, Operation, Put
from vskill_platform.stores.accounts import change_account, get_account
from vskill_platform.stores.reads import list_keys, read_keys, require_complete
from vskill_platform.stores.records import decode_record, encode_changed, encode_record
from vskill_platform.worker_context import current_env

SECRET_BYTES = 32
TOUCH_MS = 60_000
"""How long a session's last sight may be out of date: it is written at most this often."""
_sessions = msgspec.json.Decoder(Session)
_log = structlog.get_logger(__name__)


class OpenedSession(NamedTuple):
    """A session, and the secret that is it. The secret is told once and not kept."""

    session: Session
    secret: str


class NewSession(NamedTuple):
    """A session that is there once its operations are committed."""

    opened: OpenedSession
    operations: list[Operation]


class FoundSession(NamedTuple):
    """A session that holds, and whose it is."""

    id: str
    session: Session
    account: Account


def new_session(account: Account, *, user_agent: str = "", address: str = "") -> NewSession:
    """A session of an account with one browser, and the writes that open it. Nobody can choose its secret, or know it before."""
    env = current_env("writes")
    now_ms, lasts_s, secret = env.clock.now_ms(), env.settings.session_longest_s, secrets.token_urlsafe(SECRET_BYTES)
    session = Session(
        account_id=account.id,
        epoch=account.session_epoch,
        created_at=iso_from_ms(now_ms),
        last_seen_at=iso_from_ms(now_ms),
        ends_at=iso_from_ms(now_ms + int(lasts_s * 1000)),
        user_agent=short_user_agent(user_agent),
        address=address,
    )
    digest = hash_secret(secret)
    kept = Put(session_key(digest), encode_record(session), if_version=ABSENT, ttl_s=lasts_s)
    return NewSession(
        OpenedSession(session, secret), [kept, Put(_listing_key(account.id, digest), b"{}", ttl_s=lasts_s)]
    )


async def open_session(account: Account, *, user_agent: str = "", address: str = "") -> OpenedSession:
    """Open a session in a commit of its own."""
    opened = new_session(account, user_agent=user_agent, address=address)
    await current_env("writes").writes.commit(opened.operations)
    return opened.opened


async def find_session(secret: str) -> FoundSession | None:
    """The session of a secret, if it holds: not ended, neither idle nor old for too long, of an account that may sign in."""
    env = current_env("kv")
    digest = hash_secret(secret)
    entry = await env.kv.get(session_key(digest))
    if entry is None:
        return None
    session = _decode(session_key(digest), entry.value)
    account = await get_account(session.account_id)
    if account is None or not _holds(session, account):
        return None
    await _touch(digest, session, value=entry.value, version=entry.version)
    return FoundSession(session_id(digest), session, account)


async def end_session(secret: str) -> None:
    """End the session of a secret; one that is over already is no error."""
    await current_env("writes").writes.commit(ending(secret))


def ending(secret: str) -> list[Operation]:
    """The writes that end the session of a secret."""
    return [Delete(session_key(hash_secret(secret)))]


async def list_sessions(account: Account) -> list[FoundSession]:
    """The sessions of an account that hold, those that were seen last first."""
    prefix = _listing_key(account.id, "")
    keys = [session_key(key.removeprefix(prefix)) async for page in list_keys(prefix) for key in page]
    read = require_complete(await read_keys(keys, _decode_listed))
    live = [FoundSession(identity, session, account) for identity, session in read if _holds(session, account)]
    return sorted(live, key=lambda found: found.session.last_seen_at, reverse=True)


async def end_session_of(account: Account, identity: str) -> None:
    """End one of an account's sessions by its name in lists. Raises NotFound where the account has none of that name."""
    env = current_env("writes")
    page = await env.kv.list(_listing_key(account.id, digest_start(identity)), limit=2)
    if len(page.keys) != 1:
        raise NotFound(f"There is no session '{identity}' of this account. It may have ended.", session=identity)
    digest = page.keys[0].rpartition(":")[2]
    await env.writes.commit([Delete(session_key(digest)), Delete(page.keys[0])])


async def end_sessions(account_id: str) -> Account:
    """End every session of an account, in one commit. Raises NotFound."""
    return await change_account(account_id, with_sessions_ended)


def with_sessions_ended(account: Account) -> Account:
    """The account in another epoch, in which no session of before holds."""
    return msgspec.structs.replace(account, session_epoch=account.session_epoch + 1)


def _holds(session: Session, account: Account) -> bool:
    env = current_env("clock")
    is_live = is_session_live(session, now_ms=env.clock.now_ms(), idle_s=env.settings.session_idle_s)
    return is_live and session.epoch == account.session_epoch and not account.is_disabled


async def _touch(digest: str, session: Session, *, value: bytes, version: int) -> None:
    """Write that a session was seen, now and then. Where that fails it still was: who only reads need not suffer for it."""
    env = current_env("writes")
    now_ms = env.clock.now_ms()
    if now_ms - ms_from_iso(session.last_seen_at) < TOUCH_MS:
        return
    seen = msgspec.structs.replace(session, last_seen_at=iso_from_ms(now_ms))
    key, left_s = session_key(digest), (ms_from_iso(session.ends_at) - now_ms) / 1000
    put = Put(key, encode_changed(seen, key=key, previous=value), if_version=version, ttl_s=left_s)
    try:
        await env.writes.commit([put])
    except (Conflict, StoreUnavailable) as error:
        _log.info("session_not_touched", session=session_id(digest), error=error.code)


def _decode(key: str, value: bytes) -> Session:
    return decode_record(key, value, decoder=_sessions)


def _decode_listed(key: str, value: bytes) -> tuple[str, Session]:
    return session_id(key.removeprefix(SESSION_PREFIX)), _decode(key, value)


def _listing_key(account_id: str, digest: str) -> str:
    return f"sessions-of:{account_id}:{digest}"
