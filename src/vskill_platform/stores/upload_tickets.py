"""Tickets for files that are sent one by one before the skill that they belong to.

A ticket is for one account and one file: its path, size and hash are said beforehand, and other bytes are not taken. It is
known by the hash of its secret, lasts minutes, and is used up by the commit that its file is good for.
"""

from __future__ import annotations

import secrets
from typing import NamedTuple

import msgspec

from vskill_platform.domain.errors import Conflict, InvalidInput, NotFound
from vskill_platform.domain.ids import Digest, sha256_digest
from vskill_platform.domain.records import Record
from vskill_platform.domain.secrets import hash_secret
from vskill_platform.ports.commit import ABSENT, Delete, Put
from vskill_platform.ports.kv import Entry
from vskill_platform.stores.records import decode_record, encode_record
from vskill_platform.worker_context import current_env

LASTS_S = 1800.0


class FileDescription(msgspec.Struct, frozen=True, kw_only=True):
    """What is said of a file before it is sent. `sha256` has 64 hex digits."""

    path: str
    size: int
    sha256: str


class UploadTicket(Record, frozen=True, kw_only=True, rename="camel"):
    """Leave to send one file. `is_filled` once its bytes are here, kept under their digest."""

    account: str
    file: FileDescription
    is_filled: bool = False

    @property
    def digest(self) -> Digest:
        """What the bytes are kept under."""
        return Digest(f"sha256:{self.file.sha256}")


class OpenedTicket(NamedTuple):
    """A ticket's secret, which is told once, and the id that its file is sent to."""

    secret: str
    id: str


class RedeemedFile(NamedTuple):
    """The bytes of a file, and the operation that uses its ticket up: of two commits with it one succeeds."""

    content: bytes
    using: Delete


_tickets = msgspec.json.Decoder(UploadTicket)


async def open_ticket(account: str, file: FileDescription) -> OpenedTicket:
    """Give leave to send a file."""
    secret = secrets.token_urlsafe(32)
    identity = hash_secret(secret)
    ticket = UploadTicket(account=account, file=file)
    await current_env("writes").writes.commit(
        [Put(_key(identity), encode_record(ticket), if_version=ABSENT, ttl_s=LASTS_S)]
    )
    return OpenedTicket(secret, identity)


async def get_ticket(identity: str, *, account: str) -> UploadTicket:
    """An open ticket of an account. Raises NotFound for one that is over, used, or another's."""
    return (await _read(identity, account))[0]


async def fill_ticket(identity: str, content: bytes, *, account: str) -> Digest:
    """Keep the bytes that a ticket is for; the same a second time changes nothing. Raises InvalidInput for others."""
    ticket, entry = await _read(identity, account)
    if len(content) != ticket.file.size or sha256_digest(content) != ticket.digest:
        raise InvalidInput(
            f"These are not the bytes of '{ticket.file.path[:200]}' that were announced. Ask for a new upload URL."
        )
    digest = await current_env("blobs").blobs.put(content)
    filled = msgspec.structs.replace(ticket, is_filled=True)
    put = Put(_key(identity), encode_record(filled), if_version=entry.version, ttl_s=LASTS_S)
    if not ticket.is_filled:
        await current_env("writes").writes.commit([put])
    return digest


async def redeem_ticket(secret: str, file: FileDescription, *, account: str) -> RedeemedFile:
    """The bytes that were sent with a ticket. Raises NotFound, or Conflict for another file than it is for."""
    identity = hash_secret(secret)
    ticket, entry = await _read(identity, account)
    if ticket.file != file or not ticket.is_filled:
        raise Conflict(f"'{file.path[:200]}' was not uploaded with this ticket. Upload it again.", path=file.path[:200])
    content = await current_env("blobs").blobs.get(ticket.digest)
    return RedeemedFile(content, Delete(_key(identity), if_version=entry.version))


async def _read(identity: str, account: str) -> tuple[UploadTicket, Entry]:
    key = _key(identity)
    entry = await current_env("kv").kv.get(key)
    ticket = None if entry is None else decode_record(key, entry.value, decoder=_tickets)
    if entry is None or ticket is None or ticket.account != account:
        raise NotFound("This upload is over, was used, or was never begun. Ask for a new upload URL.")
    return ticket, entry


def _key(identity: str) -> str:
    return f"upload-ticket:{identity[:100]}"
