"""Repositories that no honest git would make: each is refused, or read as the plain bytes it is. Nothing of them runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ingest.git_server import GitServer
from tests.ingest.looking import files_below, processes_of, refused
from vskill_platform.domain.content import Omitted, OmittedKind
from vskill_platform.domain.errors import RepositoryMalformed, UnsafePath
from vskill_platform.ingest.git import GitSource
from vskill_platform.testing.git_repos import (
    GITLINK,
    NO_OBJECT,
    REGULAR,
    SKILL_MD,
    SYMLINK,
    TREE,
    BareRepository,
    TreeEntry,
    executable,
    gitlink,
    make_repository,
    symlink,
)

OLD_MODE = "0100644"
"""A file mode with a zero too many, as old programs wrote it: harmless, and fetched in another way than the rest."""
ZERO_WIDTH = "\u200c".encode()


@pytest.fixture
def repository(server: GitServer) -> BareRepository:
    return BareRepository(server.folder / "repo.git")


def with_skill(repository: BareRepository, *entries: TreeEntry, mode: str = REGULAR) -> str:
    """A tree of a SKILL.md and these entries, in the order in which git wants them."""
    skill = TreeEntry(mode, b"SKILL.md", repository.blob(SKILL_MD))
    return repository.forge_tree(sorted([skill, *entries], key=lambda entry: entry.name))


@pytest.mark.parametrize("skill_mode", [REGULAR, OLD_MODE], ids=["filtered", "unfiltered"])
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(b".git", id="dotgit"),
        pytest.param(b".GIT", id="dotgit-upper"),
        pytest.param(b".Git", id="dotgit-mixed"),
        pytest.param(b"git~1", id="short-name"),
        pytest.param(b".g" + ZERO_WIDTH + b"it", id="hfs-ignorable"),
        pytest.param(b".git ", id="ntfs-space"),
        pytest.param(b".git.", id="ntfs-dot"),
        pytest.param(b".git::$INDEX_ALLOCATION", id="ntfs-stream"),
        pytest.param(b"..", id="dotdot"),
        pytest.param(b".", id="dot"),
        pytest.param(b"a/b", id="slash"),
        pytest.param(b"/etc", id="absolute"),
        pytest.param(b"../../etc", id="climbing"),
    ],
)
async def test_fetch_refuses_a_forged_name(
    server: GitServer, source: GitSource, repository: BareRepository, name: bytes, skill_mode: str
) -> None:
    inner = repository.forge_tree([TreeEntry(REGULAR, b"config", repository.blob(b"[core]\n\tfsmonitor = evil\n"))])
    entry = TreeEntry(TREE, name, inner)
    repository.forge_commit(with_skill(repository, entry, mode=skill_mode))
    error = await refused(source, server.url(), RepositoryMalformed)
    assert error.fields["fault"] in {"hasDotgit", "hasDotdot", "hasDot", "fullPathname"}


@pytest.mark.parametrize("skill_mode", [REGULAR, OLD_MODE], ids=["filtered", "unfiltered"])
async def test_fetch_refuses_entries_twice_or_out_of_order(
    server: GitServer, source: GitSource, repository: BareRepository, skill_mode: str
) -> None:
    good, bad = repository.blob(SKILL_MD), repository.blob(b"other")
    for second in (b"SKILL.md", b"A"):
        entries = [TreeEntry(skill_mode, b"SKILL.md", good), TreeEntry(REGULAR, second, bad)]
        repository.forge_commit(repository.forge_tree(entries))
        error = await refused(source, server.url(), RepositoryMalformed)
        assert error.fields["fault"] in {"duplicateEntries", "treeNotSorted"}


@pytest.mark.parametrize("skill_mode", [REGULAR, OLD_MODE], ids=["filtered", "unfiltered"])
@pytest.mark.parametrize(
    "modules",
    [
        pytest.param(b'[submodule "../../escape"]\n\tpath = sub\n\turl = https://example.org/x\n', id="CVE-2018-11235"),
        pytest.param(b'[submodule "s"]\n\tpath = sub\n\turl = -u./payload\n', id="CVE-2018-17456-url"),
        pytest.param(b'[submodule "s"]\n\tpath = -sub\n\turl = https://example.org/x\n', id="CVE-2018-17456-path"),
        pytest.param(b'[submodule "s"]\n\tpath = sub\n\turl = https://a%0ahost=b/x\n', id="CVE-2020-5260"),
        pytest.param(b'[submodule "s"]\n\tpath = sub\n\turl = https://h/x\n\tupdate = !evil\n', id="CVE-2019-19604"),
    ],
)
async def test_fetch_refuses_forged_submodules(
    server: GitServer, source: GitSource, repository: BareRepository, modules: bytes, skill_mode: str
) -> None:
    entries = [TreeEntry(REGULAR, b".gitmodules", repository.blob(modules)), TreeEntry(GITLINK, b"sub", NO_OBJECT)]
    repository.forge_commit(with_skill(repository, *entries, mode=skill_mode))
    error = await refused(source, server.url(), RepositoryMalformed)
    assert str(error.fields["fault"]).startswith("gitmodules")


@pytest.mark.parametrize("name", [b".gitmodules", b".GITMODULES", b"gitmod~1"])
async def test_fetch_refuses_gitmodules__that_is_a_link(
    server: GitServer, source: GitSource, repository: BareRepository, name: bytes
) -> None:
    link = TreeEntry(SYMLINK, name, repository.blob(b"elsewhere"))
    repository.forge_commit(with_skill(repository, link))
    await refused(source, server.url(), RepositoryMalformed)


async def test_submodules_are_only_reported__with_a_carriage_return_in_their_path(
    server: GitServer, source: GitSource, workspace: Path
) -> None:
    """CVE-2025-48384: only a checkout reads that path, and nothing is ever checked out."""
    files = {
        "SKILL.md": SKILL_MD,
        ".gitmodules": b'[submodule "s"]\n\tpath = "sub\r"\n\turl = https://example.org/x\n',
        "sub": gitlink(),
    }
    make_repository(server.folder / "repo.git", files)
    async with source.fetch(server.url()) as snapshot:
        content = await snapshot.read_skill("")
    assert content.omitted == (Omitted(path="sub", kind=OmittedKind.SUBMODULE),)
    assert [file.path for file in content.files] == [".gitmodules", "SKILL.md"]
    assert [request for request in server.requests if "/x" in request] == []


@pytest.mark.parametrize(
    ("author", "known"),
    [
        ("A Tester<tester@example.org> 1700000000 +0000", "missingSpaceBeforeEmail"),
        ("A Tester <tester@example.org>1700000000 +0000", "missingSpaceBeforeDate"),
        ("A Tester <tester@example.org> 1700000000 +051800", "badTimezone"),
        ("A Tester <tester@example.org> 01700000000 +0000", "zeroPaddedDate"),
    ],
)
async def test_fetch_takes_author_lines_that_old_programs_wrote(
    server: GitServer, source: GitSource, repository: BareRepository, author: str, known: str
) -> None:
    commit = repository.forge_commit(with_skill(repository), author=author)
    async with source.fetch(server.url()) as snapshot:
        assert snapshot.commit == commit


async def test_fetch_takes_file_modes_that_old_programs_wrote(
    server: GitServer, source: GitSource, repository: BareRepository
) -> None:
    folder = repository.forge_tree([TreeEntry(REGULAR, b"SKILL.md", repository.blob(SKILL_MD))])
    script = TreeEntry("100664", b"run", repository.blob(b"run"))
    tree = with_skill(repository, TreeEntry("040000", b"a", folder), script, mode=OLD_MODE)
    repository.forge_commit(tree)
    async with source.fetch(server.url()) as snapshot:
        assert [folder.path for folder in snapshot.folders] == ["", "a"]
        content = await snapshot.read_skill("")
    assert [(file.path, file.executable) for file in content.files] == [
        ("SKILL.md", False),
        ("a/SKILL.md", False),
        ("run", False),
    ]


async def test_attributes_change_nothing(server: GitServer, source: GitSource, workspace: Path) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 5\n"
    files = {
        ".gitattributes": b"hidden.py export-ignore\nSKILL.md export-subst\n*.bin filter=lfs\n*.txt eol=crlf ident\n",
        "SKILL.md": b"---\nname: a\n---\n$Format:%H$ $Id$\n",
        "hidden.py": b"import os\n",
        "model.bin": pointer,
        "text.txt": b"one\ntwo $Id$\n",
    }
    make_repository(server.folder / "repo.git", files)
    async with source.fetch(server.url()) as snapshot:
        content = await snapshot.read_skill("")
    assert {file.path: file.content for file in content.files} == files


async def test_a_nested_bare_repository_is_bytes(server: GitServer, source: GitSource, tmp_path: Path) -> None:
    """CVE-2024-32004 and what came before it: a repository inside whose configuration names a program."""
    proof = tmp_path / "proof"
    nested = {
        "HEAD": b"ref: refs/heads/main\n",
        "config": f"[core]\n\tbare = true\n\tfsmonitor = touch {proof}\n\thooksPath = hooks\n".encode(),
        "hooks/post-checkout": executable(f"#!/bin/sh\ntouch {proof}\n".encode()),
        "objects/info/alternates": b"/etc\n",
        "refs/heads/main": b"0" * 40,
    }
    make_repository(server.folder / "repo.git", {"SKILL.md": SKILL_MD, **{f"n/{p}": f for p, f in nested.items()}})
    async with source.fetch(server.url()) as snapshot:
        content = await snapshot.read_skill("")
    assert len(content.files) == 6
    assert not proof.exists()


@pytest.mark.parametrize(
    "target", ["/etc/passwd", "../../../etc/passwd", ".git/hooks", "a" * 5000, "\u202eevil", "SKILL.md"]
)
async def test_links_are_never_followed(server: GitServer, source: GitSource, target: str) -> None:
    make_repository(server.folder / "repo.git", {"SKILL.md": SKILL_MD, "link": symlink(target)})
    async with source.fetch(server.url()) as snapshot:
        content = await snapshot.read_skill("")
    [link] = content.omitted
    assert (link.path, link.kind) == ("link", OmittedKind.SYMLINK)
    assert link.detail.isprintable()
    assert len(link.detail) <= 120
    assert [file.path for file in content.files] == ["SKILL.md"]


async def test_a_linked_skill_md_makes_no_skill(server: GitServer, source: GitSource) -> None:
    make_repository(server.folder / "repo.git", {"a/SKILL.md": symlink("../b"), "b": SKILL_MD, "c/SKILL.md/d": b"d"})
    async with source.fetch(server.url()) as snapshot:
        assert snapshot.folders == []


async def test_an_entry_of_no_known_mode_is_left_out(
    server: GitServer, source: GitSource, repository: BareRepository
) -> None:
    """git takes a mode it does not know for a submodule's."""
    pipe = TreeEntry("10644", b"pipe", repository.blob(b"pipe"))
    odd = TreeEntry("100600", b"odd", repository.blob(b"odd"))
    repository.forge_commit(with_skill(repository, odd, pipe))
    async with source.fetch(server.url()) as snapshot:
        content = await snapshot.read_skill("")
    assert [file.path for file in content.files] == ["SKILL.md", "odd"]
    assert content.omitted == (Omitted(path="pipe", kind=OmittedKind.SUBMODULE),)


@pytest.mark.parametrize("path", ["a\nb", "con.txt", "a\\b", "b\u202ea.md", "x. /y", "\udcff.txt", "A/x:y", "n" * 101])
async def test_snapshot_refuses_a_skill__with_a_name_that_is_not_safe_everywhere(
    server: GitServer, source: GitSource, path: str
) -> None:
    make_repository(server.folder / "repo.git", {"bad/SKILL.md": SKILL_MD, f"bad/{path}": b"x", "ok/SKILL.md": b"ok"})
    async with source.fetch(server.url()) as snapshot:
        with pytest.raises(UnsafePath) as caught:
            await snapshot.read_skill("bad")
        assert caught.value.message.isprintable()
        assert (await snapshot.read_skill("ok")).files[0].content == b"ok"


@pytest.mark.parametrize(
    ("folder", "listed"),
    [("a\x1bb", "a\x1bb"), ("a\u202eb", "a\u202eb"), ("a\udcffb", "a\\xffb"), ("a\nb/c", "a\nb/c")],
)
async def test_snapshot_refuses_a_skill__in_a_folder_whose_name_misleads(
    server: GitServer, source: GitSource, folder: str, listed: str
) -> None:
    make_repository(server.folder / "repo.git", {f"{folder}/SKILL.md": SKILL_MD, "with: colon/SKILL.md": b"ok"})
    async with source.fetch(server.url()) as snapshot:
        assert [found.path for found in snapshot.folders] == [listed, "with: colon"]
        with pytest.raises(UnsafePath) as caught:
            await snapshot.read_skill(listed)
        assert (await snapshot.read_skill("with: colon")).files[0].content == b"ok"
    assert caught.value.message.isprintable()


async def test_snapshot_refuses_names_that_are_one__where_case_does_not_count(
    server: GitServer, source: GitSource
) -> None:
    make_repository(server.folder / "repo.git", {"SKILL.md": SKILL_MD, "Read.md": b"1", "read.md": b"2"})
    async with source.fetch(server.url()) as snapshot:
        with pytest.raises(UnsafePath, match=r"'Read\.md' and 'read\.md'"):
            await snapshot.read_skill("")


@pytest.mark.parametrize("ref", ["refs/heads/\x1b[31mred", "refs/heads/$(touch proof)", "refs/heads/--upload-pack=x"])
async def test_strange_refs_of_a_server_do_no_harm(
    server: GitServer, source: GitSource, workspace: Path, ref: str
) -> None:
    repository = make_repository(server.folder / "repo.git", {"SKILL.md": SKILL_MD})
    commit = repository.ref("refs/heads/main")
    packed = server.folder / "repo.git" / "packed-refs"
    packed.write_text(f"{commit} refs/heads/main\n{commit} {ref}\n")
    async with source.fetch(server.url(), tree_path="main") as snapshot:
        assert snapshot.commit == commit
    assert "proof" not in " ".join(files_below(workspace))


async def test_nothing_is_written_or_started_elsewhere(
    server: GitServer, source: GitSource, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A home with a configuration that would run programs, and an environment that would redirect git."""
    home, proof = tmp_path / "home", tmp_path / "proof"
    home.mkdir()
    evil = f"!touch {proof}"
    elsewhere = '[url "http://127.0.0.1:1/"]\n\tinsteadOf = http://127.0.0.1\n'
    (home / ".gitconfig").write_text(f"{elsewhere}[credential]\n\thelper = {evil}\n[core]\n\tfsmonitor = {evil}\n")
    for name, value in {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home),
        "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"),
        "GIT_SSH_COMMAND": f"touch {proof}",
        "GIT_TRACE": str(proof),
        "GIT_EXEC_PATH": str(home),
        "http_proxy": "http://127.0.0.1:1",
        "https_proxy": "http://127.0.0.1:1",
        "ALL_PROXY": "http://127.0.0.1:1",
        "no_proxy": "*",
    }.items():
        monkeypatch.setenv(name, value)
    make_repository(server.folder / "repo.git", {"SKILL.md": SKILL_MD, "x": executable(b"x")})
    before = files_below(tmp_path)
    async with source.fetch(server.url()) as snapshot:
        await snapshot.read_skill("")
    assert files_below(tmp_path) == before
    assert not proof.exists()
    assert processes_of(home) == []
