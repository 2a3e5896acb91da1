"""What an account has submitted."""

from __future__ import annotations

from vskill_platform.domain.ids import submitter_key, submitter_prefix
from vskill_platform.domain.records import Submission
from vskill_platform.stores.reads import list_keys, require_readable
from vskill_platform.stores.submissions import get_submissions_fresh
from vskill_platform.worker_context import current_env


async def has_submitted(account: str, identity: str) -> bool:
    """Whether an account has ever started a run of a submission."""
    return await current_env("kv").kv.get(submitter_key(account, identity)) is not None


async def submissions_of(account: str) -> list[Submission]:
    """Everything that an account has submitted, the newest change first."""
    prefix = submitter_prefix(account)
    ids = [key.removeprefix(prefix) async for page in list_keys(prefix) for key in page]
    found = require_readable(await get_submissions_fresh(ids))
    return sorted(found, key=lambda submission: (submission.updated_at, submission.id), reverse=True)
