"""The real `skills`, old on Node 20 and new on Node 22: every command of it that touches a registry."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.clients.collecting import collect, open_private_path
from tests.clients.programs import Machine, Ran, npm_program
from tests.clients.registry import HOST_PREFIX, LiveRegistry
from tests.clients.table import proves
from tests.pipeline.journey import skill_md
from vskill_platform.domain.skill import Skill
from vskill_platform.stores.counts import get_counts

pytestmark = pytest.mark.clients
FILES = {
    "SKILL.md": skill_md("greeting"),
    "docs/how to.md": b"Say it kindly.\n",
    "scripts/run.py": b'print("hello")\n',
}
NEWER = {**FILES, "docs/how to.md": b"Say it loudly.\n"}
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass
class Skills:
    """The program on a machine."""

    program: list[str]
    version: str
    machine: Machine
    registry: LiveRegistry

    async def run(self, *arguments: str) -> Ran:
        """Run a command."""
        return await self.machine.run([*self.program, *arguments], {"SKILLS_API_URL": self.registry.address})

    async def do(self, *arguments: str) -> str:
        """Run a command that has to work. Gives what it said, without colours."""
        ran = await self.run(*arguments)
        assert ran.code == 0, ran.text
        return _COLOURS.sub("", ran.text)

    async def add(self, path: str, *more: str) -> str:
        """Add all that an address of the registry offers, for one agent."""
        return await self.do("add", f"{self.registry.address}{path}", *_FOR_CLAUDE, *more)

    async def add_in_vain(self, path: str) -> None:
        """Try to add what an address offers, which must come to nothing."""
        ran = await self.run("add", f"{self.registry.address}{path}", *_FOR_CLAUDE)
        assert (ran.code, self.installed) == (1, {}), ran.text

    @property
    def installed(self) -> dict[str, dict[str, bytes]]:
        """The files of each skill in the project."""
        return self._below(self.machine.project)

    @property
    def installed_globally(self) -> dict[str, dict[str, bytes]]:
        """The files of each skill of the person."""
        return self._below(self.machine.home)

    def _below(self, folder: Path) -> dict[str, dict[str, bytes]]:
        skills = folder / ".claude" / "skills"
        return {one.name: self.machine.files(one) for one in sorted(skills.iterdir())} if skills.exists() else {}


_FOR_CLAUDE = ("--yes", "--agent", "claude-code", "--copy")


@pytest.fixture(params=[("1.5.18", 20), ("1.7.4", 22)], ids=lambda param: param[0])
def skills(request: pytest.FixtureRequest, machine: Machine, registry: LiveRegistry) -> Skills:
    version, node = request.param
    return Skills(npm_program("skills", version, node=node), version, machine, registry)


@proves("skills 1.5.18", "add PAGE")
@proves("skills 1.7.4", "add PAGE")
async def test_skills_installs_that_skill_and_nothing_else__from_any_page_of_it(
    skills: Skills, registry: LiveRegistry
) -> None:
    skill = await registry.publish("acme/tools/greeting", FILES)
    await registry.publish("acme/tools/other")
    pages = ["", "/versions", "/security", "/files", "/versions/1.0.0", "@greeting"]
    for page in pages:
        await skills.add(f"/skills/{skill.slug}{page}")
        assert skills.installed == {"greeting": FILES}, page
    assert not any(line.endswith("/other/versions/1.0.0/archive.zip") for line in registry.wire.lines)
    lock = json.loads((skills.machine.project / "skills-lock.json").read_text())["skills"]["greeting"]
    assert lock["sourceType"] == "well-known"


@proves("skills 1.4.4", "add PAGE")
@pytest.mark.parametrize("skills", [("1.4.4", 20)], ids=["1.4.4"], indirect=True)
async def test_skills_installs_the_same_files__when_it_knows_no_archives_yet(
    skills: Skills, registry: LiveRegistry
) -> None:
    skill = await registry.publish("acme/tools/greeting", FILES)
    await skills.add(f"/skills/{skill.slug}")
    assert skills.installed == {"greeting": FILES}
    assert not any("archive" in line or "agent-skills" in line for line in registry.wire.lines)


@proves("skills 1.5.18", "add PAGE --list")
@proves("skills 1.7.4", "add PAGE --list")
async def test_skills_lists_what_a_page_offers(skills: Skills, registry: LiveRegistry) -> None:
    await registry.publish("acme/tools/greeting", FILES)
    await registry.publish("acme/tools/farewell")
    said = await skills.add(f"/skills/{HOST_PREFIX}acme/tools", "--list")
    assert ("greeting" in said, "farewell" in said, skills.installed) == (True, True, {})


@proves("skills 1.5.18", "add PUBLISHER")
@proves("skills 1.7.4", "add PUBLISHER")
@proves("skills 1.5.18", "add REPOSITORY --skill NAME")
@proves("skills 1.7.4", "add REPOSITORY --skill NAME")
async def test_skills_installs_all_or_one_of_them__from_a_publisher_and_a_repository(
    skills: Skills, registry: LiveRegistry
) -> None:
    await registry.publish("acme/tools/greeting", FILES)
    await registry.publish("acme/tools/farewell")
    await registry.publish("acme/more/question")
    await registry.publish("others/tools/answer")
    await skills.add(f"/skills/{HOST_PREFIX}acme/tools", "--skill", "farewell")
    assert list(skills.installed) == ["farewell"]
    await skills.add(f"/publishers/{HOST_PREFIX}acme")
    assert list(skills.installed) == ["farewell", "greeting", "question"]


@proves("skills 1.5.18", "add COLLECTION")
@proves("skills 1.7.4", "add COLLECTION")
@proves("skills 1.5.18", "add PRIVATE PATH")
@proves("skills 1.7.4", "add PRIVATE PATH")
async def test_skills_installs_a_collection__also_behind_a_private_path(skills: Skills, registry: LiveRegistry) -> None:
    greeting = await registry.publish("acme/tools/greeting", FILES)
    await registry.publish("acme/tools/greeting", NEWER)
    farewell = await registry.publish("acme/tools/farewell")
    page = await collect(registry, "mine", f"{greeting.slug}@1.0.0")
    await skills.add(page)
    assert skills.installed == {"greeting": FILES}, "a collection may hold a skill to a version"
    hidden = await collect(registry, "secret", farewell.slug, is_public=False)
    assert (await registry.http.get(f"{hidden}/.well-known/agent-skills/index.json")).status_code == 404
    await skills.add(await open_private_path(registry, "secret"))
    assert list(skills.installed) == ["farewell", "greeting"]


@proves("skills 1.5.18", "add ROOT")
@proves("skills 1.7.4", "add ROOT")
async def test_skills_installs_what_is_certified__from_the_registry_alone(
    skills: Skills, registry: LiveRegistry
) -> None:
    await registry.publish("acme/tools/greeting", FILES)
    await skills.add_in_vain("")
    await registry.trust("vendor")
    await registry.publish("vendor/tools/farewell")
    await skills.add("")
    assert list(skills.installed) == ["farewell"]


@proves("skills 1.5.18", "add GIT")
@proves("skills 1.7.4", "add GIT")
async def test_skills_installs_from_git__the_newest_and_a_tag(skills: Skills, registry: LiveRegistry) -> None:
    skill = await registry.publish("acme/tools/greeting", FILES)
    await registry.publish("acme/tools/greeting", NEWER)
    await skills.add(f"/git/{skill.slug}.git")
    assert skills.installed == {"greeting": NEWER}
    await skills.add(f"/git/{skill.slug}.git#v1.0.0")
    assert skills.installed == {"greeting": FILES}


@proves("skills 1.7.4", "update")
@pytest.mark.parametrize("skills", [("1.7.4", 22)], ids=["1.7.4"], indirect=True)
async def test_skills_updates_to_the_newest_version__in_a_project_and_of_a_person(
    skills: Skills, registry: LiveRegistry
) -> None:
    skill = await registry.publish("acme/tools/greeting", FILES)
    await skills.add(f"/skills/{skill.slug}")
    await skills.add(f"/skills/{skill.slug}", "--global")
    await registry.publish("acme/tools/greeting", NEWER)
    await skills.do("update", "--project", "--yes")
    assert skills.installed == {"greeting": NEWER}
    await skills.do("update", "--global", "--yes")
    assert skills.installed_globally == {"greeting": NEWER}


@proves("skills 1.7.4", "update (blocked)")
@pytest.mark.parametrize("skills", [("1.7.4", 22)], ids=["1.7.4"], indirect=True)
async def test_skills_updates_nothing__when_the_skill_was_blocked_since(skills: Skills, registry: LiveRegistry) -> None:
    skill = await registry.publish("acme/tools/greeting", FILES)
    await skills.add(f"/skills/{skill.slug}")
    await registry.block(skill)
    said = await skills.do("update", "--project", "--yes")
    assert ("Failed to check skills" in said, skills.installed) == (True, {"greeting": FILES})


@proves("skills 1.5.18", "update")
@pytest.mark.parametrize("skills", [("1.5.18", 20)], ids=["1.5.18"], indirect=True)
async def test_skills_says_how_to_update__when_it_cannot_by_itself(skills: Skills, registry: LiveRegistry) -> None:
    skill = await registry.publish("acme/tools/greeting", FILES)
    await skills.add(f"/skills/{skill.slug}", "--global")
    await registry.publish("acme/tools/greeting", NEWER)
    said = await skills.do("update", "--global", "--yes")
    hint = f"npx skills add {registry.address}/skills/{skill.slug} -g -y"
    assert hint in said
    await skills.do(*hint.split()[2:])
    assert skills.installed_globally == {"greeting": NEWER}


@proves("skills 1.7.4", "experimental_install")
@pytest.mark.parametrize("skills", [("1.7.4", 22)], ids=["1.7.4"], indirect=True)
async def test_skills_restores_what_its_lock_names(skills: Skills, registry: LiveRegistry) -> None:
    skill = await registry.publish("acme/tools/greeting", FILES)
    await registry.publish("acme/tools/farewell")
    await skills.add(f"/skills/{skill.slug}")
    shutil.rmtree(skills.machine.project / ".claude")
    await skills.do("experimental_install")
    restored = skills.machine.project / ".agents" / "skills"
    assert {one.name: skills.machine.files(one) for one in restored.iterdir()} == {"greeting": FILES}


@proves("skills 1.5.18", "list")
@proves("skills 1.7.4", "list")
async def test_skills_lists_what_is_installed(skills: Skills, registry: LiveRegistry) -> None:
    skill = await registry.publish("acme/tools/greeting", FILES)
    await skills.add(f"/skills/{skill.slug}")
    assert "greeting" in await skills.do("list")


@proves("skills 1.5.18", "find WORDS")
@proves("skills 1.7.4", "find WORDS")
async def test_skills_finds_a_skill__and_its_hint_installs_it(skills: Skills, registry: LiveRegistry) -> None:
    skill = await registry.publish("acme/tools/greeting", FILES)
    await registry.publish("acme/tools/farewell", {"SKILL.md": skill_md("farewell").replace(b"Greet", b"Leave")})
    said = await skills.do("find", "greeting")
    hint = f"{registry.address}/skills/{skill.slug}@greeting"
    assert hint in said
    await skills.add(hint.removeprefix(registry.address))
    assert skills.installed == {"greeting": FILES}
    assert "No skills found" in await skills.do("find", "zzzzqqqq")


@proves("skills 1.5.18", "use PAGE")
@proves("skills 1.7.4", "use PAGE")
async def test_skills_uses_a_skill_without_installing_it(skills: Skills, registry: LiveRegistry) -> None:
    skill = await registry.publish("acme/tools/greeting", FILES)
    said = await skills.do("use", f"{registry.address}/skills/{skill.slug}")
    assert ("Greet the user by name." in said, skills.installed) == (True, {})


@proves("skills 1.5.18", "add PAGE (blocked)")
@proves("skills 1.7.4", "add PAGE (blocked)")
async def test_skills_installs_nothing__when_the_skill_is_blocked_or_held_back(
    skills: Skills, registry: LiveRegistry
) -> None:
    blocked, held = await registry.publish("acme/tools/greeting", FILES), await registry.publish("acme/tools/farewell")
    await registry.block(blocked)
    await registry.quarantine(held.slug)
    for path in (f"/skills/{blocked.slug}", f"/git/{blocked.slug}.git", f"/skills/{held.slug}", "/skills/acme/no/such"):
        await skills.add_in_vain(path)
    assert not any("archive" in line for line in registry.wire.lines)


@proves("skills 1.5.18", "add PAGE (yanked)")
@proves("skills 1.7.4", "add PAGE (yanked)")
async def test_skills_installs_the_version_before__when_the_newest_was_yanked(
    skills: Skills, registry: LiveRegistry
) -> None:
    skill = await registry.publish("acme/tools/greeting", FILES)
    await registry.publish("acme/tools/greeting", NEWER)
    await registry.yank(skill.slug, "1.0.1")
    await skills.add_in_vain(f"/skills/{skill.slug}/versions/1.0.1")
    await skills.add(f"/skills/{skill.slug}")
    assert skills.installed == {"greeting": FILES}


@proves("skills 1.5.18", "add PAGE (bad digest)")
@proves("skills 1.7.4", "add PAGE (bad digest)")
async def test_skills_installs_nothing__when_a_byte_is_not_what_was_verified(
    skills: Skills, registry: LiveRegistry
) -> None:
    skill = await registry.publish("acme/tools/greeting", FILES)
    with registry.wire.spoiling("archive.zip"):
        await skills.add_in_vain(f"/skills/{skill.slug}")
    assert any(line.endswith("archive.zip") for line in registry.wire.lines)


async def checks_of(registry: LiveRegistry, skill: Skill) -> tuple[int, int, int]:
    """Installs, downloads and update checks of a skill."""
    counts = await registry.inside(lambda: get_counts(skill))
    return counts.installs, counts.downloads, counts.update_checks


@pytest.mark.parametrize("skills", [("1.7.4", 22)], ids=["1.7.4"], indirect=True)
async def test_skills_update_check_is_no_download__and_is_counted_apart(skills: Skills, registry: LiveRegistry) -> None:
    skill = await registry.publish("acme/tools/greeting", FILES)
    await skills.add(f"/skills/{skill.slug}")
    before = await checks_of(registry, skill)
    await skills.do("update", "--project", "--yes")
    assert (before, await checks_of(registry, skill)) == ((0, 1, 0), (0, 1, 1))
