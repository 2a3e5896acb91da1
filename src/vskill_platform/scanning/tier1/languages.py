"""Which programming language a file or a fenced block is in."""

from __future__ import annotations

import re
from enum import StrEnum
from itertools import islice

from vskill_platform.scanning.tier1.file_kinds import suffix_of


class Language(StrEnum):
    """A language that the scanner reads as code."""

    PYTHON = "python"
    SHELL = "shell"
    JAVASCRIPT = "javascript"
    TYPESCRIPT = "typescript"
    POWERSHELL = "powershell"
    RUBY = "ruby"
    PERL = "perl"
    PHP = "php"
    LUA = "lua"
    GO = "go"
    RUST = "rust"
    CSHARP = "csharp"
    JAVA = "java"
    """Java and what is written much like it: Kotlin, Groovy, Scala."""
    SWIFT = "swift"
    APPLESCRIPT = "applescript"
    BATCH = "batch"
    VISUAL_BASIC = "visual-basic"
    R = "r"


_SUFFIXES = {
    Language.PYTHON: "py pyw",
    Language.SHELL: "sh bash zsh ksh command",
    Language.JAVASCRIPT: "js mjs cjs jsx",
    Language.TYPESCRIPT: "ts mts cts tsx",
    Language.POWERSHELL: "ps1 psm1",
    Language.RUBY: "rb rake gemspec",
    Language.PERL: "pl pm",
    Language.PHP: "php phtml",
    Language.LUA: "lua",
    Language.GO: "go",
    Language.RUST: "rs",
    Language.CSHARP: "cs csx",
    Language.JAVA: "java kt kts groovy scala gradle",
    Language.SWIFT: "swift",
    Language.APPLESCRIPT: "applescript scpt",
    Language.BATCH: "bat cmd",
    Language.VISUAL_BASIC: "vbs vba bas",
    Language.R: "r",
}
_FENCES = {
    Language.PYTHON: "python py python3 pycon",
    Language.SHELL: "! bash sh shell zsh ksh console terminal shell-session shellsession shellscript",
    Language.JAVASCRIPT: "javascript js jsx node mjs cjs",
    Language.TYPESCRIPT: "typescript ts tsx",
    Language.POWERSHELL: "powershell ps1 pwsh posh",
    Language.RUBY: "ruby rb",
    Language.PERL: "perl pl",
    Language.PHP: "php",
    Language.LUA: "lua",
    Language.GO: "go golang",
    Language.RUST: "rust rs",
    Language.CSHARP: "csharp cs c#",
    Language.JAVA: "java kotlin kt groovy scala",
    Language.SWIFT: "swift",
    Language.APPLESCRIPT: "applescript osascript",
    Language.BATCH: "bat batch cmd",
    Language.VISUAL_BASIC: "vbs vbscript vba vb",
    Language.R: "r",
}
_OF_SUFFIX = {suffix: language for language, suffixes in _SUFFIXES.items() for suffix in suffixes.split()}
_OF_FENCE = {name: language for language, names in _FENCES.items() for name in names.split()}
_INTERPRETERS = (
    (re.compile(rb"python|uv run"), Language.PYTHON),
    (re.compile(rb"\b(?:ba|z|k|da|a)?sh\b"), Language.SHELL),
    (re.compile(rb"\b(?:node|deno|bun)\b"), Language.JAVASCRIPT),
    (re.compile(rb"\bpwsh\b"), Language.POWERSHELL),
    (re.compile(rb"\bruby\b"), Language.RUBY),
    (re.compile(rb"\bperl\b"), Language.PERL),
    (re.compile(rb"\bphp\b"), Language.PHP),
    (re.compile(rb"\blua(?:jit)?\b"), Language.LUA),
    (re.compile(rb"\bosascript\b"), Language.APPLESCRIPT),
    (re.compile(rb"\bRscript\b"), Language.R),
)


def language_of_file(path: str, content: bytes) -> Language | None:
    """The language by extension, or else by the interpreter behind `#!`, or by how what scripts read in begins its lines."""
    suffix = suffix_of(path)
    return (
        _OF_SUFFIX.get(suffix)
        or _language_of_interpreter(content)
        or _language_of_included(suffix, content)
        or _language_of_template(path, suffix, content)
    )


_TEMPLATES = frozenset(["tpl", "tmpl", "template", "in", "dist", "sample", "j2"])
"""Extensions of what some program fills in and writes to a file."""
_OF_COMMANDS = frozenset(["sh", "bash", "zsh", "ps1"])
_CMDLET = re.compile(rb"(?i)(?m)^[^#\n]*?\b(?:Get|Set|Invoke|Out|Start|New|Remove|Register|Write)-[A-Z][a-z]+[A-Za-z]*")
FEWEST_CMDLETS = 3
_INCLUDED = frozenset(["inc", "lib", "func", "funcs", "functions", "subr", "rc", "common"])
"""Extensions that say that a file is read in by others, and not what it is written in."""
_SHELL_FUNCTION = re.compile(rb"(?m)^(?:function )?[\w-]+ ?\(\) ?\{")
_SHELL_WORD = re.compile(rb"(?m)^\s*(?:local |fi\b|done\b|esac\b|\w+=\$\(|return \d|echo |printf )")
MAY_BE_COMMANDS = frozenset([None, Language.SHELL, Language.POWERSHELL, Language.BATCH])
"""Languages of what is run as it stands; None where a file or block says nothing of its own."""


def language_of_fence(name: str) -> Language | None:
    """The language that a fenced block says it is in."""
    return _OF_FENCE.get(name)


def _language_of_included(suffix: str, content: bytes) -> Language | None:
    is_shell = suffix in _INCLUDED and _SHELL_FUNCTION.search(content) and _SHELL_WORD.search(content)
    return Language.SHELL if is_shell else None


def _language_of_template(path: str, suffix: str, content: bytes) -> Language | None:
    """What a template of a script is a template of: by the extension before its own, or because it calls what PowerShell has."""
    if suffix not in _TEMPLATES:
        return None
    inner = suffix_of(path[: -len(suffix) - 1])
    if inner in _OF_COMMANDS:
        return _OF_SUFFIX[inner]
    calls = sum(1 for _ in islice(_CMDLET.finditer(content), FEWEST_CMDLETS))
    return Language.POWERSHELL if calls == FEWEST_CMDLETS else None


def _language_of_interpreter(content: bytes) -> Language | None:
    if not content.startswith(b"#!"):
        return None
    line = content[2:200].partition(b"\n")[0]
    return next((language for pattern, language in _INTERPRETERS if pattern.search(line)), None)
