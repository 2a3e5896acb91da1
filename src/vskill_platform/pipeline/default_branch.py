"""Skills are published from the default branch alone, so that nobody can bring back what its owner has mended."""

from __future__ import annotations

from vskill_platform.domain.errors import BranchNotDefault
from vskill_platform.ingest.escaping import printable
from vskill_platform.worker_context import current_env


async def require_default_branch(repo_url: str, tree_path: str, *, fetched: str | None = None) -> None:
    """Raise BranchNotDefault unless a commit is the default branch's newest: the one that was fetched, or the address's."""
    source = current_env("source").source
    commit = fetched or await source.newest_commit(repo_url, tree_path=tree_path)
    if commit != await source.newest_commit(repo_url):
        raise BranchNotDefault(
            f"'{printable(tree_path)}' is not on the default branch of {repo_url}, or that has moved at this moment. Skills "
            "are published from the default branch alone. Submit the repository without the branch.",
            commit=commit,
        )
