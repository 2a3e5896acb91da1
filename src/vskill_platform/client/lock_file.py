"""The lock file: which skills are installed, from where, and what every byte of them is.

It may come from anybody, for instance with a repository that was cloned. So it names agents and never decides by itself
where something is written, it must agree with itself, and there is no secret in it.
"""

from __future__ import annotations

import fcntl
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from vskill_platform.client.agents import AGENTS, Agent
from vskill_platform.client.connection import parse_server
from vskill_platform.client.skills import digest_of
from vskill_platform.domain.errors import InstallFailed, InvalidLock, VskillError
from vskill_platform.domain.skill import VersionFile
from vskill_platform.domain.slug import is_current_slug

LOCK_VERSION = 1
HOLD_LIMIT_S = 60.0
_LOOK_S = 0.05
MAX_LOCK_BYTES = 64 * 1024 * 1024
FOLDER_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,98}[a-z0-9])?")


class LockedSkill(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One installed skill. `folders` is for those who read the file; where it lies follows from its name and its agents."""

    server: str
    slug: str
    name: str
    version: str
    content_digest: str
    archive_digest: str
    repo_url: str
    files: tuple[VersionFile, ...]
    agents: tuple[str, ...]
    folders: tuple[str, ...]
    installed_at: str

    @property
    def chosen_agents(self) -> list[Agent]:
        """The agents that it is installed for."""
        return [AGENTS[name] for name in self.agents]


class LockFile(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Every installed skill by its slug."""

    lock_version: int = LOCK_VERSION
    skills: dict[str, LockedSkill] = msgspec.field(default_factory=dict)

    def having(self, skill: LockedSkill) -> LockFile:
        """The same with this skill in it, in the place of any other of its name."""
        kept = {slug: one for slug, one in self.skills.items() if one.name != skill.name}
        return LockFile(skills={**kept, skill.slug: skill})

    def without(self, slug: str) -> LockFile:
        """The same without this skill."""
        return LockFile(skills={other: skill for other, skill in self.skills.items() if other != slug})


class _Version(msgspec.Struct, rename="camel"):
    lock_version: int


def read_lock(path: Path) -> LockFile:
    """What is installed; nothing where there is no lock file. Raises InvalidLock."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_LOCK_BYTES + 1)
    except FileNotFoundError:
        return LockFile()
    except OSError as exc:
        raise InvalidLock(f"The lock file {path} cannot be read ({exc.strerror}).") from exc
    try:
        found = msgspec.json.decode(content, type=_Version).lock_version
        if found != LOCK_VERSION:
            raise InvalidLock(
                f"The lock file {path} has version {found}; this client reads {LOCK_VERSION}. Use a newer one."
            )
        lock = msgspec.json.decode(content, type=LockFile)
    except (msgspec.MsgspecError, UnicodeDecodeError) as exc:
        raise _invalid(path, f"it is no lock file ({exc})") from exc
    for slug, skill in lock.skills.items():
        _check(slug, skill, path=path)
    return lock


def _check(slug: str, skill: LockedSkill, *, path: Path) -> None:
    """Raise InvalidLock for an entry that no client has written."""
    if slug != skill.slug or not is_current_slug(slug):
        raise _invalid(path, f"'{slug[:100]!r}' is no skill")
    if not FOLDER_NAME.fullmatch(skill.name):
        raise _invalid(path, f"{slug} would lie in a folder called {skill.name[:100]!r}")
    if not skill.agents or any(agent not in AGENTS for agent in skill.agents):
        raise _invalid(path, f"{slug} names an agent that there is not")
    if digest_of(skill.files) != skill.content_digest:
        raise _invalid(path, f"the files of {slug} do not come to the digest that it states")
    try:
        parse_server(skill.server)
    except VskillError as exc:
        raise _invalid(path, f"{slug} names no registry") from exc


def _invalid(path: Path, why: str) -> InvalidLock:
    return InvalidLock(
        f"The lock file {path} cannot be trusted: {why}. Take it back from version control, or delete it and install again."
    )


def write_lock(path: Path, lock: LockFile) -> None:
    """Put a lock file in the place of the one before, whole or not at all. Raises InstallFailed."""
    ordered = LockFile(skills=dict(sorted(lock.skills.items())))
    content = msgspec.json.format(msgspec.json.encode(ordered), indent=2) + b"\n"
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.rename(temporary, path)
    except OSError as exc:
        temporary.unlink(missing_ok=True)
        raise InstallFailed(f"The lock file {path} could not be written ({exc.strerror}). It is as it was.") from exc


@contextmanager
def holding(root: Path, *, limit_s: float = HOLD_LIMIT_S) -> Iterator[None]:
    """Keep other clients from changing the same project meanwhile. Leaves nothing behind, however it ends.

    Raises InstallFailed where another one goes on for longer than the limit.
    """
    try:
        descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as exc:
        raise InstallFailed(f"The folder {root} cannot be used ({exc.strerror}).") from exc
    try:
        _take(descriptor, root, until_s=time.monotonic() + limit_s)
        yield
    finally:
        os.close(descriptor)


def _take(descriptor: int, root: Path, *, until_s: float) -> None:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as exc:
            if time.monotonic() >= until_s:
                raise InstallFailed(f"Another client is changing {root}. Try again when it is done.") from exc
            time.sleep(_LOOK_S)
        else:
            return
