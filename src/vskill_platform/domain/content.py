"""What a skill consists of: its files, what was left out of them, and the digest that stands for all of it.

The digest covers path, executable bit and bytes of every file. Anyone can compute it from an unpacked skill; see
`docs/reference/archives.md`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from enum import StrEnum

import msgspec

from vskill_platform.domain.ids import Digest

SKILL_FILE_NAMES = ("SKILL.md", "skill.md")
"""What makes a folder a skill. The first is the specification's; the second is met in the wild."""


class SkillFile(msgspec.Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """One regular file of a skill. `path` is relative to the skill's folder, with `/` between its parts."""

    path: str
    content: bytes
    executable: bool = False


class OmittedKind(StrEnum):
    """Why an entry of the skill's folder is not part of its content."""

    SYMLINK = "symlink"
    SUBMODULE = "submodule"
    SPECIAL = "special"
    TOO_LARGE = "too_large"


class Omitted(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An entry of the skill's folder that is not part of its content. `detail` is a symlink's target, or a size."""

    path: str
    kind: OmittedKind
    detail: str = ""


class SkillContent(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A skill as it is scanned, published and installed: its files in the order of their paths' bytes."""

    files: tuple[SkillFile, ...]
    omitted: tuple[Omitted, ...] = ()

    @property
    def size(self) -> int:
        """How many bytes the files have together."""
        return sum(len(file.content) for file in self.files)


def make_content(files: Sequence[SkillFile], omitted: Sequence[Omitted] = ()) -> SkillContent:
    """The content that these files make, in their proper order."""
    return SkillContent(
        files=tuple(sorted(files, key=lambda file: file.path.encode())),
        omitted=tuple(sorted(omitted, key=lambda entry: entry.path.encode())),
    )


def content_digest(content: SkillContent) -> Digest:
    """The digest of a skill: SHA-256 over one line a file, `mode sha256 path`, in the order of the paths' bytes."""
    return listed_digest(
        (file.path, file.executable, hashlib.sha256(file.content).hexdigest()) for file in content.files
    )


def listed_digest(files: Iterable[tuple[str, bool, str]]) -> Digest:
    """The same from path, executable bit and SHA-256 of each file, in the order of the paths' bytes."""
    whole = hashlib.sha256()
    for path, executable, sha256 in files:
        whole.update(f"{'755' if executable else '644'} {sha256} {path}\n".encode())
    return Digest(f"sha256:{whole.hexdigest()}")


def skill_file_of(content: SkillContent) -> SkillFile | None:
    """The file that makes the folder a skill, or None."""
    by_path = {file.path: file for file in content.files}
    return next((by_path[name] for name in SKILL_FILE_NAMES if name in by_path), None)
