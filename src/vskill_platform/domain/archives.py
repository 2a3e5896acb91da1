"""The two archives of a skill, zip and USTAR: the same content gives the same bytes, wherever and whenever it is built.

Nothing in them is compressed and nothing comes from the machine (no time, owner, locale or umask), so anyone can rebuild
them from the files and compare digests.
"""

from __future__ import annotations

import io
import stat
import tarfile
import zipfile

from vskill_platform.domain.content import Omitted, SkillContent, SkillFile, make_content
from vskill_platform.domain.errors import UnsafePath

_ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)
_UNIX = 3
_FILE_MODE, _EXECUTABLE_MODE = 0o644, 0o755


def build_zip(content: SkillContent) -> bytes:
    """The skill as a zip with SKILL.md at its root."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED, allowZip64=False) as archive:
        for file in content.files:
            entry = zipfile.ZipInfo(file.path, _ZIP_EPOCH)
            entry.create_system = _UNIX
            entry.external_attr = (stat.S_IFREG | _mode(file)) << 16
            archive.writestr(entry, file.content)
    return buffer.getvalue()


def build_tar(content: SkillContent) -> bytes:
    """The skill as a USTAR archive with SKILL.md at its root."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT, encoding="utf-8") as archive:
        for file in content.files:
            entry = tarfile.TarInfo(file.path)
            entry.size = len(file.content)
            entry.mode = _mode(file)
            try:
                archive.addfile(entry, io.BytesIO(file.content))
            except ValueError as exc:
                raise UnsafePath(f"The path '{file.path[:100]}…' is too long for an archive. Shorten it.") from exc
    return buffer.getvalue()


def read_tar(archive: bytes, *, omitted: tuple[Omitted, ...] = ()) -> SkillContent:
    """The content of an archive that `build_tar` made. Not for archives of others."""
    files = []
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:", encoding="utf-8") as opened:
        for entry in opened:
            body = opened.extractfile(entry)
            assert body is not None, "build_tar writes regular files only"
            files.append(SkillFile(path=entry.name, content=body.read(), executable=bool(entry.mode & 0o100)))
    return make_content(files, omitted)


def _mode(file: SkillFile) -> int:
    return _EXECUTABLE_MODE if file.executable else _FILE_MODE
