"""A zip that somebody sends as a package, and the one skill in it. Nothing is written, and no name is used as a path.

What the zip says of itself is believed of nothing: members are counted before they are read, read up to a bound and no further,
and what is neither a plain file nor a folder refuses the whole package. The skill is made from the bytes that were
read; the zip itself is never handed on.
"""

from __future__ import annotations

import io
import stat
import zipfile
import zlib
from collections.abc import Mapping, Sequence

from vskill_platform.domain.content import SKILL_FILE_NAMES, SkillContent, SkillFile, make_content
from vskill_platform.domain.errors import SkillTooLarge, UnreadableSkill, UnsafePath
from vskill_platform.ingest.escaping import printable
from vskill_platform.ingest.limits import SkillLimits, check_depth, check_files, check_total
from vskill_platform.ingest.paths import check_collisions, check_path

SKILLS_FOLDER = ".apm/skills/"
PAPERS = frozenset({"apm.yml", "readme.md", "changelog.md", "license", "licence"})
"""What a package has at its root beside its skills, in any case of letters. It is about the package and is not published."""
_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_PACKAGE_DEPTH = SKILLS_FOLDER.count("/") + 1
_MOST_NAMED = 5


def read_skill_package(archive: bytes, *, limits: SkillLimits) -> SkillContent:
    """The skill that a package holds: at its root, or in its one folder of skills.

    Raises UnreadableSkill for what is no package of one skill, UnsafePath, or SkillTooLarge.
    """
    return _take_skill({file.path: file for file in _read_zip(archive, limits=limits)})


def _read_zip(archive: bytes, *, limits: SkillLimits) -> list[SkillFile]:
    wider = limits._replace(files=limits.files + len(PAPERS), depth=limits.depth + _PACKAGE_DEPTH)
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            members = [member for member in opened.infolist() if not member.is_dir()]
            check_files(len(members), limits=wider)
            for member in members:
                _check_member(member, limits=wider)
            check_collisions(member.orig_filename for member in members)
            return _read_members(opened, members, limits=wider)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, OverflowError) as exc:
        raise UnreadableSkill("The package is no sound zip archive. Pack it anew, then publish again.") from exc


def _check_member(member: zipfile.ZipInfo, *, limits: SkillLimits) -> None:
    path = check_path(member.orig_filename)
    check_depth(path, limits=limits)
    kind = stat.S_IFMT(member.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        raise UnsafePath(
            f"'{printable(path)}' is a link or a device. Packages have plain files only.",
            path=printable(path),
            reason="is no plain file",
        )
    if member.flag_bits & 0x1 or member.compress_type not in _METHODS:
        raise UnreadableSkill(
            f"'{printable(path)}' is encrypted or packed in a way that is not read here. Pack it with deflate."
        )


def _read_members(
    opened: zipfile.ZipFile, members: Sequence[zipfile.ZipInfo], *, limits: SkillLimits
) -> list[SkillFile]:
    files: list[SkillFile] = []
    total = 0
    for member in members:
        with opened.open(member) as stream:
            content = stream.read(limits.file_bytes + 1)
        if len(content) > limits.file_bytes:
            raise SkillTooLarge(
                f"'{printable(member.orig_filename)}' has more than {limits.file_bytes} bytes. Leave it out, or split it.",
                limit="file_bytes",
                allowed=limits.file_bytes,
            )
        total += len(content)
        check_total(total, limits=limits)
        is_executable = bool(member.external_attr >> 16 & stat.S_IXUSR)
        files.append(SkillFile(path=member.orig_filename, content=content, executable=is_executable))
    return files


def _take_skill(files: Mapping[str, SkillFile]) -> SkillContent:
    if any(name in files for name in SKILL_FILE_NAMES):
        return make_content(list(files.values()))
    folders = sorted({_skill_folder(path) for path in files} - {""})
    if len(folders) != 1:
        found = f"several ({', '.join(folders[:_MOST_NAMED])})" if folders else "none"
        raise UnreadableSkill(
            f"A package here is one skill: SKILL.md at its root, or one folder in {SKILLS_FOLDER}. This one has {found}."
        )
    _refuse_others(files, folders[0])
    taken = [
        SkillFile(path=path.removeprefix(folders[0]), content=file.content, executable=file.executable)
        for path, file in files.items()
        if path.startswith(folders[0])
    ]
    return make_content(taken)


def _skill_folder(path: str) -> str:
    name, is_below, _ = path.removeprefix(SKILLS_FOLDER).partition("/")
    return f"{SKILLS_FOLDER}{name}/" if path.startswith(SKILLS_FOLDER) and is_below else ""


def _refuse_others(files: Mapping[str, SkillFile], folder: str) -> None:
    """Raise UnreadableSkill for what would be left behind without a word."""
    others = sorted(path for path in files if not path.startswith(folder) and path.lower() not in PAPERS)
    if others:
        named = ", ".join(f"'{printable(path)}'" for path in others[:_MOST_NAMED])
        raise UnreadableSkill(
            f"This registry verifies and publishes skills. The package also has {named}, which would be left out. Take it out."
        )
