"""Programs of other makes: where `make` has put them, and one run of one in a home that has nothing in it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CLIENTS = ROOT / ".venv" / "clients"
LIMIT_S = 120.0
QUIET = {
    "CI": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAWHUB_DISABLE_TELEMETRY": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
    "GIT_CONFIG_NOSYSTEM": "1",
    "LC_ALL": "C.UTF-8",
    "NO_COLOR": "1",
    "NO_UPDATE_NOTIFIER": "1",
    "TERM": "dumb",
    "VSKILL_NO_TELEMETRY": "1",
}


def npm_program(name: str, version: str, *, node: int) -> list[str]:
    """The command of an npm package in a version, on a Node of npm's: `npm_program("skills", "1.7.4", node=22)`."""
    program = CLIENTS / f"{name}-{version}" / "node_modules" / ".bin" / name
    if not program.exists():
        pytest.skip(f"{name} {version} is not installed: `make test-clients` installs it")
    return [str(CLIENTS / f"node-{node}" / "node_modules" / ".bin" / "node"), str(program)]


def claude_program(version: str) -> list[str]:
    """Claude Code in a version, which is a program of its own for each kind of machine."""
    maker = CLIENTS / f"claude-{version}" / "node_modules" / "@anthropic-ai"
    found = sorted(maker.glob("claude-code-*/claude"))
    if not found:
        pytest.skip(f"Claude Code {version} is not installed: `make test-claude` installs it")
    return [str(found[0])]


def python_program(package: str, command: str) -> list[str]:
    """The command of a Python package: `python_program("apm-cli", "apm")`."""
    program = CLIENTS / package / "bin" / command
    if not program.exists():
        pytest.skip(f"{package} is not installed: `make test` installs it")
    return [str(program)]


@dataclass(frozen=True)
class Ran:
    """How a run ended, and everything that it said."""

    code: int
    output: str
    errors: str

    @property
    def text(self) -> str:
        """What it said, on either channel."""
        return f"{self.output}\n{self.errors}"


@dataclass(frozen=True)
class Machine:
    """A person's machine with nothing on it: an empty home, an empty project, and nothing of our environment but the path."""

    home: Path
    project: Path

    async def run(
        self, argv: Sequence[str], env: Mapping[str, str] | None = None, *, given: bytes = b"", cwd: Path | None = None
    ) -> Ran:
        """Run a program to its end in the project's folder."""
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=cwd or self.project,
            env={"PATH": os.environ["PATH"], "HOME": str(self.home), **QUIET, **(env or {})},
        )
        try:
            async with asyncio.timeout(LIMIT_S):
                output, errors = await process.communicate(given)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        assert process.returncode is not None
        return Ran(process.returncode, output.decode(errors="replace"), errors.decode(errors="replace"))

    def files(self, folder: Path | None = None) -> dict[str, bytes]:
        """Every file below a folder of the machine, by its path there."""
        start = folder or self.project
        return {
            str(path.relative_to(start)): path.read_bytes()
            for path in sorted(start.rglob("*"))
            if path.is_file() and not path.is_symlink()
        }


def make_machine(folder: Path) -> Machine:
    """A machine in a folder."""
    machine = Machine(folder / "home", folder / "project")
    machine.home.mkdir(parents=True)
    machine.project.mkdir(parents=True)
    return machine
