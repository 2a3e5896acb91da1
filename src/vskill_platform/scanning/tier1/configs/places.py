"""Which files configure an agent, an editor, a container or a repository, by where they stand and by what they hold.

A name is enough, and so is content: settings that a skill tells the agent to copy elsewhere may be called anything.
"""

from __future__ import annotations

import re
from enum import StrEnum

from vskill_platform.scanning.tier1.configs.json_text import read_json
from vskill_platform.scanning.tier1.configs.structured import Reader
from vskill_platform.scanning.tier1.configs.toml_text import read_ini, read_toml
from vskill_platform.scanning.tier1.configs.word_lists import words
from vskill_platform.scanning.tier1.configs.yaml_text import read_yaml
from vskill_platform.scanning.tier1.file_kinds import suffix_of
from vskill_platform.scanning.tier1.patterns import Pattern
from vskill_platform.scanning.tier1.views.glance import Sign


class Place(StrEnum):
    """What a file configures."""

    AGENT = "agent"
    EDITOR = "editor"
    WORKFLOW = "workflow"
    PRE_COMMIT = "pre-commit"
    RUNS_BY_ITSELF = "runs-by-itself"
    INSTRUCTIONS = "instructions"
    COMPOSE = "compose"


_AGENT_FOLDERS = words(
    ".claude .claude-plugin .cursor .gemini .codex .windsurf .codeium .opencode .continue .kiro .roo .cline .amp .qwen "
    ".zed .aider .junie .augment .factory .openclaw .clawdbot .goose .trae"
)
_AGENT_FILES = words(
    ".mcp.json mcp.json mcp_config.json mcp-config.json mcp_settings.json cline_mcp_settings.json "
    "claude_desktop_config.json opencode.json opencode.jsonc hooks.json plugin.json gemini-extension.json servers.json "
    "mise.toml .mise.toml "
    ".claude.json openai.yaml server.json smithery.yaml .goosehints"
)
_EDITOR_FOLDERS = words(".vscode .idea .devcontainer .fleet")
_EDITOR_FILES = words("devcontainer.json .devcontainer.json tasks.json launch.json")
_INSTRUCTIONS = words(
    "agents.md claude.md claude.local.md gemini.md qwen.md soul.md memory.md .cursorrules .windsurfrules .clinerules "
    "copilot-instructions.md agent.md .goosehints conventions.md"
)
_GIT_HOOKS = words(
    "applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg post-commit "
    "pre-rebase post-checkout post-merge pre-push post-rewrite fsmonitor-watchman reference-transaction post-update "
    "pre-receive update post-receive sendemail-validate pre-auto-gc"
)
_COMPOSE = re.compile(r"(?:docker-)?(?:compose|stack)(?:[.-][\w-]+)*\.ya?ml")
_READERS: dict[str, Reader] = {
    "json": read_json,
    "jsonc": read_json,
    "json5": read_json,
    "code-workspace": read_json,
    "yaml": read_yaml,
    "yml": read_yaml,
    "toml": read_toml,
    "ini": read_ini,
    "cfg": read_ini,
    "conf": read_ini,
}
_NAMES = (
    r"mcpServers|mcp_servers|context_servers|PreToolUse|PostToolUse|UserPromptSubmit|SessionStart|beforeShellExecution|"
    r"defaultMode|enableAllProjectMcpServers|folderOpen|postCreateCommand|initializeCommand|ANTHROPIC_BASE_URL|"
    r"inputSchema|input_schema|apiKeyHelper|approval_policy|autoApprove|model_providers|OTEL_LOG_USER_PROMPTS"
)
_SIGNS = Pattern(
    rf"{_NAMES}|[\"']parameters[\"']\s*:\s*\{{\s*[\"']type|"
    r"[\"']permissions[\"']\s*:\s*\{\s*[\"'](?:allow|deny|ask|additionalDirectories)[\"']|[\"']gateway[\"']\s*:\s*\{|[\"']type[\"']\s*:\s*[\"']command[\"']"
)
"""What only a file that configures an agent or an editor has in it."""
MAY_CONFIGURE = Sign(rf"{_NAMES}|[\"'](?:parameters|permissions|gateway|type)[\"']")
"""The same as far as it stands on one line: in a fenced block within a quotation, marks stand between the lines."""


def place_of(path: str) -> Place | None:
    """What a file configures by its path; None where its path does not tell."""
    *folders, name = path.replace("!/", "/").lower().split("/")
    if name in _INSTRUCTIONS:
        return Place.INSTRUCTIONS
    if name in (".pre-commit-config.yaml", ".pre-commit-config.yml", "lefthook.yml", ".lefthook.yml", "lefthook.yaml"):
        return Place.PRE_COMMIT
    if _COMPOSE.fullmatch(name):
        return Place.COMPOSE
    if folders[-2:] == [".github", "workflows"]:
        return Place.WORKFLOW
    if _runs_by_itself(folders, name):
        return Place.RUNS_BY_ITSELF
    if name in _AGENT_FILES or _AGENT_FOLDERS.intersection(folders):
        return Place.AGENT
    is_editor = name in _EDITOR_FILES or bool(_EDITOR_FOLDERS.intersection(folders)) or name.endswith(".code-workspace")
    return Place.EDITOR if is_editor else None


def looks_like_workflow(path: str, data: bytes) -> bool:
    """Whether a file is a workflow of a forge that is to be copied to its place."""
    return path.lower().endswith((".yml", ".yaml")) and b"runs-on:" in data and b"jobs:" in data


def looks_like_configuration(data: bytes) -> bool:
    """Whether a text is that of a file that configures an agent or an editor, whatever its name."""
    return _SIGNS.is_in(data)


def reader_for(path: str, text: str) -> Reader | None:
    """How the file is read: by its extension, or else as JSON if it begins like JSON."""
    named = _READERS.get(suffix_of(path))
    return named or (read_json if text.lstrip("\ufeff \t\r\n")[:1] in ("{", "[") else None)


def _runs_by_itself(folders: list[str], name: str) -> bool:
    """Whether a file is a script that git or a shell runs without being asked."""
    if name in (".envrc", ".autoenv"):
        return True
    if folders[-1:] == [".husky"]:
        return name not in (".gitignore", "_")
    return (
        name in _GIT_HOOKS
        and bool(folders)
        and folders[-1] in ("hooks", ".githooks", ".git-hooks", "githooks", "git-hooks")
    )
