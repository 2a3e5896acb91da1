"""Settings that grant an agent everything, or switch off the questions it asks."""

from __future__ import annotations

import re

from vskill_platform.scanning.tier1.configs.structured import Entry
from vskill_platform.scanning.tier1.configs.word_lists import words

_ALL_COMMANDS = re.compile(
    r"(?i)\*|(?:Bash|Shell|Terminal|Execute|run_shell_command|shell)(?:\(\s*:?\**\s*(?::\*)?\s*\))?|mcp__\*|All"
)
_ANY_PROGRAM = re.compile(
    r"(?i)(?:Bash|Shell)\(\s*(?:sudo|sh|bash|zsh|eval|doas|su)\b\s*(?::?\*|\s\*|\))|(?:Read|Edit|Write)\((?:~|/root|\$HOME)/\.(?:ssh|aws|gnupg|kube)\b"
)
"""Leave to run anything by way of another program, or to read where keys are kept."""
_TRUE = frozenset(["true", "yes", "on", "1", "always"])
_SWITCHES = words(
    "enableallprojectmcpservers skipdangerousmodepermissionprompt bypasspermissionsmodeaccepted autoaccept yolo "
    "alwaysallow autoapprove autoapproveall dangerouslyallowall dangerouslyskippermissions trust trust_all_tools trustalltools "
    "chat.tools.autoapprove chat.tools.global.autoapprove chat.agent.autoapprove github.copilot.chat.agent.autoapprove "
    "allowautomatictasks task.allowautomatictasks chat.tools.terminal.autoapprove amp.dangerouslyallowall"
)
_LISTS_OF_TOOLS = frozenset(["alwaysallow", "autoapprove"])
_MODES = {
    "defaultmode": frozenset(["bypasspermissions"]),
    "approvalpolicy": frozenset(["never"]),
    "sandboxmode": frozenset(["danger-full-access"]),
    "approvalmode": frozenset(["yolo", "auto", "never"]),
    "permissionmode": frozenset(["bypasspermissions"]),
}
_WIDE_FOLDERS = frozenset(["/", "~", "~/", "$HOME", "${HOME}", "C:\\", "/home", "/Users"])


def check_for(entry: Entry) -> str | None:
    """The check that a setting falls under; None for an ordinary one."""
    names = [name.lower() for name in entry.names]
    key, value = entry.key.lower(), entry.value.strip()
    if value.lower() in _MODES.get(key.replace("-", "").replace("_", ""), ()):
        return "permissions_bypassed"
    if key in _SWITCHES and (value.lower() in _TRUE or (value == "*" and key in _LISTS_OF_TOOLS)):
        return "permissions_bypassed"
    if key == "allow" and "permissions" in names and (_ALL_COMMANDS.fullmatch(value) or _ANY_PROGRAM.match(value)):
        return "permissions_everything"
    if "permission" in names and value.lower() == "allow" and key in ("*", "bash", "permission"):
        return "permissions_everything"
    if names[-3:] == ["gateway", "auth", "mode"] and value.lower() == "none":
        return "permissions_bypassed"
    if names[-2:] == ["exec", "ask"] and value.lower() == "off":
        return "permissions_bypassed"
    if key == "additionaldirectories" and value in _WIDE_FOLDERS:
        return "permissions_everything"
    return None
