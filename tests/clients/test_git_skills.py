"""Skills by git and as plugins, without any client but git: what is pinned, what is kept, and what is never given."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.clients.programs import Machine
from tests.clients.registry import LiveRegistry
from tests.pipeline.journey import skill_md
from vskill_platform.domain.content import SkillFile
from vskill_platform.domain.errors import StoreUnavailable
from vskill_platform.testing.git_repos import BareRepository
from vskill_platform.web.clients import repository_cache, skill_repositories
from vskill_platform.web.clients.bare_repository import write_bare_repository
from vskill_platform.web.clients.git_objects import commit_id
from vskill_platform.web.clients.repository_cache import make_room
from vskill_platform.web.clients.skill_repositories import SkillRepositories

FILES = {"SKILL.md": skill_md("greeting"), ".gitattributes": b"* ident\n", "docs/how to.md": b"$Id$ kindly.\n"}
MANIFEST = "/.claude-plugin/marketplace.json"


async def refs_of(registry: LiveRegistry, machine: Machine, slug: str) -> dict[str, str]:
    """What git says that a skill's repository has."""
    ran = await machine.run(["git", "ls-remote", f"{registry.address}/git/{slug}.git"])
    assert ran.code == 0, ran.text
    return {ref: identity for identity, ref in (line.split("\t") for line in ran.output.splitlines())}


def kept(registry: LiveRegistry) -> list[Path]:
    """The repositories that the registry keeps."""
    return sorted(Path(registry.env.settings.data, "git").glob("*/*.git"))


async def test_repository_has_a_tag_for_each_version_that_is_handed_out(
    registry: LiveRegistry, machine: Machine
) -> None:
    skill = await registry.publish("acme/tools/greeting", FILES)
    first = await refs_of(registry, machine, skill.slug)
    await registry.publish("acme/tools/greeting", version="2.0.0")
    both = await refs_of(registry, machine, skill.slug)
    assert set(both) == {"HEAD", "refs/heads/main", "refs/tags/v1.0.0", "refs/tags/v2.0.0"}
    assert both["refs/tags/v1.0.0"] == first["refs/tags/v1.0.0"] == first["HEAD"]
    await registry.yank(skill.slug, "1.0.0")
    left = await refs_of(registry, machine, skill.slug)
    assert left == dict.fromkeys(("HEAD", "refs/heads/main", "refs/tags/v2.0.0"), both["refs/tags/v2.0.0"])
    wanted = await machine.run(
        ["git", "fetch-pack", f"{registry.address}/git/{skill.slug}.git", both["refs/tags/v1.0.0"]]
    )
    assert wanted.code != 0, "a yanked version is not to be had by its id either"


async def test_repository_holds_the_files_below_skills__and_none_that_changes_others(
    registry: LiveRegistry, machine: Machine
) -> None:
    skill = await registry.publish("acme/tools/greeting", FILES)
    ran = await machine.run(["git", "clone", "--quiet", f"{registry.address}/git/{skill.slug}.git", "mine"])
    assert ran.code == 0, ran.text
    files = {path: content for path, content in machine.files(machine.project / "mine").items() if ".git/" not in path}
    expected = {f"skills/greeting/{path}": content for path, content in FILES.items() if path != ".gitattributes"}
    assert files == expected


async def test_page_has_commands_that_name_the_version_it_is_about(registry: LiveRegistry, machine: Machine) -> None:
    skill = await registry.publish("acme/tools/greeting", FILES)
    await registry.publish("acme/tools/greeting", version="2.0.0")
    page = f"/skills/{skill.slug}"
    for path in (page, f"{page}/versions/1.0.0"):
        assert await registry.command_on_page(path, "skills") == f"npx skills add {registry.address}{path}"
    ran = await machine.run(["sh", "-c", await registry.command_on_page(f"{page}/versions/1.0.0", "git")])
    assert ran.code == 0, ran.text
    cloned = machine.project / "greeting" / "skills" / "greeting"
    assert (cloned / "docs/how to.md").read_bytes() == FILES["docs/how to.md"]


async def test_pin_of_a_marketplace_is_the_commit_of_the_tag__also_when_all_that_was_kept_is_gone(
    registry: LiveRegistry, machine: Machine
) -> None:
    skill = await registry.publish("acme/tools/greeting", FILES)
    said = (await registry.http.get(f"/skills/{skill.slug}{MANIFEST}")).json()
    (plugin,) = said["plugins"]
    assert said["name"] == f"vskill-{skill.slug.replace('/', '-')}"
    assert (plugin["name"], plugin["version"], plugin["strict"]) == ("greeting", "1.0.0", False)
    assert plugin["skills"] == ["./skills/greeting"]
    source = plugin["source"]
    assert (source["source"], source["url"]) == ("url", f"{registry.address}/git/{skill.slug}.git")
    for _ in range(2):
        assert (await refs_of(registry, machine, skill.slug))["refs/tags/v1.0.0"] == source["sha"]
        shutil.rmtree(Path(registry.env.settings.data, "git"))


async def test_repository_is_refused__when_the_skill_is_not_handed_out(registry: LiveRegistry) -> None:
    blocked, held = await registry.publish("acme/tools/greeting", FILES), await registry.publish("acme/tools/farewell")
    refs = "info/refs?service=git-upload-pack"
    assert (await registry.http.get(f"/git/{blocked.slug}.git/{refs}")).status_code == 200
    await registry.block(blocked)
    await registry.quarantine(held.slug)
    for slug, status in ((blocked.slug, 410), (held.slug, 410), ("acme/no/such", 404), ("acme", 404)):
        answer = await registry.http.get(f"/git/{slug}.git/{refs}")
        assert answer.status_code == status, slug
    pushing = await registry.http.get(f"/git/{blocked.slug}.git/info/refs?service=git-receive-pack")
    assert pushing.status_code == 403
    assert (await registry.http.get(f"/git/{blocked.slug}.git/HEAD")).status_code == 404


async def test_repository_is_made_once__when_many_ask_at_once_in_two_processes(registry: LiveRegistry) -> None:
    skill = await registry.publish("acme/tools/greeting", FILES)
    both = SkillRepositories(), SkillRepositories()

    async def find_all() -> list[Path | None]:
        return await asyncio.gather(*(one.find(skill.slug) for one in both for _ in range(10)))

    found = await registry.inside(find_all)
    assert (len(set(found)), kept(registry)) == (1, [found[0]])
    left = [path.name for path in Path(registry.env.settings.data, "git").iterdir() if path.name.startswith(".")]
    assert left == [], "what was made in vain is gone"


async def test_repository_is_an_error__when_it_comes_to_another_commit_than_was_told(
    registry: LiveRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    skill = await registry.publish("acme/tools/greeting", FILES)
    monkeypatch.setattr("vskill_platform.web.clients.version_commits.commit_id", lambda files, *, message: "1" * 40)
    with pytest.raises(StoreUnavailable, match="other commits"):
        await registry.inside(lambda: SkillRepositories().find(skill.slug))
    assert kept(registry) == []


def test_cache_removes_what_was_not_asked_for_in_longest__and_nothing_that_may_be_in_use(tmp_path: Path) -> None:
    long_ago = time.time() - repository_cache.IN_USE_S - 100
    for number, age in (("a", 50), ("b", 40), ("c", 30), ("used", -2000)):
        place = tmp_path / number / "x.git"
        place.mkdir(parents=True)
        (place / "pack").write_bytes(b"x" * 1000)
        os.utime(place, (long_ago - age, long_ago - age) if age > 0 else None)
    left_over = tmp_path / ".making-x"
    left_over.mkdir()
    os.utime(left_over, (long_ago, long_ago))
    make_room(tmp_path, most_bytes=2500)
    assert sorted(path.parent.name for path in tmp_path.glob("*/x.git")) == ["c", "used"]
    assert not left_over.exists()
    make_room(tmp_path, most_bytes=0)
    assert sorted(path.parent.name for path in tmp_path.glob("*/x.git")) == ["used"]


def test_cache_makes_room__while_another_process_takes_away_what_it_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack = tmp_path / ".making-x" / "made.git" / "objects" / "pack"
    pack.mkdir(parents=True)
    scandir = os.scandir

    def after_another(path: str | Path) -> Iterator[os.DirEntry[str]]:
        if Path(path) == pack:
            pack.rmdir()
        return scandir(path)

    monkeypatch.setattr(os, "scandir", after_another)
    make_room(tmp_path, most_bytes=0)
    assert not pack.exists()


async def test_repository_leaves_out_the_oldest_versions__when_there_are_too_many(
    registry: LiveRegistry, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(skill_repositories, "MOST_VERSIONS", 2)
    for number in range(3):
        skill = await registry.publish("acme/tools/greeting", {**FILES, "README.md": str(number).encode()})
    tags = [ref for ref in await refs_of(registry, machine, skill.slug) if ref.startswith("refs/tags/")]
    assert tags == ["refs/tags/v1.0.1", "refs/tags/v1.0.2"]


_NAMES = st.sampled_from(["a", "a-b", "a.b", "a0", "b", "ü", "A", "a b", "z"])
_PATHS = st.lists(_NAMES, min_size=1, max_size=3).map("/".join)


@settings(max_examples=25, deadline=None)
@given(files=st.dictionaries(_PATHS, st.tuples(st.binary(max_size=20), st.booleans()), min_size=1, max_size=8))
def test_commit_has_the_id_that_git_gives_it(
    files: dict[str, tuple[bytes, bool]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folders = {path.rsplit("/", depth)[0] for path in files for depth in range(1, path.count("/") + 1)}
    chosen = [
        SkillFile(path=path, content=content, executable=is_executable)
        for path, (content, is_executable) in files.items()
        if path not in folders
    ]
    place = tmp_path_factory.mktemp("repository") / "made.git"
    write_bare_repository(place, chosen, message="a commit\n\nwith ümlauts\n")
    assert BareRepository(place).ref("refs/heads/main") == commit_id(chosen, message="a commit\n\nwith ümlauts\n")
