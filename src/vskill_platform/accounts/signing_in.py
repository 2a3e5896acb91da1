"""Signing in: a name and a password, then a one-time code where the account has them.

Whoever names an account that is not there hears the same words after the same work as who has the password wrong. A session's
secret is new at each sign-in, and the one that the browser came with is over. Between password and code there is a half session,
which is good for nothing but the code.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import structlog

from vskill_platform.accounts.auditing import audited_as, note_as
from vskill_platform.accounts.passwords import hash_password, is_outdated, verify_password
from vskill_platform.accounts.totp import take_code
from vskill_platform.domain.account import Account
from vskill_platform.domain.errors import CodeRefused, RateLimited, SignInFailed
from vskill_platform.domain.records import Record
from vskill_platform.domain.secrets import hash_secret
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.ports.commit import ABSENT, Delete, Operation, Put
from vskill_platform.stores.accounts import change_account, find_account, get_account
from vskill_platform.stores.records import decode_record, encode_record
from vskill_platform.stores.sessions import NewSession, OpenedSession, ending, new_session
from vskill_platform.worker_context import current_env

QUARTER_S = 900.0
PLACES = 5
"""From how many addresses at once somebody may have an account's password wrong before it is closed to all of them."""
CODES_PER_QUARTER = 10
HALF_S = 300.0
_log = structlog.get_logger(__name__)


class Browser(NamedTuple):
    """What signs in: its household and what it calls itself, and the secret of the session that it had before."""

    address: str = ""
    user_agent: str = ""
    previous: str | None = None


class HalfSession(Record, frozen=True, kw_only=True, rename="camel"):
    """Somebody who had the password right and has yet to show a code."""

    account_id: str
    epoch: int


class CodeWanted(NamedTuple):
    """The password was right and a code is wanted: the secret of the half session."""

    secret: str


_halves = msgspec.json.Decoder(HalfSession)


async def sign_in(name: str, password: str, *, browser: Browser) -> OpenedSession | CodeWanted:
    """Sign in, or come half the way. Raises SignInFailed, or RateLimited for who tries too often."""
    account = await find_account(name)
    await _take_turn(account.id if account else hash_secret(name), browser)
    password_hash = None if account is None or account.is_disabled else account.password_hash
    is_right = await verify_password(password, password_hash)
    if account is None or not is_right:
        _log.info("sign_in_failed", account=account.id if account else None, address=browser.address)
        raise SignInFailed("The name or the password is wrong.")
    if account.needs_code:
        return CodeWanted(await _open_half(account))
    better = await hash_password(password) if is_outdated(account.password_hash or "") else None
    return await enter(account, browser, reason="Signed in with a password.", password_hash=better)


async def sign_in_with_code(half: str, code: str, *, browser: Browser) -> OpenedSession:
    """Go the other half of the way. Raises SignInFailed where there was no first half, CodeRefused, or RateLimited."""
    found = await current_env("kv").kv.get(_half_key(half))
    wanted = None if found is None else decode_record("half-session", found.value, decoder=_halves)
    account = None if wanted is None else await get_account(wanted.account_id)
    if found is None or wanted is None or account is None or account.session_epoch != wanted.epoch:
        raise SignInFailed("That took too long. Sign in again from the start.")
    await _take("sign-in-code", account.id, limit=CODES_PER_QUARTER)
    try:
        return await enter(
            account, browser, reason="Signed in with a password and a code.", code=code, also=[Delete(_half_key(half))]
        )
    except CodeRefused:
        await note_as(account, "account.code_refused", reason="The password was right and the code was not.")
        raise


async def enter(
    account: Account,
    browser: Browser,
    *,
    reason: str,
    password_hash: str | None = None,
    code: str | None = None,
    also: Sequence[Operation] = (),
) -> OpenedSession:
    """Open the session of an account that has proven itself; a code is taken in the same commit.

    Raises CodeRefused, or SignInFailed where the account was closed meanwhile.
    """
    opened = new_session(account, user_agent=browser.user_agent, address=browser.address)
    now = iso_from_ms(current_env("clock").clock.now_ms())

    def signed_in(one: Account) -> Account:
        if one.is_disabled or one.session_epoch != account.session_epoch:
            raise SignInFailed("The account was changed meanwhile. Sign in again.")
        changed = msgspec.structs.replace(one, last_sign_in_at=now, password_hash=password_hash or one.password_hash)
        return changed if code is None else _with_code_taken(changed, code)

    await audited_as(
        account.name,
        "account.sign_in",
        reason=reason,
        account=account,
        run=lambda: change_account(account.id, signed_in, also=[*_entering(opened, browser), *also]),
    )
    return opened.opened


def _entering(opened: NewSession, browser: Browser) -> list[Operation]:
    return [*opened.operations, *(ending(browser.previous) if browser.previous else ())]


def _with_code_taken(account: Account, code: str) -> Account:
    if account.totp is None or not account.needs_code:
        raise SignInFailed("The account was changed meanwhile. Sign in again.")
    taken = take_code(account.totp, code, now_ms=current_env("clock").clock.now_ms())
    return msgspec.structs.replace(account, totp=taken)


async def _open_half(account: Account) -> str:
    secret = secrets.token_urlsafe(32)
    half = HalfSession(account_id=account.id, epoch=account.session_epoch)
    put = Put(_half_key(secret), encode_record(half), if_version=ABSENT, ttl_s=HALF_S)
    await current_env("writes").writes.commit([put])
    return secret


async def _take_turn(account: str, browser: Browser) -> None:
    """Count a try, for the address and for the account. An account takes more from everywhere than one address has."""
    limit = current_env("settings").settings.sign_ins_per_quarter_hour
    await _take("sign-in-address", browser.address, limit=limit)
    await _take("sign-in-account", account, limit=limit * PLACES)


async def _take(name: str, key: str, *, limit: int) -> None:
    taken = await current_env("limiter").limiter.take(f"{name}:{key}", limit=limit, window_s=QUARTER_S)
    if not taken.allowed:
        raise RateLimited(
            "That was tried too often. Wait a few minutes and try again.", retry_after_s=taken.retry_after_s
        )


def _half_key(secret: str) -> str:
    return f"half-session:{hash_secret(secret)}"
