"""Which programming language a file or a fenced block is in."""

from __future__ import annotations

import re
from enum import StrEnum

from vskill_platform.scanning.tier1.file_kinds import suffix_of


class Language(StrEnum):
    """A language that the scanner reads as code."""

    PYTHON = "python"
    SHELL = "shell"
    JAVASCRIPT = "javascript"
    TYPESCRIPT = "typescript"
    POWERSHELL = "powershell"


_SUFFIXES = {
    Language.PYTHON: "py pyw",
    Language.SHELL: "sh bash zsh ksh command",
    Language.JAVASCRIPT: "js mjs cjs jsx",
    Language.TYPESCRIPT: "ts mts cts tsx",
    Language.POWERSHELL: "ps1 psm1",
}
_FENCES = {
    Language.PYTHON: "python py python3 pycon",
    Language.SHELL: "bash sh shell zsh ksh console terminal shell-session shellsession shellscript",
    Language.JAVASCRIPT: "javascript js jsx node mjs cjs",
    Language.TYPESCRIPT: "typescript ts tsx",
    Language.POWERSHELL: "powershell ps1 pwsh posh",
}
_OF_SUFFIX = {suffix: language for language, suffixes in _SUFFIXES.items() for suffix in suffixes.split()}
_OF_FENCE = {name: language for language, names in _FENCES.items() for name in names.split()}
_INTERPRETERS = (
    (re.compile(rb"python|uv run"), Language.PYTHON),
    (re.compile(rb"\b(?:ba|z|k|da|a)?sh\b"), Language.SHELL),
    (re.compile(rb"\b(?:node|deno|bun)\b"), Language.JAVASCRIPT),
    (re.compile(rb"\bpwsh\b"), Language.POWERSHELL),
)


def language_of_file(path: str, content: bytes) -> Language | None:
    """The language by extension, or else by the interpreter behind `#!`."""
    named = _OF_SUFFIX.get(suffix_of(path))
    return named or _language_of_interpreter(content)


def language_of_fence(name: str) -> Language | None:
    """The language that a fenced block says it is in."""
    return _OF_FENCE.get(name)


def _language_of_interpreter(content: bytes) -> Language | None:
    if not content.startswith(b"#!"):
        return None
    line = content[2:200].partition(b"\n")[0]
    return next((language for pattern, language in _INTERPRETERS if pattern.search(line)), None)
