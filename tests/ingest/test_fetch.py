"""Fetching repositories from a real git server: what is pinned, what is found, and which branch an address means."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path

import pytest

from tests.ingest.conftest import LOOPBACK
from tests.ingest.git_server import GitServer, git_server
from tests.ingest.looking import files_below, processes_of, refused
from vskill_platform.domain.content import Omitted, OmittedKind, SkillFile
from vskill_platform.domain.errors import (
    BranchNotFound,
    NotFound,
    RepositoryEmpty,
    RepositoryTooLarge,
    SourceUnreachable,
)
from vskill_platform.domain.skill_folders import is_below
from vskill_platform.ingest.git import GitSource
from vskill_platform.ingest.refs import choose_ref
from vskill_platform.settings import convert_settings
from vskill_platform.testing.git_repos import (
    SKILL_MD,
    TREE,
    BareRepository,
    TreeEntry,
    executable,
    gitlink,
    make_repository,
    nest_trees,
    symlink,
)
from vskill_platform.testing.waits import eventually

MANY = {
    "README.md": b"read me",
    "skills/a/SKILL.md": SKILL_MD,
    "skills/a/scripts/run.sh": executable(b"echo hello\n"),
    "skills/b/skill.md": SKILL_MD,
    "skills/b/nested/c/SKILL.md": SKILL_MD,
    "skills/link/SKILL.md": symlink("../a/SKILL.md"),
    "skills.md/notes.md": b"no skill",
}


def settings_with(**changes: object):  # type: ignore[no-untyped-def]
    return convert_settings({**{name: getattr(LOOPBACK, name) for name in LOOPBACK.__struct_fields__}, **changes})


async def test_fetch_finds_every_skill__in_the_order_of_paths(server: GitServer, source: GitSource) -> None:
    repository = make_repository(server.folder / "repo.git", MANY)
    async with source.fetch(server.url()) as snapshot:
        assert snapshot.commit == repository.ref("refs/heads/main")
        assert [folder.path for folder in snapshot.folders] == ["skills/a", "skills/b", "skills/b/nested/c"]
        assert [folder.tree for folder in snapshot.folders] == [
            repository.tree_of(f"main:{path}") for path in ("skills/a", "skills/b", "skills/b/nested/c")
        ]
        content = await snapshot.read_skill("skills/a")
    assert content.files == (
        SkillFile(path="SKILL.md", content=SKILL_MD),
        SkillFile(path="scripts/run.sh", content=b"echo hello\n", executable=True),
    )


async def test_fetch_finds_a_skill__in_the_root(server: GitServer, source: GitSource) -> None:
    repository = make_repository(server.folder / "repo.git", {"SKILL.md": SKILL_MD, "a/b.txt": b"b"})
    async with source.fetch(server.url()) as snapshot:
        assert snapshot.folders == [("", repository.tree_of("main"))]
        content = await snapshot.read_skill("")
        assert [file.path for file in content.files] == ["SKILL.md", "a/b.txt"]
        with pytest.raises(NotFound):
            await snapshot.read_skill("a")


async def test_fetch_gives_no_folders__without_a_skill(server: GitServer, source: GitSource) -> None:
    make_repository(server.folder / "repo.git", {"README.md": b"nothing"})
    async with source.fetch(server.url()) as snapshot:
        assert snapshot.folders == []


async def test_fetch_reports_what_it_leaves_out(server: GitServer, source: GitSource) -> None:
    files = {
        "SKILL.md": SKILL_MD,
        "large.bin": b"\0" * (LOOPBACK.file_max_bytes + 1),
        "largest.bin": b"\0" * LOOPBACK.file_max_bytes,
        "link": symlink("../../etc/\x1b[31mpasswd"),
        "module": gitlink(),
    }
    make_repository(server.folder / "repo.git", files)
    async with source.fetch(server.url()) as snapshot:
        content = await snapshot.read_skill("")
    assert [file.path for file in content.files] == ["SKILL.md", "largest.bin"]
    assert content.omitted == (
        Omitted(path="large.bin", kind=OmittedKind.TOO_LARGE, detail="more than 5242880"),
        Omitted(path="link", kind=OmittedKind.SYMLINK, detail="../../etc/\\x1b[31mpasswd"),
        Omitted(path="module", kind=OmittedKind.SUBMODULE),
    )


async def test_fetch_does_not_download_large_files__of_a_repository(server: GitServer, source: GitSource) -> None:
    noise = bytes(range(256)) * 64
    large = b"".join(bytes([number]) + noise for number in range(256)) * 2
    make_repository(server.folder / "repo.git", {"SKILL.md": SKILL_MD, "assets/film.bin": large[: 6 * 2**20]})
    async with source.fetch(server.url()) as snapshot:
        assert len(snapshot.folders) == 1
    assert server.sent_bytes < 10_000


async def test_fetch_leaves_large_files_out__of_a_server_that_sends_them_all(
    server: GitServer, source: GitSource
) -> None:
    repository = make_repository(server.folder / "repo.git", {"SKILL.md": SKILL_MD, "large": b"\0" * (6 * 2**20)})
    repository._run(["config", "uploadpack.allowFilter", "false"])
    async with source.fetch(server.url()) as snapshot:
        content = await snapshot.read_skill("")
    assert content.omitted == (Omitted(path="large", kind=OmittedKind.TOO_LARGE, detail=str(6 * 2**20)),)


async def test_fetch_keeps_its_commit__when_the_branch_moves(server: GitServer, source: GitSource) -> None:
    repository = make_repository(server.folder / "repo.git", {"SKILL.md": SKILL_MD})
    async with source.fetch(server.url()) as snapshot:
        repository.commit({"SKILL.md": b"changed"})
        content = await snapshot.read_skill("")
    assert content.files[0].content == SKILL_MD
    assert snapshot.commit != repository.ref("refs/heads/main")


@pytest.mark.parametrize(
    ("tree_path", "branch", "folders"),
    [
        ("main", "main", ["skills/a"]),
        ("feature/x", "feature/x", ["skills/a", "skills/deep/b"]),
        ("feature/x/skills/deep", "feature/x", ["skills/deep/b"]),
        ("feature/x/skills/a/SKILL.md", "feature/x", ["skills/a"]),
        ("/feature/x/skills/a/", "feature/x", ["skills/a"]),
        ("v1", "v1", ["skills/a"]),
        ("light/skills", "light", ["skills/a"]),
    ],
)
async def test_fetch_takes_the_branch_of_the_address(
    server: GitServer, source: GitSource, tree_path: str, branch: str, folders: list[str]
) -> None:
    repository = make_repository(server.folder / "repo.git", {"skills/a/SKILL.md": SKILL_MD})
    first = repository.ref("refs/heads/main")
    assert first is not None
    repository.tag("v1", first)
    repository.point("refs/tags/light", first)
    other = repository.commit({"skills/a/SKILL.md": b"other", "skills/deep/b/SKILL.md": SKILL_MD}, branch="feature/x")
    async with source.fetch(server.url(), tree_path=tree_path) as snapshot:
        assert snapshot.commit == (other if branch == "feature/x" else first)
        paths = [folder.path for folder in snapshot.folders]
        assert [path for path in paths if is_below(path, snapshot.asked_for)] == folders
    assert await source.newest_commit(server.url(), tree_path=tree_path) == snapshot.commit


@pytest.mark.parametrize(
    "tree_path",
    [
        "nope",
        "main/nope",
        "main/README.md",
        "mai",
        "main:refs/heads/evil",
        "ma*",
        "^main",
        "-u",
        "@{1}",
        "main\n",
        "HEAD",
    ],
)
async def test_fetch_refuses_a_branch_or_folder_that_is_not_there(
    server: GitServer, source: GitSource, tree_path: str
) -> None:
    make_repository(server.folder / "repo.git", MANY)
    await refused(source, server.url(), BranchNotFound, tree_path=tree_path)


async def test_fetch_does_not_take_a_commit_id__for_a_branch(server: GitServer, source: GitSource) -> None:
    """On shared hosts any fork's commit can be had under the original's address."""
    repository = make_repository(server.folder / "repo.git", MANY)
    commit = repository.ref("refs/heads/main")
    await refused(source, server.url(), BranchNotFound, tree_path=f"{commit}/skills/a")


async def test_newest_commit_follows_the_default_branch(server: GitServer, source: GitSource) -> None:
    repository = make_repository(server.folder / "repo.git", MANY)
    assert await source.newest_commit(server.url()) == repository.ref("refs/heads/main")
    moved = repository.commit({"SKILL.md": SKILL_MD})
    assert await source.newest_commit(server.url()) == moved


async def test_fetch_and_newest_commit_refuse_an_empty_repository(server: GitServer, source: GitSource) -> None:
    BareRepository(server.folder / "repo.git")
    await refused(source, server.url(), RepositoryEmpty)
    with pytest.raises(RepositoryEmpty):
        await source.newest_commit(server.url())


async def test_fetch_works_over_tls__with_the_given_certificate(
    tmp_path: Path, certificate: Path, tls: ssl.SSLContext
) -> None:
    make_repository(tmp_path / "repo.git", MANY)
    settings = settings_with(git_ca_file=str(certificate), git_protocols="https")
    async with (
        git_server(tmp_path, tls=tls) as server,
        GitSource(settings, folder=tmp_path / "work") as source,
        source.fetch(server.url(host="localhost"), tree_path="main") as snapshot,
    ):
        assert len(snapshot.folders) == 3


async def test_fetch_refuses_a_certificate_that_nobody_vouches_for(tmp_path: Path, tls: ssl.SSLContext) -> None:
    make_repository(tmp_path / "repo.git", MANY)
    async with git_server(tmp_path, tls=tls) as server, GitSource(LOOPBACK, folder=tmp_path / "work") as source:
        await refused(source, server.url(host="localhost"), SourceUnreachable)
    assert server.requests == []


async def test_fetch_leaves_nothing_behind(server: GitServer, source: GitSource, workspace: Path) -> None:
    make_repository(server.folder / "repo.git", MANY)
    async with source.fetch(server.url()) as snapshot:
        await snapshot.read_skill("skills/a")
        [opened] = workspace.iterdir()
        [folder] = opened.iterdir()
        assert folder.stat().st_mode & 0o777 == 0o700
        assert len(processes_of(folder)) == 2
    assert list(opened.iterdir()) == []
    assert processes_of(folder) == []


async def test_fetch_leaves_nothing_behind__when_cancelled(
    server: GitServer, source: GitSource, workspace: Path
) -> None:
    make_repository(server.folder / "repo.git", MANY)
    answering = asyncio.Event()
    server.before_answer = answering.wait

    async def fetch() -> None:
        async with source.fetch(server.url()):
            raise AssertionError("the server has not answered")

    task = asyncio.create_task(fetch())
    await eventually(lambda: len(server.requests) > 0, what="git asks the server")
    [opened] = workspace.iterdir()
    [folder] = opened.iterdir()
    assert len(processes_of(folder)) >= 2
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    assert files_below(opened) == []
    await eventually(lambda: processes_of(folder) == [], what="no process is left")
    answering.set()


async def test_many_fetches_at_once_do_not_disturb_each_other(server: GitServer, source: GitSource) -> None:
    expected = {}
    for number in range(8):
        repository = make_repository(server.folder / f"r{number}.git", {"SKILL.md": b"%d" % number})
        expected[number] = repository.ref("refs/heads/main")

    async def fetch(number: int) -> tuple[int, str, bytes]:
        async with source.fetch(server.url(f"r{number}.git")) as snapshot:
            content = await snapshot.read_skill("")
            return number, snapshot.commit, content.files[0].content

    found = await asyncio.gather(*(fetch(number) for number in expected))
    assert found == [(number, commit, b"%d" % number) for number, commit in expected.items()]


async def test_snapshot_reads_skills_side_by_side(server: GitServer, source: GitSource) -> None:
    make_repository(server.folder / "repo.git", {f"s{n:03d}/SKILL.md": b"%d" % n for n in range(300)})
    async with source.fetch(server.url()) as snapshot:
        contents = await asyncio.gather(*(snapshot.read_skill(folder.path) for folder in snapshot.folders))
    assert [content.files[0].content for content in contents] == [b"%d" % n for n in range(300)]


async def test_snapshot_reads_right__after_a_read_was_cancelled(server: GitServer, source: GitSource) -> None:
    big = {f"a/{n}.txt": b"a" * 200_000 for n in range(50)}
    make_repository(server.folder / "repo.git", {"a/SKILL.md": SKILL_MD, **big, "b/SKILL.md": b"b"})
    async with source.fetch(server.url()) as snapshot:
        for rounds in range(40):
            task = asyncio.create_task(snapshot.read_skill("a"))
            for _ in range(rounds):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])
        content = await snapshot.read_skill("b")
        assert [file.content for file in content.files] == [b"b"]
        assert len((await snapshot.read_skill("a")).files) == 51


async def test_fetch_refuses_more_files__than_a_repository_may_have(server: GitServer, workspace: Path) -> None:
    make_repository(server.folder / "repo.git", {f"{n}.txt": b"same" for n in range(60)})
    async with GitSource(settings_with(repo_max_files=50), folder=workspace) as source:
        error = await refused(source, server.url(), RepositoryTooLarge)
    assert error.fields["limit"] == "files"


async def test_fetch_refuses_a_tree_that_repeats_itself__before_it_is_listed(
    server: GitServer, source: GitSource
) -> None:
    """Ten trees of ten entries each list as ten thousand million files."""
    repository = BareRepository(server.folder / "repo.git")
    tree = repository.forge_tree([TreeEntry("100644", b"f", repository.blob(b"x"))])
    for _ in range(10):
        tree = repository.forge_tree([TreeEntry(TREE, b"d%d" % n, tree) for n in range(10)])
    repository.forge_commit(tree)
    await refused(source, server.url(), RepositoryTooLarge)


@pytest.mark.parametrize("depth", [129, pytest.param(3000, marks=pytest.mark.full)])
async def test_fetch_refuses_folders_nested_too_deep(server: GitServer, source: GitSource, depth: int) -> None:
    repository = BareRepository(server.folder / "repo.git")
    tree = repository.forge_tree([TreeEntry("100644", b"SKILL.md", repository.blob(SKILL_MD))])
    repository.forge_commit(nest_trees(repository, tree, depth=depth))
    await refused(source, server.url(), RepositoryTooLarge)


def test_choose_ref_prefers_the_longest_name_and_branches() -> None:
    refs = [
        ("refs/heads/a", "1" * 40),
        ("refs/tags/a", "2" * 40),
        ("refs/tags/a/b", "3" * 40),
        ("refs/tags/a/b^{}", "4" * 40),
        ("refs/heads/c", "5" * 40),
    ]
    assert choose_ref(refs, "a") == ("refs/heads/a", "1" * 40, "")
    assert choose_ref(refs, "a/x") == ("refs/heads/a", "1" * 40, "x")
    assert choose_ref(refs, "a/b/c") == ("refs/tags/a/b", "4" * 40, "c")
    assert choose_ref(refs, "c/SKILL.md") == ("refs/heads/c", "5" * 40, "")
    assert choose_ref(refs, "") is None


async def test_source_opens_itself_once__when_it_is_asked_before_anybody_has_opened_it(
    server: GitServer, workspace: Path
) -> None:
    repository = make_repository(server.folder / "repo.git", {"SKILL.md": SKILL_MD})
    source = GitSource(LOOPBACK, folder=workspace)
    assert not workspace.exists()
    asked = [source.newest_commit(server.url()) for _ in range(3)]
    assert await asyncio.gather(*asked) == [repository.ref("refs/heads/main")] * 3
    assert len(list(workspace.iterdir())) == 1
    await source.close()
    assert list(workspace.iterdir()) == []
