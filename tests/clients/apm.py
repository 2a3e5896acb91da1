"""A person with apm: a project with a manifest, and runs of the real program."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.clients.programs import Machine, Ran, make_machine, python_program

REGISTRY = "ours"


@dataclass
class ApmProject:
    """An apm project on a machine of its own, whose default registry is the one at `base`."""

    machine: Machine
    base: str
    env: dict[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """The project's folder."""
        return self.machine.project

    async def run(self, *arguments: str, env: Mapping[str, str] | None = None) -> Ran:
        """Run apm in the project."""
        return await self.machine.run([*python_program("apm-cli", "apm"), *arguments], {**self.env, **(env or {})})

    async def succeed(self, *arguments: str) -> str:
        """Run apm, which must end well, and give what it said in one line."""
        ran = await self.run(*arguments)
        assert ran.code == 0, ran.text
        return one_line(ran)

    async def fail(self, *arguments: str, env: Mapping[str, str] | None = None) -> str:
        """Run apm, which must end badly, and give what it said in one line."""
        ran = await self.run(*arguments, env=env)
        assert ran.code != 0, ran.text
        return one_line(ran)

    def depend_on(self, *packages: str, version: str = "^1.0.0") -> None:
        """Write a manifest with these packages of the registry."""
        lines = [f"    - {{id: {package}, version: '{version}'}}" for package in packages]
        self.write_manifest(["dependencies:", "  apm:", *lines] if lines else [])

    def write_manifest(self, more: Sequence[str] = (), *, version: str = "1.0.0") -> None:
        """Write a manifest that names the registry."""
        lines = ["name: demo", f"version: {version}", "license: MIT", "targets: [claude]", "registries:"]
        lines += [f"  {REGISTRY}:", f"    url: {self.base}", f"  default: {REGISTRY}", *more]
        (self.folder / "apm.yml").write_text("\n".join([*lines, ""]))

    def write_skill(self, name: str, document: bytes) -> None:
        """Put a skill where apm packs it from."""
        place = self.folder / ".apm" / "skills" / name
        place.mkdir(parents=True, exist_ok=True)
        (place / "SKILL.md").write_bytes(document)

    def installed(self) -> dict[str, bytes]:
        """What has arrived where Claude Code looks for skills."""
        return self.machine.files(self.folder / ".claude" / "skills")

    def lock(self) -> str:
        """The lock file."""
        return (self.folder / "apm.lock.yaml").read_text()


def clone(project: ApmProject, folder: Path) -> ApmProject:
    """The same project on another machine: what was checked in, and nothing that was installed."""
    other = make_project(folder, project.base, env=project.env)
    for name in ("apm.yml", "apm.lock.yaml"):
        shutil.copy(project.folder / name, other.folder / name)
    return other


def one_line(ran: Ran) -> str:
    """What a run said, without the line breaks that the width of a terminal makes."""
    return " ".join(ran.text.split())


def make_project(folder: Path, base: str, *, env: Mapping[str, str] | None = None) -> ApmProject:
    """A project on a new machine that has switched registries on and knows this one."""
    machine = make_machine(folder)
    (machine.home / ".apm").mkdir()
    config = {"experimental": {"registries": True}, "registries": {REGISTRY: {"url": base}}}
    (machine.home / ".apm" / "config.json").write_text(json.dumps(config))
    return ApmProject(machine, base, dict(env or {}))
