"""Signing a program in from another device (RFC 8628): it shows a short code, and a person who is signed in approves it.

The program holds a long secret, the person types a short one; both are kept by their hashes and last ten minutes. What comes of
a code is told once: the commit that tells it removes it.
"""

from __future__ import annotations

import secrets
from enum import StrEnum
from typing import NamedTuple

import msgspec

from vskill_platform.domain.errors import CodeRefused, Conflict
from vskill_platform.domain.records import Record
from vskill_platform.domain.secrets import hash_secret
from vskill_platform.ports.commit import ABSENT, Delete, Put
from vskill_platform.ports.kv import Entry
from vskill_platform.stores.records import decode_record, encode_record
from vskill_platform.worker_context import current_env

LASTS_S = 600.0
INTERVAL_S = 3
_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
"""No vowels, so that no code is a word, and no two letters that look alike."""
_HALF = 4


class DeviceState(StrEnum):
    """How a code stands, in the words of RFC 8628 where it has some."""

    PENDING = "authorization_pending"
    TOO_FAST = "slow_down"
    DENIED = "access_denied"
    EXPIRED = "expired_token"
    APPROVED = "approved"


class DeviceCode(Record, frozen=True, kw_only=True, rename="camel"):
    """A program that waits to be signed in. `label` is what it calls itself, `account` who has let it in."""

    user_hash: str
    label: str
    state: DeviceState = DeviceState.PENDING
    account: str = ""
    asked_ms: int = 0
    ends_ms: int


class OpenedCode(NamedTuple):
    """The two secrets, which are told once: the program's and the person's."""

    device_code: str
    user_code: str


class Polled(NamedTuple):
    """What a program is told when it asks. Once it is approved, by whom, and what the program calls itself."""

    state: DeviceState
    account: str = ""
    label: str = ""


_codes = msgspec.json.Decoder(DeviceCode)


async def open_device_code(label: str) -> OpenedCode:
    """Begin to sign a program in."""
    env = current_env("writes")
    device_code, user_code = secrets.token_urlsafe(32), _new_user_code()
    ends_ms = env.clock.now_ms() + int(LASTS_S * 1000)
    waiting = DeviceCode(user_hash=_hash_user(user_code), label=label, ends_ms=ends_ms)
    key = _device_key(hash_secret(device_code))
    await env.writes.commit(
        [
            Put(key, encode_record(waiting), if_version=ABSENT, ttl_s=LASTS_S),
            Put(_user_key(waiting.user_hash), key.encode(), if_version=ABSENT, ttl_s=LASTS_S),
        ]
    )
    return OpenedCode(device_code, user_code)


async def find_waiting(user_code: str) -> DeviceCode:
    """The program that shows this code. Raises CodeRefused where none does, or it was decided on."""
    return (await _waiting(user_code))[1]


async def decide_device(user_code: str, *, account: str, is_approved: bool) -> DeviceCode:
    """Let a program in in the name of an account, or not. Raises CodeRefused, or Conflict if another decides now."""
    key, waiting, entry = await _waiting(user_code)
    state = DeviceState.APPROVED if is_approved else DeviceState.DENIED
    decided = msgspec.structs.replace(waiting, state=state, account=account if is_approved else "")
    await current_env("writes").writes.commit([_putting(key, decided, entry), Delete(_user_key(waiting.user_hash))])
    return decided


async def poll_device(device_code: str) -> Polled:
    """How a program's code stands. What was decided is told once: after that there is no such code."""
    env = current_env("writes")
    key = _device_key(hash_secret(device_code))
    entry = await env.kv.get(key)
    if entry is None:
        return Polled(DeviceState.EXPIRED)
    waiting = decode_record(key, entry.value, decoder=_codes)
    if waiting.state is not DeviceState.PENDING:
        await env.writes.commit([Delete(key, if_version=entry.version)])
        return Polled(waiting.state, waiting.account, waiting.label)
    now_ms = env.clock.now_ms()
    is_early = now_ms - waiting.asked_ms < (INTERVAL_S - 1) * 1000
    try:
        await env.writes.commit([_putting(key, msgspec.structs.replace(waiting, asked_ms=now_ms), entry)])
    except Conflict:
        return Polled(DeviceState.PENDING)  # somebody decides at this moment: the next time tells
    return Polled(DeviceState.TOO_FAST if is_early else DeviceState.PENDING)


async def _waiting(user_code: str) -> tuple[str, DeviceCode, Entry]:
    kv = current_env("kv").kv
    named = await kv.get(_user_key(_hash_user(user_code)))
    entry = None if named is None else await kv.get(named.value.decode())
    if named is None or entry is None:
        raise CodeRefused("No program shows this code any more. Codes last ten minutes: have it show a new one.")
    key = named.value.decode()
    return key, decode_record(key, entry.value, decoder=_codes), entry


def _putting(key: str, code: DeviceCode, entry: Entry) -> Put:
    """The operation that rewrites a code, which lasts no longer for it."""
    left_s = max(1.0, (code.ends_ms - current_env("clock").clock.now_ms()) / 1000)
    return Put(key, encode_record(code), if_version=entry.version, ttl_s=left_s)


def _new_user_code() -> str:
    letters = "".join(secrets.choice(_LETTERS) for _ in range(2 * _HALF))
    return f"{letters[:_HALF]}-{letters[_HALF:]}"


def _hash_user(user_code: str) -> str:
    """However somebody types it: case, spaces and dashes do not matter."""
    return hash_secret("".join(letter for letter in user_code.upper() if letter.isalnum()))


def _device_key(digest: str) -> str:
    return f"device-code:{digest}"


def _user_key(digest: str) -> str:
    return f"device-user:{digest}"
