"""The real Claude Code: skills as plugins, pinned to the commit of a version. `make test-claude` installs it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.clients.collecting import collect, open_private_path
from tests.clients.programs import Machine, Ran, claude_program
from tests.clients.registry import LiveRegistry
from tests.clients.table import proves
from tests.pipeline.journey import skill_md

pytestmark = pytest.mark.clients
FILES = {"SKILL.md": skill_md("greeting"), "hooks/hooks.json": b'{"hooks": {}}\n', "docs/how to.md": b"Kindly.\n"}
MANIFEST = "/.claude-plugin/marketplace.json"


@dataclass
class Claude:
    """The program on a machine."""

    machine: Machine
    registry: LiveRegistry

    async def run(self, *arguments: str) -> Ran:
        """Run a command about plugins."""
        return await self.machine.run([*claude_program("2.1.325"), "plugin", *arguments])

    async def do(self, *arguments: str) -> str:
        """Run a command that has to work."""
        ran = await self.run(*arguments)
        assert ran.code == 0, ran.text
        return ran.text

    async def add(self, page: str) -> str:
        """Add the marketplace of a page. Gives what it is called."""
        await self.do("marketplace", "add", f"{self.registry.address}{page}{MANIFEST}")
        return str((await self.registry.http.get(f"{page}{MANIFEST}")).json()["name"])

    def installed(self, marketplace: str, plugin: str, version: str) -> dict[str, bytes]:
        """The files of an installed plugin."""
        folder = self.machine.home / ".claude" / "plugins" / "cache" / marketplace / plugin / version
        return {
            path: content
            for path, content in self.machine.files(folder).items()
            if Path(path).parts[0] not in (".git", ".in_use")
        }


@pytest.fixture
def claude(machine: Machine, registry: LiveRegistry) -> Claude:
    return Claude(machine, registry)


def in_plugin(files: dict[str, bytes], name: str = "greeting") -> dict[str, bytes]:
    """Where a skill's files are in a plugin."""
    return {f"skills/{name}/{path}": content for path, content in files.items()}


@proves("claude-code 2.1.325", "plugin marketplace add")
@proves("claude-code 2.1.325", "plugin install")
async def test_claude_installs_a_skill_as_a_plugin__without_hooks_that_it_may_bring(
    claude: Claude, registry: LiveRegistry
) -> None:
    skill = await registry.publish("acme/tools/greeting", FILES)
    command = await registry.command_on_page(f"/skills/{skill.slug}", "claude-code")
    ran = await claude.machine.run(["sh", "-c", command.replace("claude ", f"{claude_program('2.1.325')[0]} ")])
    assert ran.code == 0, ran.text
    name = f"vskill-{skill.slug.replace('/', '-')}"
    assert claude.installed(name, "greeting", "1.0.0") == in_plugin(FILES)
    details = await claude.do("details", "greeting")
    assert "Skills (1)  greeting" in details
    assert "Hooks (0)" in details


@proves("claude-code 2.1.325", "plugin marketplace update")
@proves("claude-code 2.1.325", "plugin update")
async def test_claude_updates_a_plugin__when_there_is_a_new_version(claude: Claude, registry: LiveRegistry) -> None:
    skill = await registry.publish("acme/tools/greeting", FILES)
    name = await claude.add(f"/skills/{skill.slug}")
    await claude.do("install", f"greeting@{name}")
    newer = {**FILES, "docs/how to.md": b"Loudly.\n"}
    await registry.publish("acme/tools/greeting", newer)
    await claude.do("marketplace", "update", name)
    await claude.do("update", f"greeting@{name}")
    assert "1.0.1" in await claude.do("list")
    assert claude.installed(name, "greeting", "1.0.1") == in_plugin(newer)


@proves("claude-code 2.1.325", "plugin install (pinned)")
async def test_claude_installs_what_was_pinned__when_there_is_a_newer_version(
    claude: Claude, registry: LiveRegistry
) -> None:
    skill = await registry.publish("acme/tools/greeting", FILES)
    name = await claude.add(f"/skills/{skill.slug}")
    await registry.publish("acme/tools/greeting", {**FILES, "docs/how to.md": b"Loudly.\n"})
    await claude.do("install", f"greeting@{name}")
    assert claude.installed(name, "greeting", "1.0.0") == in_plugin(FILES)


@proves("claude-code 2.1.325", "plugin install (wrong pin)")
async def test_claude_refuses_a_plugin__when_its_pin_is_not_in_the_repository(
    claude: Claude, registry: LiveRegistry
) -> None:
    skill = await registry.publish("acme/tools/greeting", FILES)
    name = await claude.add(f"/skills/{skill.slug}")
    kept = claude.machine.home / ".claude" / "plugins" / "marketplaces" / name
    said = json.loads(kept.read_text())
    said["plugins"][0]["source"]["sha"] = "1" * 40
    kept.write_text(json.dumps(said))
    assert (await claude.run("install", f"greeting@{name}")).code != 0
    assert claude.installed(name, "greeting", "1.0.0") == {}


@proves("claude-code 2.1.325", "plugin install (blocked)")
async def test_claude_refuses_a_blocked_skill__that_its_marketplace_had(claude: Claude, registry: LiveRegistry) -> None:
    skill = await registry.publish("acme/tools/greeting", FILES)
    name = await claude.add(f"/skills/{skill.slug}")
    await registry.block(skill)
    assert (await claude.run("install", f"greeting@{name}")).code != 0
    assert (await claude.run("marketplace", "update", name)).code != 0
    await claude.do("marketplace", "remove", name)
    assert (await claude.run("marketplace", "add", f"{registry.address}/skills/{skill.slug}{MANIFEST}")).code != 0


@proves("claude-code 2.1.325", "plugin marketplace add (publisher, repository, collection, private path)")
async def test_claude_adds_the_marketplace_of_any_page(claude: Claude, registry: LiveRegistry) -> None:
    skill = await registry.publish("acme/tools/greeting", FILES)
    other = await registry.publish("acme/other/farewell")
    public = await collect(registry, "mine", skill.slug, other.slug)
    await collect(registry, "secret", other.slug, is_public=False)
    pages = {
        f"/publishers/{skill.slug.split('/')[0]}": {"greeting", "farewell"},
        f"/skills/{skill.slug.rpartition('/')[0]}": {"greeting"},
        public: {"greeting", "farewell"},
        await open_private_path(registry, "secret"): {"farewell"},
    }
    for page, plugins in pages.items():
        name = await claude.add(page)
        listed = (await registry.http.get(f"{page}{MANIFEST}")).json()["plugins"]
        assert {plugin["name"] for plugin in listed} == plugins
        await claude.do("install", f"{min(plugins)}@{name}")
