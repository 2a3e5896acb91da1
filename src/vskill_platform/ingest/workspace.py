"""The private folders that repositories are fetched into."""

from __future__ import annotations

from pathlib import Path

from vskill_platform.children.workspace import Workspace
from vskill_platform.domain.errors import SourceUnreachable


def fetch_workspace(root: Path | None = None) -> Workspace:
    """A workspace for fetches, in the given folder or the machine's own for temporary files."""
    return Workspace(root, prefix="fetches-", holds="fetched repositories", refusal=SourceUnreachable)
