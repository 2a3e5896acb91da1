"""API tokens: kept by their hash, within scopes, and revoked at once.

A token is looked up for every request that shows one. Nothing about it is remembered in a process, so none outlives its
revocation anywhere. A text whose checksum is wrong is no token, and the store is not asked about it.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import structlog

from vskill_platform.domain.access import Scope
from vskill_platform.domain.account import (
    MAX_TOKEN_NAME_CHARS,
    TOKEN_PREFIX,
    Account,
    Token,
    digest_start,
    is_token_live,
    token_id,
    token_key,
)
from vskill_platform.domain.errors import Conflict, InvalidInput, NotFound, StoreUnavailable
from vskill_platform.domain.secrets import hash_secret
from vskill_platform.domain.times import iso_from_ms, ms_from_iso
from vskill_platform.domain.token_text import BASE62, RANDOM_CHARS, compose_token, is_token_text
from vskill_platform.ports.commit import ABSENT, Put
from vskill_platform.ports.kv import Entry
from vskill_platform.stores.accounts import MAX_TRIES, get_account
from vskill_platform.stores.reads import Settled, list_keys, read_keys, read_prefix, require_complete
from vskill_platform.stores.records import decode_record, encode_changed, encode_record
from vskill_platform.worker_context import current_env

TOUCH_MS = 60_000
"""How long a token's last use may be out of date: it is written at most this often."""
MAX_TOKENS = 100
"""How many an account may have, those that were revoked or have ended among them."""
MAX_DAYS = 3660
_tokens = msgspec.json.Decoder(Token)
_log = structlog.get_logger(__name__)


class MadeToken(NamedTuple):
    """A token, and its text. The text is told once and not kept."""

    token: Token
    text: str


class FoundToken(NamedTuple):
    """A token that holds, and whose it is."""

    token: Token
    account: Account


async def create_token(
    account: Account, *, name: str, scopes: Sequence[Scope], expires_in_days: float | None = None
) -> MadeToken:
    """Make a token for an account. Raises InvalidInput for one without a name, a scope or a possible end."""
    env = current_env("writes")
    now_ms, text = env.clock.now_ms(), compose_token("".join(secrets.choice(BASE62) for _ in range(RANDOM_CHARS)))
    digest = hash_secret(text)
    token = Token(
        id=token_id(digest),
        account_id=account.id,
        name=_check_name(name),
        scopes=_check_scopes(scopes),
        created_at=iso_from_ms(now_ms),
        expires_at=None if expires_in_days is None else iso_from_ms(now_ms + _days_ms(expires_in_days)),
    )
    if len(await list_tokens_of(account.id)) >= MAX_TOKENS:
        raise InvalidInput(f"An account has at most {MAX_TOKENS} tokens, and this one has them.")
    kept = Put(token_key(digest), encode_record(token), if_version=ABSENT)
    await env.writes.commit([kept, Put(_listing_key(account.id, digest), b"{}")])
    return MadeToken(token, text)


async def find_token(text: str) -> FoundToken | None:
    """The token of a text, if it holds: neither revoked nor past its end, of an account that is not disabled."""
    if not is_token_text(text):
        return None
    env = current_env("kv")
    key = token_key(hash_secret(text))
    entry = await env.kv.get(key)
    if entry is None:
        return None
    token = _decode(key, entry.value)
    account = await get_account(token.account_id)
    if account is None or account.is_disabled or not is_token_live(token, now_ms=env.clock.now_ms()):
        return None
    await _touch(key, token, entry)
    return FoundToken(token, account)


async def list_tokens_of(account_id: str) -> list[Token]:
    """The tokens of an account, the newest first, with those that were revoked."""
    prefix = _listing_key(account_id, "")
    keys = [token_key(key.removeprefix(prefix)) async for page in list_keys(prefix) for key in page]
    found = require_complete(await read_keys(keys, _decode))
    return sorted(found, key=lambda token: token.created_at, reverse=True)


async def list_all_tokens() -> Settled[Token]:
    """Every token of every account, for who manages them."""
    return await read_prefix(TOKEN_PREFIX, _decode)


async def revoke_token(identity: str, *, account_id: str | None = None) -> Token:
    """Revoke a token by its id; twice changes nothing. Raises NotFound, also for one of another account than the one named."""
    env = current_env("writes")
    for _ in range(MAX_TRIES):
        key, token, entry = await _by_id(identity)
        if account_id is not None and token.account_id != account_id:
            raise _unknown(identity)
        if token.revoked_at is not None:
            return token
        revoked = msgspec.structs.replace(token, revoked_at=iso_from_ms(env.clock.now_ms()))
        put = Put(key, encode_changed(revoked, key=key, previous=entry.value), if_version=entry.version)
        try:
            await env.writes.commit([put])
        except Conflict:
            continue
        return revoked
    raise Conflict(f"The token '{identity}' was in use each time. Try again.")


async def _by_id(identity: str) -> tuple[str, Token, Entry]:
    kv = current_env("kv").kv
    page = await kv.list(token_key(digest_start(identity)), limit=2)
    entry = await kv.get(page.keys[0]) if len(page.keys) == 1 else None
    if entry is None:
        raise _unknown(identity)
    return page.keys[0], _decode(page.keys[0], entry.value), entry


async def _touch(key: str, token: Token, entry: Entry) -> None:
    """Write that a token was used, now and then; where that fails, whoever used it need not suffer for it."""
    env = current_env("writes")
    now_ms = env.clock.now_ms()
    if token.last_used_at is not None and now_ms - ms_from_iso(token.last_used_at) < TOUCH_MS:
        return
    used = msgspec.structs.replace(token, last_used_at=iso_from_ms(now_ms))
    put = Put(key, encode_changed(used, key=key, previous=entry.value), if_version=entry.version)
    try:
        await env.writes.commit([put])
    except (Conflict, StoreUnavailable) as error:
        _log.info("token_not_touched", token=token.id, error=error.code)


def _check_name(name: str) -> str:
    shown = " ".join(name.split())
    if not 1 <= len(shown) <= MAX_TOKEN_NAME_CHARS or not shown.isprintable():
        raise InvalidInput(f"A token has a name of 1 to {MAX_TOKEN_NAME_CHARS} printable characters, to know it by.")
    return shown


def _check_scopes(scopes: Sequence[Scope]) -> tuple[Scope, ...]:
    if not scopes:
        raise InvalidInput(f"A token has one scope at least: {', '.join(Scope)}.")
    return tuple(scope for scope in Scope if scope in scopes)


def _days_ms(days: float) -> int:
    if not 0 < days <= MAX_DAYS:
        raise InvalidInput(f"A token ends after more than 0 and at most {MAX_DAYS} days, or never.")
    return int(days * 24 * 3600 * 1000)


def _unknown(identity: str) -> NotFound:
    return NotFound(f"There is no token '{identity[:60]}'.", token=identity[:60])


def _decode(key: str, value: bytes) -> Token:
    return decode_record(key, value, decoder=_tokens)


def _listing_key(account_id: str, digest: str) -> str:
    return f"tokens-of:{account_id}:{digest}"
