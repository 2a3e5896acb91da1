"""Challenges by which an account shows that it controls the owner of a repository. Each ends after an hour and is used once."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import msgspec

from vskill_platform.domain.errors import InvalidInput, NotFound
from vskill_platform.domain.publisher import (
    CLAIM_LASTS_MS,
    ClaimChallenge,
    Publisher,
    PublisherKind,
    challenge_key,
    challenge_prefix,
    place_of,
)
from vskill_platform.domain.repository import normalise_repository_url
from vskill_platform.domain.slug import owner_handle
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.ports.commit import ABSENT, Delete, Put
from vskill_platform.ports.kv import Entry
from vskill_platform.stores.publishers import granting
from vskill_platform.stores.reads import read_prefix, require_complete, require_readable
from vskill_platform.stores.records import decode_record, encode_record
from vskill_platform.stores.skills import get_summaries
from vskill_platform.stores.submissions import get_submission_index
from vskill_platform.worker_context import current_env

MOST_OPEN = 10
"""How many challenges an account may have open."""
_LOOKED_THROUGH = 1000
_challenges = msgspec.json.Decoder(ClaimChallenge)


async def open_challenge(repo_url: str, *, account: str, kind: PublisherKind) -> ClaimChallenge:
    """A fresh challenge for the owner of a repository. Raises InvalidRepositoryUrl, or NotFound if it has published nothing."""
    address = normalise_repository_url(repo_url).url
    await _require_published(address)
    if len(await list_challenges(account)) >= MOST_OPEN:
        raise InvalidInput(f"You have {MOST_OPEN} claims open. Finish one, or wait until they end after an hour.")
    env = current_env("writes")
    now_ms = env.clock.now_ms()
    challenge = ClaimChallenge(
        id=f"clm_{env.random_id().hex}",
        account=account,
        repo_url=address,
        place=place_of(address),
        handle=owner_handle(address),
        kind=kind,
        token=f"vskill-claim-{secrets.token_hex(20)}",
        created_at=iso_from_ms(now_ms),
        expires_at=iso_from_ms(now_ms + CLAIM_LASTS_MS),
    )
    key = challenge_key(account, challenge.id)
    await env.writes.commit([Put(key, encode_record(challenge), if_version=ABSENT, ttl_s=CLAIM_LASTS_MS / 1000)])
    return challenge


async def list_challenges(account: str) -> Sequence[ClaimChallenge]:
    """The challenges of an account that are open, the oldest first."""
    found = require_complete(await read_prefix(challenge_prefix(account), _decode))
    return sorted(found, key=lambda challenge: (challenge.created_at, challenge.id))


async def get_challenge(account: str, identity: str) -> ClaimChallenge:
    """An open challenge of an account. Raises NotFound for one that is over, used, or another's."""
    return _decode(challenge_key(account, identity), (await _get(account, identity)).value)


async def redeem_challenge(challenge: ClaimChallenge) -> Publisher:
    """Give the account what it has shown to control, and use the challenge up, as one. Raises NotFound or Conflict."""
    entry = await _get(challenge.account, challenge.id)
    publisher, operations = await granting(
        challenge.handle, place=challenge.place, kind=challenge.kind, account=challenge.account
    )
    used = Delete(challenge_key(challenge.account, challenge.id), if_version=entry.version)
    await current_env("writes").writes.commit([used, *operations])
    return publisher


async def drop_challenge(account: str, identity: str) -> None:
    """Forget an open challenge. Raises NotFound."""
    entry = await _get(account, identity)
    await current_env("writes").writes.commit([Delete(challenge_key(account, identity), if_version=entry.version)])


async def _get(account: str, identity: str) -> Entry:
    entry = await current_env("kv").kv.get(challenge_key(account, identity[:80]))
    if entry is None:
        raise NotFound(
            "This claim has ended, or there was none. Claims last an hour: begin a new one.", id=identity[:80]
        )
    return entry


async def _require_published(repo_url: str) -> None:
    found = await get_submission_index(repo_url=repo_url, limit=_LOOKED_THROUGH)
    slugs = [row.slug for row in found.rows if row.slug is not None]
    if not require_readable(await get_summaries(slugs)):
        raise NotFound(
            f"{repo_url} has no skill that is published here. Give a repository of the same owner that has one, by the "
            "address that its skill's page shows.",
            repo_url=repo_url,
        )


def _decode(key: str, value: bytes) -> ClaimChallenge:
    return decode_record(key, value, decoder=_challenges)
