"""A version as a git commit: nothing of the machine or the moment is in it.

Its id depends on the name, the number and the bytes of the version alone, so others may pin it. The files are in
`skills/{name}`, since at the top of a repository some agents take for hooks and servers what is only a document of a skill.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterable
from typing import NamedTuple

from vskill_platform.domain.content import SkillFile
from vskill_platform.domain.skill import SkillVersion
from vskill_platform.stores.contents import read_content
from vskill_platform.web.clients.git_objects import commit_id
from vskill_platform.web.clients.listing import entry_name

_MOST_IDS = 10_000
_LEFT_OUT = ".gitattributes"
"""It would have git change files on their way into a working tree."""


class VersionCommit(NamedTuple):
    """What is committed of a version."""

    files: list[SkillFile]
    message: str

    def identify(self) -> str:
        """The id of the commit."""
        return commit_id(self.files, message=self.message)


async def read_commit(version: SkillVersion) -> VersionCommit:
    """A version as a commit. Raises what reading its bytes raises."""
    files = (await read_content(version)).files
    name = folder_name(version)
    return VersionCommit(_placed(files, name), f"{name} {version.version}\n\nContent: {version.content_digest}\n")


def tag_of(version: SkillVersion) -> str:
    """The tag of a version."""
    return f"v{version.version}"


def folder_name(version: SkillVersion) -> str:
    """The folder below `skills/` that a version's files are in."""
    return entry_name(version.name, slug=version.slug)


def _placed(files: Iterable[SkillFile], name: str) -> list[SkillFile]:
    return [
        SkillFile(path=f"skills/{name}/{file.path}", content=file.content, executable=file.executable)
        for file in files
        if file.path.rpartition("/")[2].lower() != _LEFT_OUT
    ]


class PinnedCommits:
    """The ids of versions' commits. They depend on bytes that never change, so those asked for last are remembered."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, str, str], str] = OrderedDict()

    async def find(self, version: SkillVersion) -> str:
        """The id of a version's commit. Raises what reading its bytes raises."""
        key = (folder_name(version), version.version, version.content_digest)
        found = self._known.get(key)
        if found is None:
            commit = await read_commit(version)
            found = await asyncio.to_thread(commit.identify)
        self._known[key] = found
        self._known.move_to_end(key)
        if len(self._known) > _MOST_IDS:
            self._known.popitem(last=False)
        return found
