"""One commit of a fetched repository: where its skills are, and the content of each, read by id and never checked out.

Nothing that a repository can say about itself has a say here: attributes, filters, submodules, hooks and configuration
inside the repository are bytes like any other.
"""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from vskill_platform.domain.content import Omitted, OmittedKind, SkillContent, SkillFile, make_content
from vskill_platform.domain.errors import NotFound
from vskill_platform.ingest.escaping import printable
from vskill_platform.ingest.limits import SkillLimits, check_depth, check_files, check_total
from vskill_platform.ingest.objects import ObjectHeader, ObjectReader
from vskill_platform.ingest.paths import check_collisions, check_folder, check_path
from vskill_platform.ingest.tree_listing import (
    EXECUTABLE_MODE,
    REGULAR_MODES,
    SUBMODULE_MODE,
    SYMLINK_MODE,
    Stretch,
    TreeListing,
)
from vskill_platform.ports.source import SkillFolder

SYMLINK_MAX_BYTES = 4096


class _File(NamedTuple):
    """An entry of a skill whose path has been checked."""

    mode: bytes
    id: str
    path: str


class GitSnapshot:
    """A commit, its skills, and a way to read them. It lasts as long as the block that fetched it."""

    def __init__(
        self,
        commit: str,
        *,
        listing: TreeListing,
        skills: list[Stretch],
        asked_for: str,
        objects: ObjectReader,
        limits: SkillLimits,
    ) -> None:
        self._commit = commit
        self._asked_for = asked_for
        self._listing = listing
        # A path that is no text is listed in a form that can be stored and shown; reading it is refused.
        self._skills = {stretch.path.decode("utf-8", "backslashreplace"): stretch for stretch in skills}
        self._objects = objects
        self._limits = limits
        self._folders = [SkillFolder(path, stretch.tree) for path, stretch in self._skills.items()]

    @property
    def commit(self) -> str:
        """The full id of the commit."""
        return self._commit

    @property
    def folders(self) -> list[SkillFolder]:
        """Every folder that holds a skill, in the order of their paths."""
        return self._folders

    @property
    def asked_for(self) -> str:
        """The folder that was asked for."""
        return self._asked_for

    async def read_skill(self, path: str) -> SkillContent:
        """The content of the skill in this folder, with everything below it."""
        stretch = self._skills.get(path)
        if stretch is None:
            raise NotFound(f"There is no skill in the folder '{printable(path)}'.", path=printable(path))
        check_folder(stretch.path)
        entries = await asyncio.to_thread(self._entries, stretch)
        headers = await self._objects.headers([entry.id for entry in entries])
        return await self._content(list(zip(entries, headers, strict=True)))

    async def read_file(self, path: str, *, max_bytes: int) -> bytes | None:
        """The content of one regular file of the commit; None where there is none, or a larger one."""
        entry = await asyncio.to_thread(self._listing.find_file, path.encode())
        if entry is None or entry.mode not in REGULAR_MODES:
            return None
        [header] = await self._objects.headers([entry.id])
        if header is None or header.size > max_bytes:
            return None
        [content] = await self._objects.contents([entry.id])
        return content

    def _entries(self, stretch: Stretch) -> list[_File]:
        found: list[_File] = []
        for entry in self._listing.entries(stretch):
            check_files(len(found) + 1, limits=self._limits)
            path = check_path(entry.path)
            check_depth(path, limits=self._limits)
            found.append(_File(entry.mode, entry.id, path))
        check_collisions(entry.path for entry in found)
        return found

    async def _content(self, entries: list[tuple[_File, ObjectHeader | None]]) -> SkillContent:
        wanted: list[tuple[_File, ObjectHeader]] = []
        omitted: list[Omitted] = []
        for entry, header in entries:
            if entry.mode == SYMLINK_MODE:
                omitted.append(await self._symlink(entry, header))
            elif entry.mode not in REGULAR_MODES:
                kind = OmittedKind.SUBMODULE if entry.mode == SUBMODULE_MODE else OmittedKind.SPECIAL
                omitted.append(Omitted(path=entry.path, kind=kind))
            elif header is None or header.size > self._limits.file_bytes:
                omitted.append(self._too_large(entry, header))
            else:
                wanted.append((entry, header))
        check_total(sum(header.size for _, header in wanted), limits=self._limits)
        return make_content(await self._files([entry for entry, _ in wanted]), omitted)

    async def _files(self, entries: list[_File]) -> list[SkillFile]:
        contents = await self._objects.contents([entry.id for entry in entries])
        return [
            SkillFile(path=entry.path, content=content, executable=entry.mode == EXECUTABLE_MODE)
            for entry, content in zip(entries, contents, strict=True)
        ]

    async def _symlink(self, entry: _File, header: ObjectHeader | None) -> Omitted:
        target = b""
        if header is not None and header.size <= SYMLINK_MAX_BYTES:
            [target] = await self._objects.contents([entry.id])
        return Omitted(path=entry.path, kind=OmittedKind.SYMLINK, detail=printable(target))

    def _too_large(self, entry: _File, header: ObjectHeader | None) -> Omitted:
        """A file over the limit. The server was asked to keep those back, so its size may not be known."""
        detail = str(header.size) if header is not None else f"more than {self._limits.file_bytes}"
        return Omitted(path=entry.path, kind=OmittedKind.TOO_LARGE, detail=detail)
