"""A skill as a git repository: each version that is handed out has a tag, and `main` has all of them, one on top of the other.

A repository is made of verified bytes when somebody asks for it. Its folder is named by the versions that are in it: when a
version comes or is yanked, another repository is made, and nobody is ever given the old one.
"""

from __future__ import annotations

import asyncio
import hashlib
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from weakref import WeakValueDictionary

import msgspec
import structlog

from vskill_platform.domain.errors import NotFound, StoreUnavailable
from vskill_platform.domain.skill import SkillVersion
from vskill_platform.domain.slug import SLUG_SEGMENTS
from vskill_platform.stores.versions import get_versions
from vskill_platform.web.clients.bare_repository import BRANCH, Commit, import_commits, write_commits
from vskill_platform.web.clients.listing import find_present
from vskill_platform.web.clients.repository_cache import make_room, put_in_place, touch, workshop
from vskill_platform.web.clients.version_commits import folder_name, read_commit, tag_of
from vskill_platform.worker_context import current_env

MOST_VERSIONS = 100
MOST_BYTES = 512 * 1024 * 1024
"""Of all versions in one repository. Older ones than fit are left out; archives are to be had of them."""
MADE_AT_ONCE = 2
_LAYOUT = "1"
"""Part of the name of what is kept; to be changed with what is made."""
_MADE = "made.git"
_log = structlog.get_logger(__name__)


class SkillRepositories:
    """Finds the repository of a skill, and makes it where none is kept."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[Path, asyncio.Lock] = WeakValueDictionary()
        self._places = asyncio.Semaphore(MADE_AT_ONCE)

    async def find(self, name: str) -> Path | None:
        """The folder of the repository that a name such as `owner/repo/skill` has; None where no skill is called so.

        Raises NotFound, SkillWithdrawn or SkillQuarantined, and StoreUnavailable where it cannot be made.
        """
        if name.count("/") != SLUG_SEGMENTS - 1:
            return None
        slug = (await find_present(name)).skill.slug
        versions = _fitting(version for version in await get_versions(slug) if not version.is_yanked)
        if not versions:
            raise NotFound(f"'{slug}' has no version that is handed out.", slug=slug)
        place = _place(slug, versions)
        lock = self._locks.setdefault(place, asyncio.Lock())
        async with lock:
            if not await asyncio.to_thread(touch, place):
                async with self._places:
                    await _make(place, versions)
        return place


def cache_folder() -> Path:
    """Where repositories are kept."""
    return Path(current_env("settings").settings.data).absolute() / "git"


def _fitting(versions: Iterable[SkillVersion]) -> list[SkillVersion]:
    """The newest that fit, the oldest of them first. The newest always does."""
    kept: list[SkillVersion] = []
    size = 0
    for version in versions:
        size += version.tar_size
        if kept and (len(kept) == MOST_VERSIONS or size > MOST_BYTES):
            break
        kept.append(version)
    return kept[::-1]


def _place(slug: str, versions: Sequence[SkillVersion]) -> Path:
    """Where a repository with these versions is: below the skill's folder, by what the versions come to."""
    said = [_LAYOUT, *((folder_name(one), one.version, one.content_digest) for one in versions)]
    state = hashlib.sha256(msgspec.json.encode(said)).hexdigest()[:32]
    return cache_folder() / hashlib.sha256(slug.encode()).hexdigest()[:32] / f"{state}.git"


async def _make(place: Path, versions: Sequence[SkillVersion]) -> None:
    cache, most_bytes = cache_folder(), current_env("settings").settings.git_cache_bytes
    try:
        with workshop(cache) as folder:
            await _build(folder, versions)
            await asyncio.to_thread(put_in_place, folder / _MADE, place)
        await asyncio.to_thread(make_room, cache, most_bytes=most_bytes)
    except (OSError, subprocess.SubprocessError) as exc:
        _log.exception("git_repository_not_made", slug=versions[-1].slug)
        raise StoreUnavailable(
            f"The git repository of '{versions[-1].slug}' could not be made. Try again later, or take the archive; the "
            "operator's log says more.",
            slug=versions[-1].slug,
        ) from exc


async def _build(folder: Path, versions: Sequence[SkillVersion]) -> None:
    """Make the repository, a version at a time. What others may have pinned must have come of it."""
    stream = folder / "commits"
    pinned: dict[str, str] = {}
    for version in versions:
        commit = await read_commit(version)
        refs = [f"refs/tags/{tag_of(version)}", f"refs/heads/{BRANCH}"]
        await asyncio.to_thread(_append, stream, [Commit(ref, commit.files, commit.message) for ref in refs])
        pinned[refs[0]] = await asyncio.to_thread(commit.identify)
    made = await asyncio.to_thread(import_commits, folder / _MADE, stream)
    if {ref: identity for ref, identity in made.items() if ref in pinned} != pinned:
        raise StoreUnavailable(f"git has made other commits of '{versions[-1].slug}' than those that are told.")


def _append(stream: Path, commits: Iterable[Commit]) -> None:
    with stream.open("ab") as file:
        write_commits(file, commits)
