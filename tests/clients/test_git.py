"""The real git: every published skill is a repository, each version a tag."""

from __future__ import annotations

import pytest

from tests.clients.programs import Machine, Ran
from tests.clients.registry import LiveRegistry
from tests.clients.table import proves
from tests.pipeline.journey import skill_md

pytestmark = pytest.mark.clients
FILES = {"SKILL.md": skill_md("greeting"), "docs/how to.md": b"Say it kindly.\n"}


async def git(machine: Machine, *arguments: str) -> Ran:
    """Run git as somebody without any configuration."""
    ran = await machine.run(["git", *arguments], {"GIT_TERMINAL_PROMPT": "0"})
    assert ran.code == 0, ran.text
    return ran


@proves("git", "clone")
@proves("git", "pull")
async def test_git_clones_each_version_by_its_tag__and_pulls_the_next(registry: LiveRegistry, machine: Machine) -> None:
    skill = await registry.publish("acme/tools/greeting", FILES)
    url = f"{registry.address}/git/{skill.slug}.git"
    await git(machine, "clone", "--quiet", url, "mine")
    folder = machine.project / "mine"
    assert machine.files(folder / "skills") == {f"greeting/{path}": content for path, content in FILES.items()}
    await registry.publish("acme/tools/greeting", {**FILES, "docs/how to.md": b"Loudly.\n"})
    await git(machine, "-C", "mine", "pull", "--quiet", "--ff-only", "--tags")
    assert (folder / "skills/greeting/docs/how to.md").read_bytes() == b"Loudly.\n"
    assert (await git(machine, "-C", "mine", "tag")).output.split() == ["v1.0.0", "v1.0.1"]
    await git(machine, "clone", "--quiet", "--depth", "1", "--branch", "v1.0.0", url, "old")
    assert machine.files(machine.project / "old" / "skills" / "greeting") == FILES
    assert (await git(machine, "-C", "mine", "fsck", "--strict")).code == 0
