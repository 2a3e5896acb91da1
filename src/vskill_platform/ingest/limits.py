"""How much a repository and a skill may be, and how long each wait on the way may last."""

from __future__ import annotations

from typing import NamedTuple

from vskill_platform.domain.errors import SkillTooLarge
from vskill_platform.ingest.escaping import printable
from vskill_platform.settings import Settings

REPO_MAX_DEPTH = 128
"""Folders that a repository may nest. Real ones stay under forty; a forged tree goes on for as long as one reads."""

LISTING_BYTES_PER_FILE = 256
"""What a repository's listing may have for each file it may have: mode, kind, id and a path of some length."""

REFS_MAX_BYTES = 32 * 1024 * 1024
"""The longest list of branches and tags that is read, some 400,000 of them."""

GIT_MEMORY_BYTES = 512 * 1024 * 1024
"""Address space of a git process. A pack that expands to more than this is refused, not swapped."""

GIT_OPEN_FILES = 256
READ_LIMIT_S = 30.0
"""Longest that reading objects that are already here may take."""


class SkillLimits(NamedTuple):
    """What one skill may have."""

    files: int
    total_bytes: int
    depth: int
    file_bytes: int


class ProxyLimits(NamedTuple):
    """How long a connection of a fetch may take for each of its steps."""

    resolve_s: float = 10.0
    connect_s: float = 10.0
    head_s: float = 10.0
    idle_s: float = 60.0


def skill_limits(settings: Settings) -> SkillLimits:
    """The limits on a skill that the settings state."""
    return SkillLimits(
        files=settings.skill_max_files,
        total_bytes=settings.skill_max_bytes,
        depth=settings.skill_max_depth,
        file_bytes=settings.file_max_bytes,
    )


def proxy_limits(settings: Settings) -> ProxyLimits:
    """Limits on a connection that never outlast the fetch it belongs to."""
    whole_s = settings.fetch_time_limit_s
    return ProxyLimits(*(min(step_s, whole_s) for step_s in ProxyLimits()))


def check_files(count: int, *, limits: SkillLimits) -> None:
    """Raise SkillTooLarge for more entries than a skill may have."""
    if count > limits.files:
        raise SkillTooLarge(
            f"The skill has more than {limits.files} files. Split it, or leave out what it does not need.",
            limit="files",
            allowed=limits.files,
        )


def check_depth(path: str, *, limits: SkillLimits) -> None:
    """Raise SkillTooLarge for a path that is nested deeper than a skill's may be."""
    if path.count("/") > limits.depth:
        raise SkillTooLarge(
            f"'{printable(path)}' lies more than {limits.depth} folders deep. Flatten the skill's folders.",
            limit="depth",
            allowed=limits.depth,
            path=printable(path),
        )


def check_total(size: int, *, limits: SkillLimits) -> None:
    """Raise SkillTooLarge for more bytes than a skill's files may have together."""
    if size > limits.total_bytes:
        raise SkillTooLarge(
            f"The skill's files have more than {limits.total_bytes} bytes together. Leave out what it does not need.",
            limit="bytes",
            allowed=limits.total_bytes,
        )
