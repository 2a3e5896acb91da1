"""A skill in a folder on disk, and the search for such folders."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from tests.ingest.git_server import GitServer
from vskill_platform.domain.content import Omitted, OmittedKind, SkillFile, content_digest
from vskill_platform.domain.errors import SkillTooLarge, UnreadableSkill, UnsafePath
from vskill_platform.ingest.folder import find_skill_folders, read_folder
from vskill_platform.ingest.git import GitSource
from vskill_platform.ingest.limits import SkillLimits, skill_limits
from vskill_platform.settings import Settings
from vskill_platform.testing.git_repos import SKILL_MD, executable, make_repository, symlink

LIMITS = SkillLimits(files=20, total_bytes=10_000, depth=4, file_bytes=4_000)


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    folder = tmp_path / "skill"
    folder.mkdir()
    (folder / "SKILL.md").write_bytes(SKILL_MD)
    return folder


def test_read_folder_reads_files_and_their_mode(skill: Path) -> None:
    (skill / "scripts").mkdir()
    (skill / "scripts" / "run.sh").write_bytes(b"echo")
    (skill / "scripts" / "run.sh").chmod(0o755)
    (skill / "empty").mkdir()
    content = read_folder(skill, limits=LIMITS)
    assert content.files == (
        SkillFile(path="SKILL.md", content=SKILL_MD),
        SkillFile(path="scripts/run.sh", content=b"echo", executable=True),
    )
    assert content.omitted == ()


def test_read_folder_leaves_out_and_reports__what_is_no_regular_file(skill: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    (skill / "link").symlink_to(secret)
    (skill / "folder-link").symlink_to(tmp_path, target_is_directory=True)
    os.mkfifo(skill / "pipe")
    (skill / "large").write_bytes(b"x" * 4_001)
    (skill / "largest").write_bytes(b"x" * 4_000)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(skill / "socket"))
        content = read_folder(skill, limits=LIMITS)
    assert [file.path for file in content.files] == ["SKILL.md", "largest"]
    assert content.omitted == (
        Omitted(path="folder-link", kind=OmittedKind.SYMLINK, detail=str(tmp_path)),
        Omitted(path="large", kind=OmittedKind.TOO_LARGE, detail="4001"),
        Omitted(path="link", kind=OmittedKind.SYMLINK, detail=str(secret)),
        Omitted(path="pipe", kind=OmittedKind.SPECIAL),
        Omitted(path="socket", kind=OmittedKind.SPECIAL),
    )


def test_read_folder_skips_git_at_the_top_and_refuses_it_below(skill: Path) -> None:
    (skill / ".git").mkdir()
    (skill / ".git" / "config").write_text("x")
    assert len(read_folder(skill, limits=LIMITS).files) == 1
    (skill / "sub" / ".git").mkdir(parents=True)
    with pytest.raises(UnsafePath, match="git's own"):
        read_folder(skill, limits=LIMITS)


@pytest.mark.parametrize(
    ("files", "limit"),
    [
        ({str(n): b"" for n in range(20)}, "files"),
        ({str(n): b"x" * 3_999 for n in range(3)}, "bytes"),
        ({"1/2/3/4/5/x": b""}, "depth"),
    ],
)
def test_read_folder_refuses_more_than_a_skill_may_have(skill: Path, files: dict[str, bytes], limit: str) -> None:
    for path, content in files.items():
        (skill / path).parent.mkdir(parents=True, exist_ok=True)
        (skill / path).write_bytes(content)
    with pytest.raises(SkillTooLarge) as caught:
        read_folder(skill, limits=LIMITS)
    assert caught.value.fields["limit"] == limit


def test_read_folder_refuses_empty_folders_without_end(skill: Path) -> None:
    for number in range(120):
        (skill / f"d{number}").mkdir()
    with pytest.raises(SkillTooLarge):
        read_folder(skill, limits=LIMITS)


def test_read_folder_reads_exactly_as_much_as_a_skill_may_have(skill: Path) -> None:
    (skill / "1/2/3/4").mkdir(parents=True)
    (skill / "1/2/3/4/x").write_bytes(b"")
    for number in range(18):
        (skill / str(number + 10)).write_bytes(b"")
    assert len(read_folder(skill, limits=LIMITS).files) == 20


@pytest.mark.parametrize("name", [b"a\nb", b"\xff", b"con", b"a ", "\u202ea".encode()])
def test_read_folder_refuses_names_that_are_not_safe_everywhere(skill: Path, name: bytes) -> None:
    (Path(os.fsdecode(os.fsencode(skill) + b"/" + name))).write_bytes(b"x")
    with pytest.raises(UnsafePath):
        read_folder(skill, limits=LIMITS)


def test_read_folder_refuses_names_that_are_one_somewhere(skill: Path) -> None:
    (skill / "a").write_bytes(b"1")
    (skill / "A").write_bytes(b"2")
    with pytest.raises(UnsafePath):
        read_folder(skill, limits=LIMITS)


@pytest.mark.parametrize("name", ["missing", "skill/SKILL.md"])
def test_read_folder_says_what_cannot_be_read(skill: Path, tmp_path: Path, name: str) -> None:
    with pytest.raises(UnreadableSkill, match="cannot be read"):
        read_folder(tmp_path / name, limits=LIMITS)
    with pytest.raises(UnreadableSkill, match="cannot be read"):
        find_skill_folders(tmp_path / name)


async def test_read_folder_gives_the_digest_of_the_repository_it_came_from(
    server: GitServer, source: GitSource, tmp_path: Path
) -> None:
    files = {"SKILL.md": SKILL_MD, "a/run": executable(b"x"), "é.md": b"e", "link": symlink("a")}
    make_repository(server.folder / "repo.git", files)
    folder = tmp_path / "copy"
    (folder / "a").mkdir(parents=True)
    (folder / "SKILL.md").write_bytes(SKILL_MD)
    (folder / "a" / "run").write_bytes(b"x")
    (folder / "a" / "run").chmod(0o755)
    (folder / "é.md").write_bytes(b"e")
    (folder / "link").symlink_to("a")
    read = read_folder(folder, limits=skill_limits(Settings()))
    async with source.fetch(server.url()) as snapshot:
        fetched = await snapshot.read_skill("")
    assert read == fetched
    assert content_digest(read) == content_digest(fetched)


def test_find_skill_folders_finds_every_one__without_following_links(tmp_path: Path) -> None:
    root = tmp_path / "root"
    for path in (
        "SKILL.md",
        "a/SKILL.md",
        "a/b/c/skill.md",
        ".git/SKILL.md",
        ".claude/skills/d/SKILL.md",
        "e/other.md",
    ):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(SKILL_MD)
    (root / "linked").symlink_to(root / "a", target_is_directory=True)
    (root / "f" / "SKILL.md").mkdir(parents=True)
    (root / "g").mkdir()
    (root / "g" / "SKILL.md").symlink_to(root / "SKILL.md")
    (root / "loop").symlink_to(root, target_is_directory=True)
    assert find_skill_folders(root) == [root, root / ".claude/skills/d", root / "a", root / "a/b/c"]


def test_find_skill_folders_is_bounded(tmp_path: Path) -> None:
    for number in range(12):
        (tmp_path / str(number)).mkdir()
    with pytest.raises(UnreadableSkill, match="more than 10"):
        find_skill_folders(tmp_path, max_entries=10)
