"""Addresses that were left with submissions: kept apart from everything else, and erased for good."""

from __future__ import annotations

import msgspec

from vskill_platform.domain.contact import CONTACT_PREFIX, Contact, contact_key, same_address
from vskill_platform.domain.errors import NotFound
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.ports.commit import Delete, Operation, Put
from vskill_platform.stores.reads import read_prefix, require_complete
from vskill_platform.stores.records import decode_record, encode_record
from vskill_platform.worker_context import current_env

_ERASED_AT_ONCE = 500
_contacts = msgspec.json.Decoder(Contact)


def keeping_contact(submission_id: str, address: str, *, account: str | None) -> Operation:
    """The operation that keeps an address with a submission, in place of one that was there."""
    now = iso_from_ms(current_env("clock").clock.now_ms())
    contact = Contact(address=address, account=account, created_at=now)
    return Put(contact_key(submission_id), encode_record(contact))


async def find_contact(submission_id: str) -> Contact | None:
    """The address that was left with a submission, or None."""
    key = contact_key(submission_id)
    entry = await current_env("kv").kv.get(key)
    return None if entry is None else _decode(key, entry.value)


async def erase_contact(submission_id: str, *, account: str) -> None:
    """Erase the address that an account has left with a submission. Raises NotFound where it has left none."""
    contact = await find_contact(submission_id)
    if contact is None or contact.account != account:
        raise NotFound("You have left no address with this submission.", id=submission_id)
    await current_env("writes").writes.commit([Delete(contact_key(submission_id))])


async def erase_contacts_of(account: str) -> int:
    """Erase every address that an account has left with submissions. Gives how many there were."""
    return await _erase([key for key, contact in await _all() if contact.account == account])


async def erase_address(address: str) -> int:
    """Erase an address from every submission it was left with, by whomever. Gives how many there were."""
    return await _erase([key for key, contact in await _all() if same_address(contact.address, address)])


async def _all() -> list[tuple[str, Contact]]:
    """Every contact with its key. Raises StoreUnavailable unless all could be read: what is not seen is not erased."""
    return require_complete(await read_prefix(CONTACT_PREFIX, lambda key, value: (key, _decode(key, value))))


async def _erase(keys: list[str]) -> int:
    for start in range(0, len(keys), _ERASED_AT_ONCE):
        gone: list[Operation] = [Delete(key) for key in keys[start : start + _ERASED_AT_ONCE]]
        await current_env("writes").writes.commit(gone)
    return len(keys)


def _decode(key: str, value: bytes) -> Contact:
    return decode_record(key, value, decoder=_contacts)
