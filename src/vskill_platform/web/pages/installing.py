"""How a version is installed: with a client that people have, or by hand: fetch the archive, compare its digest, unpack it."""

from __future__ import annotations

from typing import NamedTuple

from vskill_platform.client.agents import AGENTS, SHARED, Agent
from vskill_platform.web.clients.listing import entry_name
from vskill_platform.web.clients.marketplace import marketplace_name
from vskill_platform.web.pages.skill_frame import Frame

HOMES = {"home": "~", "claude": "~/.claude", "codex": "~/.codex", "config": "~/.config"}
"""Where the folders of agents are unless a person has moved them."""


class Client(NamedTuple):
    """A client, its command, and a note on what it does.

    The command may name `{site}`, `{page}` (of this version), `{slug}`, `{owner}`, `{repo}`, `{skill}`, `{name}` (what
    clients call the skill), `{version}` and `{marketplace}`.
    """

    key: str
    name: str
    command: str
    note: str


CLIENTS = (
    Client(
        "skills", "skills", "npx skills add {page}", "Installs this skill and nothing else, and compares its digest."
    ),
    Client(
        "vskill-platform",
        "vskill-platform",
        "vskill-platform install {slug}@{version} \\\n  --server {site}",
        "Our own client: compares every byte, writes a lock file, and tells when what is installed was blocked or yanked since.",
    ),
    Client(
        "claude-code",
        "Claude Code",
        "claude plugin marketplace add \\\n  {page}/.claude-plugin/marketplace.json &&\n"
        "claude plugin install {name}@{marketplace}",
        "Installs this skill as a plugin, pinned to the commit of this version.",
    ),
    Client(
        "git",
        "git",
        "git clone --branch v{version} \\\n  {site}/git/{slug}.git",
        "The verified files are in skills/{name}. Every version that is handed out has a tag; main is the newest.",
    ),
    Client(
        "clawhub",
        "clawhub",
        "clawhub --site {site} \\\n  install {owner}.{repo}.{skill} --version {version}",
        "The client of OpenClaw, as it is. It refuses what this registry has blocked.",
    ),
    Client(
        "apm",
        "apm",
        "apm install {owner}/{repo}_{skill}#{version}",
        "With `url: {site}/apm` among the registries of apm.yml. Compares the digest and writes a lock file.",
    ),
)
"""Every client that can be told to install a skill from here, one a line."""


class Way(NamedTuple):
    """An agent, and the command that installs a version for it."""

    agent: Agent
    command: str


def install_ways(frame: Frame, *, site: str) -> list[Way]:
    """A way for each agent. The command ends before anything is unpacked where the bytes are not those that were verified."""
    name = frame.skill.slug.rpartition("/")[2]
    archive = f"{name}.zip"
    digest = frame.version.zip_digest.removeprefix("sha256:")
    agents = sorted(AGENTS.values(), key=lambda agent: agent.name == SHARED)
    personal = {agent.name: agent.user_folder.format(**HOMES) for agent in agents}
    return [
        Way(
            agent,
            f"curl -fsSo {archive} \\\n  {site}{frame.archive} &&\n"
            f"echo '{digest}  {archive}' |\n  sha256sum -c - &&\n"
            f"mkdir -p {personal[agent.name]} &&\n"
            f"unzip -qo {archive} -d {personal[agent.name]}/{name}",
        )
        for agent in agents
    ]


class ClientWay(NamedTuple):
    """A client, the command that installs a version with it, and the note."""

    client: Client
    command: str
    note: str


def client_ways(frame: Frame, *, site: str) -> list[ClientWay]:
    """A way for each client that people may have."""
    owner, repo, skill = frame.skill.slug.split("/")
    about = {
        "site": site,
        "page": f"{site}{frame.home if frame.is_newest else frame.version_home}",
        "slug": frame.skill.slug,
        "owner": owner,
        "repo": repo,
        "skill": skill,
        "name": entry_name(frame.version.name, slug=frame.skill.slug),
        "version": frame.version.version,
        "marketplace": marketplace_name(frame.skill.slug),
    }
    return [ClientWay(client, client.command.format_map(about), client.note.format_map(about)) for client in CLIENTS]
