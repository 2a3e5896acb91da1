"""The archive of a version, read as if it came from an enemy.

Registries write one form of archive and no other (`domain/archives.py`), so the reader knows that one. What it has read is
written again and compared to the byte: an archive that says anything else than its files is refused.
"""

from __future__ import annotations

from collections.abc import Iterator

from vskill_platform.domain.archives import build_tar
from vskill_platform.domain.content import SkillContent, SkillFile, make_content
from vskill_platform.domain.errors import ArchiveRefused, SkillTooLarge, UnreadableSkill, UnsafePath
from vskill_platform.ingest.escaping import printable
from vskill_platform.ingest.limits import SkillLimits, check_depth, check_files, check_total
from vskill_platform.ingest.paths import check_collisions, check_path

BLOCK_BYTES = 512
_RECORD_BYTES = 20 * BLOCK_BYTES
_REGULAR = b"0"
_LINKS = (b"1", b"2")


def most_archive_bytes(limits: SkillLimits) -> int:
    """The largest archive that a skill within these limits can have."""
    return limits.total_bytes + limits.files * 2 * BLOCK_BYTES + _RECORD_BYTES


def unpack(archive: bytes, *, limits: SkillLimits) -> SkillContent:
    """The files of an archive. Raises ArchiveRefused for one that no registry writes, or whose files are not safe here."""
    try:
        files = list(_entries(archive, limits=limits))
        check_collisions(file.path for file in files)
        content = make_content(files)
        if build_tar(content) != archive:
            raise _refused("holds something beside its files, or has them in another order")
    except UnsafePath as exc:
        raise _refused(
            f"has a file that may not be installed: '{exc.fields.get('path', '')}' {exc.fields.get('reason', '')}"
        ) from exc
    except SkillTooLarge as exc:
        raise _refused(
            f"is over a limit of this client: {exc.fields.get('limit')} {exc.fields.get('allowed')}"
        ) from exc
    except UnreadableSkill as exc:
        raise _refused(exc.message) from exc
    return content


def _entries(archive: bytes, *, limits: SkillLimits) -> Iterator[SkillFile]:
    start = total = count = 0
    while (header := archive[start : start + BLOCK_BYTES]).strip(b"\0"):
        path, size = _path(header), _number(header[124:136])
        count, total = count + 1, total + size
        check_files(count, limits=limits)
        check_depth(path, limits=limits)
        check_total(total, limits=limits)
        begin = start + BLOCK_BYTES
        content = archive[begin : begin + size]
        if len(content) != size:
            raise _refused("ends in the middle of a file")
        yield SkillFile(path=path, content=content, executable=bool(_number(header[100:108]) & 0o100))
        start = begin + (size + BLOCK_BYTES - 1) // BLOCK_BYTES * BLOCK_BYTES


def _path(header: bytes) -> str:
    """The path in a header of a regular file."""
    kind = header[156:157]
    name, prefix = header[:100].split(b"\0", 1)[0], header[345:500].split(b"\0", 1)[0]
    whole = prefix + b"/" + name if prefix else name
    if kind != _REGULAR:
        what = "a link" if kind in _LINKS else "something that is no file"
        raise _refused(f"holds {what}: '{printable(whole)}'")
    return check_path(whole)


def _number(field: bytes) -> int:
    digits = field.rstrip(b" \0")
    if not digits or digits.strip(b"01234567"):
        raise _refused("has a number in it that is none")
    return int(digits, 8)


def _refused(why: str) -> ArchiveRefused:
    return ArchiveRefused(f"The archive {why}. Nothing was installed. Tell the registry's operator.")
