"""Accounts: made, found, changed and listed.

A login name is unique through a key of its own, an account of an OpenID provider through another. Who the super administrators
are stands in one record that every commit about one of them checks, so there is always one left.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from vskill_platform.domain.access import Role
from vskill_platform.domain.account import (
    ACCOUNT_PREFIX,
    SUPER_ADMINS_KEY,
    Account,
    Provider,
    SuperAdmins,
    account_key,
    check_display_name,
    check_email,
    login_key,
    normalise_login,
)
from vskill_platform.domain.errors import Conflict, InvalidInput, LastAdministrator, NameTaken, NotFound
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.ports.commit import ABSENT, Operation, Put
from vskill_platform.stores.reads import Settled, read_prefix
from vskill_platform.stores.records import decode_record, encode_changed, encode_record
from vskill_platform.worker_context import current_env

Change = Callable[[Account], Account]
"""Makes the account as it is to be of the one that is there. May be called again, with a newer one."""
MAX_TRIES = 10
_accounts = msgspec.json.Decoder(Account)
_super_admins = msgspec.json.Decoder(SuperAdmins)


class _Found(NamedTuple):
    account: Account
    value: bytes
    version: int


async def create_account(
    name: str,
    *,
    role: Role,
    display_name: str = "",
    email: str | None = None,
    password_hash: str | None = None,
    provider: Provider | None = None,
    also: Sequence[Operation] = (),
) -> Account:
    """Make an account, in one commit with whatever else belongs to it. Raises NameTaken, or Conflict for what else failed."""
    login, env = normalise_login(name), current_env("writes")
    now = iso_from_ms(env.clock.now_ms())
    account = Account(
        id=f"usr_{env.random_id().hex}",
        name=login,
        display_name=check_display_name(display_name) or login,
        email=check_email(email),
        role=role,
        password_hash=password_hash,
        provider=provider,
        created_at=now,
        updated_at=now,
    )
    for _ in range(MAX_TRIES):
        await _refuse_taken(account)
        try:
            await env.writes.commit([*_first_writes(account), *await _admins_after(account), *also])
        except Conflict:
            if also and await find_account(login) is None:
                raise
        else:
            return account
    raise _too_many_writers(login)


def _first_writes(account: Account) -> list[Operation]:
    named = msgspec.json.encode(account.id)
    written: list[Operation] = [
        Put(account_key(account.id), encode_record(account), if_version=ABSENT),
        Put(login_key(account.name), named, if_version=ABSENT),
    ]
    if account.provider is not None:
        written.append(Put(provider_key(account.provider), named, if_version=ABSENT))
    return written


async def _refuse_taken(account: Account) -> None:
    if await find_account(account.name) is not None:
        raise NameTaken(f"There is an account '{account.name}' already. Choose another name.", name=account.name)


async def get_account(identity: str) -> Account | None:
    """The account with this id, or None."""
    found = await _find(identity)
    return None if found is None else found.account


async def find_account(name: str) -> Account | None:
    """The account that signs in with this name, or None; also for what cannot be a name."""
    try:
        login = normalise_login(name)
    except InvalidInput:
        return None
    return await _named_by(login_key(login))


async def find_provided(provider: Provider) -> Account | None:
    """The account of somebody at an OpenID provider, or None."""
    return await _named_by(provider_key(provider))


async def require_account(name_or_id: str) -> Account:
    """The account with this name or id. Raises NotFound."""
    is_id = name_or_id.startswith("usr_")
    account = await (get_account(name_or_id) if is_id else find_account(name_or_id))
    if account is None:
        raise NotFound(f"There is no account '{name_or_id[:60]}'.", account=name_or_id[:60])
    return account


async def list_accounts() -> Settled[Account]:
    """Every account, for who manages them."""
    return await read_prefix(ACCOUNT_PREFIX, _decode)


async def change_account(identity: str, change: Change, *, also: Sequence[Operation] = ()) -> Account:
    """Change an account, in one commit with what else belongs to it; read and changed again where another was first.

    Raises NotFound, LastAdministrator where nobody would be left who can do everything, or Conflict for what else failed.
    """
    env = current_env("writes")
    for _ in range(MAX_TRIES):
        found = await _find(identity)
        if found is None:
            raise NotFound(f"There is no account '{identity[:60]}'.", account=identity[:60])
        changed = change(found.account)
        if changed == found.account and not also:
            return changed
        changed = msgspec.structs.replace(changed, updated_at=iso_from_ms(env.clock.now_ms()))
        key = account_key(identity)
        put = Put(key, encode_changed(changed, key=key, previous=found.value), if_version=found.version)
        try:
            await env.writes.commit([put, *await _admins_after(changed), *also])
        except Conflict:
            continue
        return changed
    raise _too_many_writers(identity)


async def super_admins() -> tuple[str, ...]:
    """The ids of those who can do everything."""
    entry = await current_env("kv").kv.get(SUPER_ADMINS_KEY)
    return () if entry is None else decode_record(SUPER_ADMINS_KEY, entry.value, decoder=_super_admins).ids


async def _admins_after(account: Account) -> list[Operation]:
    """The write that the record of super administrators needs for an account as it is to be."""
    entry = await current_env("kv").kv.get(SUPER_ADMINS_KEY)
    known = () if entry is None else decode_record(SUPER_ADMINS_KEY, entry.value, decoder=_super_admins).ids
    is_one = account.role is Role.SUPER_ADMIN and not account.is_disabled
    if is_one == (account.id in known):
        return []
    ids = (*known, account.id) if is_one else tuple(one for one in known if one != account.id)
    if not ids:
        raise LastAdministrator(
            f"'{account.name}' is the only super administrator. Make another one first.", account=account.name
        )
    version = ABSENT if entry is None else entry.version
    return [Put(SUPER_ADMINS_KEY, encode_record(SuperAdmins(ids=ids)), if_version=version)]


def provider_key(provider: Provider) -> str:
    """The key that ties somebody at an OpenID provider to one account."""
    return f"oidc:{hashlib.sha256(msgspec.json.encode(provider)).hexdigest()}"


async def _named_by(key: str) -> Account | None:
    entry = await current_env("kv").kv.get(key)
    return None if entry is None else await get_account(msgspec.json.decode(entry.value, type=str))


async def _find(identity: str) -> _Found | None:
    key = account_key(identity)
    entry = await current_env("kv").kv.get(key)
    return None if entry is None else _Found(_decode(key, entry.value), entry.value, entry.version)


def _decode(key: str, value: bytes) -> Account:
    return decode_record(key, value, decoder=_accounts)


def _too_many_writers(subject: str) -> Conflict:
    return Conflict(f"'{subject[:60]}' was changed by others each time. Try again.")
