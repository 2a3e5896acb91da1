"""Where agents look for skills, as data, and which agents are there.

In a project most agents read the shared `.agents/skills`; for all projects of a person each has a folder of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from vskill_platform.domain.errors import FolderTaken, InvalidInput

LOCK_NAME = "vskill.lock.json"
SHARED = "shared"
EVERY = "all"


class Agent(NamedTuple):
    """An agent: its folder in a project, its folder for all projects, and what shows that a project or a person uses it."""

    name: str
    title: str
    project_folder: str
    user_folder: str
    project_marks: tuple[str, ...] = ()
    user_marks: tuple[str, ...] = ()


AGENTS = {
    agent.name: agent
    for agent in (
        Agent(SHARED, "Shared by agents", ".agents/skills", "{home}/.agents/skills", (".agents",), ("{home}/.agents",)),
        Agent(
            "claude-code", "Claude Code", ".claude/skills", "{claude}/skills", (".claude", "CLAUDE.md"), ("{claude}",)
        ),
        Agent("codex", "Codex", ".agents/skills", "{codex}/skills", (".codex",), ("{codex}",)),
        Agent("cursor", "Cursor", ".agents/skills", "{home}/.cursor/skills", (".cursor",), ("{home}/.cursor",)),
        Agent("gemini-cli", "Gemini CLI", ".agents/skills", "{home}/.gemini/skills", (".gemini",), ("{home}/.gemini",)),
        Agent(
            "github-copilot",
            "GitHub Copilot",
            ".agents/skills",
            "{home}/.copilot/skills",
            (".github/copilot-instructions.md",),
            ("{home}/.copilot",),
        ),
        Agent(
            "opencode",
            "OpenCode",
            ".agents/skills",
            "{config}/opencode/skills",
            (".opencode", "opencode.json"),
            ("{config}/opencode",),
        ),
    )
}
"""Every agent by its name. CLAUDE_CONFIG_DIR, CODEX_HOME and XDG_CONFIG_HOME move three of them."""


@dataclass(frozen=True)
class Scope:
    """Where skills are installed: in one project, or for all projects of a person."""

    root: Path
    is_global: bool
    bases: Mapping[str, str]

    @property
    def lock_path(self) -> Path:
        """Where the lock file is."""
        return (self.root / ".agents" if self.is_global else self.root) / LOCK_NAME

    def folder_of(self, agent: Agent) -> Path:
        """Where the agent looks for skills."""
        return Path(agent.user_folder.format(**self.bases)) if self.is_global else self.root / agent.project_folder

    def detect(self) -> list[Agent]:
        """The agents that the project or its person uses; the shared folder where there is no sign of any."""
        found = [agent for agent in AGENTS.values() if agent.name != SHARED and self._uses(agent)]
        return found or [AGENTS[SHARED]]

    def _uses(self, agent: Agent) -> bool:
        used = any(Path(mark.format(**self.bases)).exists() for mark in agent.user_marks)
        return used or (not self.is_global and any((self.root / mark).exists() for mark in agent.project_marks))

    def shown(self, path: Path) -> str:
        """A path as people and the lock file read it: from the project on, or from the home folder on."""
        try:
            inner = path.relative_to(self.root).as_posix()
        except ValueError:
            return str(path)
        return f"~/{inner}" if self.is_global else inner

    def places(self, agents: Iterable[Agent], *, name: str) -> list[Path]:
        """The folders that a skill of this name lies in for these agents, each once. Raises FolderTaken.

        A project's own link from one agent's folder to another's is followed; one that leads out of the project is not.
        """
        found: dict[Path, Path] = {}
        for agent in agents:
            folder = self.folder_of(agent)
            real = folder.resolve()
            if not self.is_global and not real.is_relative_to(self.root.resolve()):
                raise FolderTaken(
                    f"{self.shown(folder)} leads out of the project, to {real}. Remove that link, or install with --global."
                )
            found.setdefault(real, folder / name)
        return list(found.values())


def project_scope(root: Path, *, environ: Mapping[str, str]) -> Scope:
    """The scope of one project."""
    return Scope(root=root.absolute(), is_global=False, bases=_bases(environ))


def user_scope(environ: Mapping[str, str]) -> Scope:
    """The scope of all projects of a person."""
    bases = _bases(environ)
    return Scope(root=Path(bases["home"]), is_global=True, bases=bases)


def choose_agents(names: Sequence[str], *, scope: Scope) -> list[Agent]:
    """The agents that were named, or those that are there. Raises InvalidInput for a name that nobody has."""
    if not names:
        return scope.detect()
    if EVERY in names:
        return list(AGENTS.values())
    unknown = [name for name in names if name not in AGENTS]
    if unknown:
        raise InvalidInput(f"No agent is called '{unknown[0]}'. There are: {', '.join([*AGENTS, EVERY])}.")
    return [AGENTS[name] for name in dict.fromkeys(names)]


def _bases(environ: Mapping[str, str]) -> dict[str, str]:
    home = environ.get("HOME") or str(Path.home())
    return {
        "home": home,
        "claude": environ.get("CLAUDE_CONFIG_DIR") or f"{home}/.claude",
        "codex": environ.get("CODEX_HOME") or f"{home}/.codex",
        "config": environ.get("XDG_CONFIG_HOME") or f"{home}/.config",
    }
