"""Showing that an account controls the owner of a repository: it has committed what the registry gave it to that repository.

The repository is fetched as for a submission (bare, through our proxy, within the same limits) and one file of it is read.
"""

from __future__ import annotations

import structlog

from vskill_platform.domain.errors import ClaimNotProven
from vskill_platform.domain.publisher import CLAIM_FILE, MAX_CLAIM_FILE_BYTES, ClaimChallenge, Publisher, holds_token
from vskill_platform.pipeline.discovery import looking
from vskill_platform.stores.publisher_claims import get_challenge, redeem_challenge
from vskill_platform.worker_context import current_env

_log = structlog.get_logger(__name__)


async def prove_claim(identity: str, *, account: str) -> Publisher:
    """Look for the challenge in the repository and make the account an owner.

    Raises ClaimNotProven while it is not there, NotFound for a challenge that is over, Conflict where another owns the handle,
    RateLimited when too many look at repositories, SourceRefused or SourceUnreachable where it cannot be fetched.
    """
    challenge = await get_challenge(account, identity)
    if not await _is_committed(challenge):
        raise ClaimNotProven(
            f"The default branch of {challenge.repo_url} has no file {CLAIM_FILE} with the line {challenge.token}. "
            "Commit and push it, then try again.",
            repo_url=challenge.repo_url,
        )
    publisher = await redeem_challenge(challenge)
    _log.info("publisher_claimed", handle=publisher.handle, place=challenge.place, account=account)
    return publisher


async def _is_committed(challenge: ClaimChallenge) -> bool:
    with looking():
        async with current_env("source").source.fetch(challenge.repo_url) as snapshot:
            content = await snapshot.read_file(CLAIM_FILE, max_bytes=MAX_CLAIM_FILE_BYTES)
    return content is not None and holds_token(content, challenge.token)
