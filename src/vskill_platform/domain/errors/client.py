"""What our own client met when it installed a skill, or served those that are installed."""

from __future__ import annotations

from vskill_platform.domain.errors.base import VskillError
from vskill_platform.domain.errors.general import InvalidInput


class InvalidLock(InvalidInput):
    """The lock file of installed skills cannot be read, contradicts itself, or was written by a newer version."""

    code = "invalid_lock"


class McpNotInstalled(InvalidInput):
    """The MCP server was asked for, and the `mcp` package, which speaks the protocol, is not installed."""

    code = "mcp_not_installed"


class ArchiveRefused(VskillError):
    """What a registry sent is not what it says that it has published. Nothing of it was installed."""

    code = "archive_refused"


class SkillBlocked(VskillError):
    """The blocklist of the registry stands against the skill, by its name, its repository or its bytes."""

    code = "skill_blocked"


class InstallFailed(VskillError):
    """A skill could not be written where it was to go. What was there before is as it was."""

    code = "install_failed"
