"""Packages that people send as zips: one skill is taken out, and what is no plain package is refused."""

from __future__ import annotations

import io
import stat
import zipfile
from collections.abc import Mapping

import pytest

from tests.pipeline.journey import skill_md
from vskill_platform.domain.archives import build_zip
from vskill_platform.domain.content import SkillFile, make_content
from vskill_platform.domain.errors import SkillTooLarge, UnreadableSkill, UnsafePath
from vskill_platform.ingest.limits import SkillLimits
from vskill_platform.ingest.zip_packages import read_skill_package

LIMITS = SkillLimits(files=10, total_bytes=100_000, depth=3, file_bytes=50_000)
MANIFEST = b"name: demo\nversion: 1.0.0\n"
SKILL = ".apm/skills/greeting"


def pack(files: Mapping[str, bytes], *, modes: Mapping[str, int] | None = None) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            member = zipfile.ZipInfo(path)
            member.external_attr = (modes or {}).get(path, stat.S_IFREG | 0o644) << 16
            archive.writestr(member, content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def read(files: Mapping[str, bytes], *, modes: Mapping[str, int] | None = None) -> dict[str, bytes]:
    content = read_skill_package(pack(files, modes=modes), limits=LIMITS)
    return {file.path: file.content for file in content.files}


def test_package_gives_its_one_skill__and_leaves_its_papers() -> None:
    papers = {"apm.yml": MANIFEST, "README.md": b"Read me.", "LICENSE": b"MIT", "CHANGELOG.md": b"New."}
    files = {f"{SKILL}/SKILL.md": skill_md(), f"{SKILL}/scripts/run.sh": b"echo hello\n"}
    assert read({**papers, **files}) == {"SKILL.md": skill_md(), "scripts/run.sh": b"echo hello\n"}


def test_package_is_the_skill_itself__with_skill_md_at_its_root() -> None:
    skill = make_content(
        [
            SkillFile(path="SKILL.md", content=skill_md()),
            SkillFile(path="run.sh", content=b"true\n", executable=True),
        ]
    )
    assert read_skill_package(build_zip(skill), limits=LIMITS) == skill


@pytest.mark.parametrize(
    "others", [{".apm/instructions/rules.instructions.md": b"x"}, {".apm/hooks/hooks.json": b"{}"}, {"src/a.py": b""}]
)
def test_package_is_refused__when_something_would_be_left_out_of_it(others: dict[str, bytes]) -> None:
    with pytest.raises(UnreadableSkill, match="left out"):
        read({"apm.yml": MANIFEST, f"{SKILL}/SKILL.md": skill_md(), **others})


@pytest.mark.parametrize("files", [{}, {"apm.yml": MANIFEST}, {".apm/skills/SKILL.md": skill_md()}])
def test_package_is_refused__without_a_skill(files: dict[str, bytes]) -> None:
    with pytest.raises(UnreadableSkill, match="one skill"):
        read(files)


def test_package_is_refused__with_several_skills() -> None:
    with pytest.raises(UnreadableSkill, match="several"):
        read({f"{SKILL}/SKILL.md": skill_md(), ".apm/skills/other/SKILL.md": skill_md("other")})


@pytest.mark.parametrize(
    "path",
    [
        "../SKILL.md",
        "/etc/passwd",
        f"{SKILL}/../../../x",
        "a\\b",
        f"{SKILL}/con",
        "C:/x",
        f"{SKILL}/.git/config",
        "a\x07b",
    ],
)
def test_package_is_refused__with_a_path_that_leads_elsewhere(path: str) -> None:
    with pytest.raises(UnsafePath):
        read({f"{SKILL}/SKILL.md": skill_md(), path: b"x"})


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFSOCK])
def test_package_is_refused__with_a_link_or_a_device(kind: int) -> None:
    link = f"{SKILL}/link"
    with pytest.raises(UnsafePath, match="link or a device"):
        read({f"{SKILL}/SKILL.md": skill_md(), link: b"/etc/passwd"}, modes={link: kind | 0o777})


def test_package_is_refused__with_two_members_of_one_name() -> None:
    with pytest.raises(UnsafePath):
        read({f"{SKILL}/SKILL.md": skill_md(), f"{SKILL}/skill.MD": b"x"})


def test_package_is_read_no_further_than_the_bound__though_its_directory_says_less() -> None:
    archive = bytearray(pack({f"{SKILL}/SKILL.md": skill_md(), f"{SKILL}/big": bytes(40_000_000)}))
    assert len(archive) < 100_000
    with pytest.raises(SkillTooLarge):
        read_skill_package(bytes(archive), limits=LIMITS)
    directory = archive.rindex(b"PK\x01\x02")
    archive[directory + 24 : directory + 28] = (10).to_bytes(4, "little")
    with pytest.raises(UnreadableSkill):
        read_skill_package(bytes(archive), limits=LIMITS)


def test_package_is_refused__with_too_many_bytes_or_files_together() -> None:
    with pytest.raises(SkillTooLarge, match="together"):
        read({f"{SKILL}/{number}": bytes(40_000) for number in range(4)})
    with pytest.raises(SkillTooLarge, match="files"):
        read({f"{SKILL}/{number}": b"" for number in range(40)})


@pytest.mark.parametrize("archive", [b"", b"PK\x03\x04", b"no zip at all", pack({"a": b"x"})[:-30]])
def test_package_is_refused__when_it_is_no_sound_zip(archive: bytes) -> None:
    with pytest.raises(UnreadableSkill, match="no sound zip"):
        read_skill_package(archive, limits=LIMITS)


def test_package_is_refused__when_a_byte_of_it_is_wrong() -> None:
    archive = bytearray(pack({f"{SKILL}/SKILL.md": skill_md()}))
    archive[archive.index(b"SKILL.md") + 20] ^= 0xFF
    with pytest.raises(UnreadableSkill):
        read_skill_package(bytes(archive), limits=LIMITS)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_package_is_refused__when_it_is_packed_in_another_way(method: int) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr("SKILL.md", skill_md())
    with pytest.raises(UnreadableSkill, match="deflate"):
        read_skill_package(buffer.getvalue(), limits=LIMITS)
