"""Skills are published from the default branch alone, so that nobody can bring back what its owner has mended."""

from __future__ import annotations

from vskill_platform.domain.errors import BranchNotDefault
from vskill_platform.ingest.escaping import printable
from vskill_platform.worker_context import current_env


async def require_default_branch(repo_url: str, tree_path: str, *, fetched: str | None = None) -> None:
    """Raise BranchNotDefault unless the branch or tag of an address is at the default branch's newest commit.

    `fetched` is the commit that was had from there. A push in between moves both, so where it is no longer the newest,
    the branch is asked again.
    """
    source = current_env("source").source
    newest = await source.newest_commit(repo_url)
    if newest == fetched or newest == await source.newest_commit(repo_url, tree_path=tree_path):
        return
    raise BranchNotDefault(
        f"'{printable(tree_path)}' is not on the default branch of {repo_url}. Skills are published from the default "
        "branch alone, so that nobody can bring back what its owner has mended.",
        **({} if fetched is None else {"commit": fetched}),
    )
