"""Looking at a repository without taking it in: which skills would a submission of this address be about."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from vskill_platform.domain.errors import RateLimited
from vskill_platform.domain.repository import normalise_repository_url
from vskill_platform.domain.skill_folders import NamedFolder
from vskill_platform.pipeline.expand import name_folders, require_skills
from vskill_platform.worker_context import current_env

MOST_AT_ONCE = 4
"""How many a process looks at side by side: somebody waits for each, and each is a fetch."""
_RETRY_S = 5.0


class Discovery(NamedTuple):
    """What was found at an address: its normal form, the commit, and the skills that a submission would start runs for."""

    repo_url: str
    tree_path: str
    commit: str
    folders: list[NamedFolder]


class _Places:
    """How many are being looked at."""

    taken = 0


@contextmanager
def looking() -> Iterator[None]:
    """A place among those who look at a repository in this process. Raises RateLimited when all are taken."""
    if _Places.taken >= MOST_AT_ONCE:
        raise RateLimited(
            f"{MOST_AT_ONCE} repositories are being looked at already. Try again in a moment.", retry_after_s=_RETRY_S
        )
    _Places.taken += 1
    try:
        yield
    finally:
        _Places.taken -= 1


async def discover_skills(url: str) -> Discovery:
    """The skills at an address. Raises InvalidRepositoryUrl, SourceRefused, SourceUnreachable, or RateLimited when it is busy."""
    address = normalise_repository_url(url)
    with looking():
        async with current_env("source").source.fetch(address.url, tree_path=address.tree_path) as snapshot:
            named = await name_folders(address.url, snapshot)
            folders = require_skills(address.url, snapshot, named)
            return Discovery(address.url, address.tree_path, snapshot.commit, folders)
