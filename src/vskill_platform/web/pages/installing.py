"""How a version is installed: fetch the archive, compare its digest, unpack it where an agent looks for skills."""

from __future__ import annotations

from typing import NamedTuple

from vskill_platform.web.pages.skill_frame import Frame


class Agent(NamedTuple):
    """An agent, and the folders in which it looks for skills: of a person, and of a project."""

    key: str
    name: str
    personal: str
    project: str


AGENTS = (
    Agent("claude", "Claude Code", "~/.claude/skills", ".claude/skills"),
    Agent("codex", "Codex", "~/.agents/skills", ".agents/skills"),
    Agent("cursor", "Cursor", "~/.cursor/skills", ".cursor/skills"),
    Agent("gemini", "Gemini CLI", "~/.gemini/skills", ".gemini/skills"),
    Agent("copilot", "Copilot", "~/.copilot/skills", ".github/skills"),
    Agent("opencode", "OpenCode", "~/.config/opencode/skills", ".opencode/skills"),
    Agent("shared", "Others", "~/.agents/skills", ".agents/skills"),
)


class Way(NamedTuple):
    """An agent, and the command that installs a version for it."""

    agent: Agent
    command: str


def install_ways(frame: Frame, *, site: str) -> list[Way]:
    """A way for each agent. The command ends before anything is unpacked where the bytes are not those that were verified."""
    name = frame.skill.slug.rpartition("/")[2]
    archive = f"{name}.zip"
    digest = frame.version.zip_digest.removeprefix("sha256:")
    return [
        Way(
            agent,
            f"curl -fsSo {archive} \\\n  {site}{frame.archive} &&\n"
            f"echo '{digest}  {archive}' |\n  sha256sum -c - &&\n"
            f"mkdir -p {agent.personal} &&\n"
            f"unzip -qo {archive} -d {agent.personal}/{name}",
        )
        for agent in AGENTS
    ]
