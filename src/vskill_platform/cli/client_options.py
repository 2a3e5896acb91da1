"""What the commands of our own client share: which registry, which project, and how they end."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import typer

from vskill_platform.cli.options import settings_from
from vskill_platform.client.agents import AGENTS, EVERY, Scope, project_scope, user_scope
from vskill_platform.client.lock_file import LockedSkill
from vskill_platform.client.skills import parse_wish
from vskill_platform.client.standing import server_of
from vskill_platform.domain.errors import InvalidInput, NotFound
from vskill_platform.ingest.limits import SkillLimits, skill_limits

DIFFERS = 3
"""The exit code where something differs, or is outdated, and nothing worse."""
TAKEN_BACK = 4
"""The exit code where something that is installed was blocked, yanked or withdrawn since."""
REGISTRY = typer.Option(
    "",
    "--server",
    envvar=["VSKILL_PLATFORM_SERVER", "VSKILL_SERVER"],
    help="Address of the registry, or of a private path of it. Default: VSKILL_PLATFORM_SERVER, else that of the lock file.",
    show_default=False,
)
TOKEN_FILE = typer.Option(
    None,
    "--token-file",
    envvar="VSKILL_PLATFORM_TOKEN_FILE",
    help="File with an API token for the registry. Default: VSKILL_PLATFORM_TOKEN, else none.",
    show_default=False,
)
PROJECT = typer.Option(
    Path(), "--project", metavar="FOLDER", help="The project. Default: the folder you are in.", show_default=False
)
GLOBAL = typer.Option(False, "--global", "-g", help="For all of your projects instead of this one.")
AGENT = typer.Option(
    [],
    "--agent",
    "-a",
    metavar="NAME",
    help=f"For which agents, may come several times: {', '.join([*AGENTS, EVERY])}. Default: those that are there.",
    show_default=False,
)
_MAX_TOKEN_BYTES = 4096


def scope_of(project: Path, *, is_global: bool) -> Scope:
    """Where skills are installed. Raises InvalidInput for a project that is no folder."""
    if is_global:
        return user_scope(os.environ)
    if not project.is_dir():
        raise InvalidInput(f"There is no folder '{project}'. Name the project's with --project.")
    return project_scope(project, environ=os.environ)


def token_of(token_file: Path | None) -> str:
    """The token that the caller has put in a file or in the environment; empty where there is none. Raises InvalidInput."""
    if token_file is None:
        return os.environ.get("VSKILL_PLATFORM_TOKEN", "").strip()
    try:
        with token_file.open("rb") as file:
            token = file.read(_MAX_TOKEN_BYTES).decode("ascii").strip()
    except (OSError, UnicodeDecodeError) as exc:
        raise InvalidInput(f"The token file {token_file} cannot be read ({type(exc).__name__}).") from exc
    if not token or not token.isprintable() or " " in token:
        raise InvalidInput(f"There is no token in {token_file}. It holds one line: the token.")
    return token


def require_server(server: str) -> str:
    """The registry's address. Raises InvalidInput where none was given."""
    if not server:
        raise InvalidInput("No registry is named. Name one with --server, or in VSKILL_PLATFORM_SERVER.")
    return server


def server_and_token(server: str, token_file: Path | None, *, installed: Sequence[LockedSkill]) -> tuple[str, str]:
    """The registry to ask, and the token for it. A registry that only the lock file names gets no token."""
    return (server, token_of(token_file)) if server else (server_of(installed), "")


def named_among(installed: list[LockedSkill], wishes: Sequence[str]) -> list[LockedSkill]:
    """The installed skills that were named, all where none was. Raises NotFound for one that is not installed."""
    chosen = []
    for wish in wishes:
        named = parse_wish(wish).skill
        found = [skill for skill in installed if named in (skill.slug, skill.name)]
        if not found:
            there = f"Installed are: {', '.join(one.slug for one in installed)}." if installed else "Nothing is."
            raise NotFound(f"'{named}' is not installed here. {there}")
        chosen += found
    return chosen if wishes else installed


def client_limits() -> SkillLimits:
    """How large a skill may be: as the settings of a registry say."""
    return skill_limits(settings_from())
