"""Where skills come from: a repository, fetched once, pinned to a commit, and read without ever being checked out."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import NamedTuple, Protocol

from vskill_platform.domain.content import SkillContent
from vskill_platform.domain.repo_health import NO_HEAD, Head, SourceLook


class SkillFolder(NamedTuple):
    """A folder of the repository that holds a skill. `path` is `""` for the root; `tree` is the id of its contents."""

    path: str
    tree: str


class Snapshot(Protocol):
    """One commit of a repository, as it was fetched. It cannot change under the reader."""

    @property
    def commit(self) -> str:
        """The full id of the commit."""
        ...

    @property
    def folders(self) -> Sequence[SkillFolder]:
        """Every folder of the commit that holds a skill, in the order of their paths."""
        ...

    @property
    def asked_for(self) -> str:
        """The folder that the `tree_path` named, `""` for the root: whoever asked wants what is at or below it."""
        ...

    async def read_skill(self, path: str) -> SkillContent:
        """The content of the skill in this folder. Raises SkillTooLarge, UnsafePath or NotFound."""
        ...

    async def read_file(self, path: str, *, max_bytes: int) -> bytes | None:
        """The content of one regular file of the commit; None where there is none, or a larger one."""
        ...


class Source(Protocol):
    """Repositories over the network.

    Every failure is a SourceRefused (trying again cannot help) or a SourceUnreachable (it may).
    """

    def fetch(self, repo_url: str, *, tree_path: str = "") -> AbstractAsyncContextManager[Snapshot]:
        """Fetch the newest commit of the default branch; what was fetched is removed when the block ends.

        `tree_path` is what an address had after `tree/` or `blob/`: a branch or tag (which may itself contain slashes) and
        perhaps a folder; then that branch is fetched, and that folder is the one asked for. An address of a SKILL.md means
        its folder.
        """
        ...

    async def newest_commit(self, repo_url: str, *, tree_path: str = "") -> str:
        """The id of the commit that `fetch` would pin now, without fetching it."""
        ...

    async def look(self, repo_url: str, *, known: Head = NO_HEAD) -> SourceLook:
        """How the repository is: here, elsewhere, not there, or nothing that can be relied on. Raises nothing of its own.

        `known` is the head as it was seen before: where it is still that one, nothing is fetched to learn its date. No redirect
        is followed; where one leads to another repository at an address that may be fetched from, the look says so.
        """
        ...
