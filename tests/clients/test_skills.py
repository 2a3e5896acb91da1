"""The real `skills`, old on Node 20 and new on Node 22: every command of it that touches a registry."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.clients.programs import Machine, Ran, npm_program
from tests.clients.registry import LiveRegistry
from tests.pipeline.journey import skill_md

pytestmark = pytest.mark.clients
FILES = {"SKILL.md": skill_md("greeting"), "docs/how to.md": b"Say it kindly.\n", "scripts/run.py": b'print("hello")\n'}
EVERYTHING = ["--yes", "--agent", "claude-code", "--copy"]


@dataclass
class Skills:
    """The program on a machine."""

    program: list[str]
    version: str
    machine: Machine
    registry: LiveRegistry

    async def run(self, *arguments: str) -> Ran:
        """Run a command."""
        env = {"SKILLS_API_URL": self.registry.address}
        return await self.machine.run([*self.program, *arguments], env)

    async def add(self, path: str, *more: str) -> Ran:
        """Add what an address of the registry offers, for one agent."""
        return await self.run("add", f"{self.registry.address}{path}", *EVERYTHING, *more)

    @property
    def installed(self) -> dict[str, dict[str, bytes]]:
        """The files of each skill in the project."""
        folder = self.machine.project / ".claude" / "skills"
        return {one.name: self.machine.files(one) for one in sorted(folder.iterdir())} if folder.exists() else {}


@pytest.fixture(params=[("1.5.18", 20), ("1.7.4", 22)], ids=lambda param: param[0])
def skills(request: pytest.FixtureRequest, machine: Machine, registry: LiveRegistry) -> Skills:
    version, node = request.param
    return Skills(npm_program("skills", version, node=node), version, machine, registry)


async def test_skills_installs_that_skill_and_nothing_else__from_any_page_of_it(
    skills: Skills, registry: LiveRegistry
) -> None:
    skill = await registry.publish("acme/tools/greeting", FILES)
    await registry.publish("acme/tools/other")
    ran = await skills.add(f"/skills/{skill.slug}")
    assert (ran.code, list(skills.installed)) == (0, ["greeting"]), ran.text
    assert skills.installed["greeting"] == FILES
