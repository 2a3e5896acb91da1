"""Ways to write a command so that a reader or a filter does not see it, and shapes that give a command away."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

from vskill_platform.scanning.tier1.code.shell.expansion import Expander
from vskill_platform.scanning.tier1.code.shell.files import SOCKETS
from vskill_platform.scanning.tier1.code.shell.syntax import (
    Compound,
    Function,
    Program,
    Redirection,
    Simple,
    Text,
    Word,
)
from vskill_platform.scanning.tier1.code.shell.values import Value

_WATCHED = (
    "curl wget bash sh zsh dash ksh nc ncat netcat socat eval base64 python python3 perl ruby node php powershell "
    "pwsh rm chmod crontab scp ssh "
    "env printenv source osascript openssl xxd dig nslookup cat"
)
WATCHED = frozenset(_WATCHED.split())
_FOLDERS = ("/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/")
_GLOB = re.compile(r"[?*\[]")
_PLAIN_GLOB = re.compile(r"[\w/.?*\[\]-]{2,40}")
SHELLS = frozenset(["sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "csh", "tcsh"])
_HISTORY_OFF = {
    "HISTFILE": ("", "/dev/null"),
    "HISTSIZE": ("0",),
    "HISTFILESIZE": ("0",),
    "HISTCONTROL": ("ignoreall",),
}


def is_disguised(word: Word) -> bool:
    """Whether a word that comes out as the name of a watched command does not show it."""
    if any(isinstance(part, Text) and part.is_spelled for part in word.parts):
        return True
    if len(word.parts) < 2:
        return False
    if not all(isinstance(part, Text) for part in word.parts):
        return sum(1 for part in word.parts if not (isinstance(part, Text) and not part.text)) > 1
    return not _is_plainly_quoted(word)


def _is_plainly_quoted(word: Word) -> bool:
    """`"curl"`, `'curl'` and `\\curl`, which only keep an alias away."""
    texts = [part for part in word.parts if isinstance(part, Text)]
    shown = [part for part in texts if part.text]
    if len(shown) == 1 and len(texts) == 2 and not texts[0].text:
        return True
    return (
        len(texts) == 2
        and texts[0].is_quoted
        and len(texts[0].text) == 1
        and not texts[1].is_quoted
        and word.end - word.start == len(shown[0].text) + len(shown[-1].text) + 1
    )


def has_glob(text: str) -> bool:
    """Whether a shell would look for files by this text."""
    return len(text) <= 40 and _GLOB.search(text) is not None


def found_by_glob(text: str) -> str:
    """The command that a shell would find by a pattern such as `/???/b?sh`; empty if it is none of interest."""
    if not text.startswith("/") or not _PLAIN_GLOB.fullmatch(text):
        return ""
    candidates = (folder + name for folder in _FOLDERS for name in sorted(WATCHED))
    return next((path for path in candidates if path.count("/") == text.count("/") and fnmatchcase(path, text)), "")


def is_fork_bomb(function: Function) -> bool:
    """Whether a function starts itself twice and leaves both running."""
    pending: list[Program] = [function.body]
    for _ in range(100):
        if not pending:
            break
        for pipeline in pending.pop().pipelines:
            own = [
                command
                for command in pipeline.commands
                if isinstance(command, Simple) and _first(command) == function.name
            ]
            if len(own) > 1 and pipeline.ending == "&":
                return True
            pending += [
                body for command in pipeline.commands if isinstance(command, Compound) for body in command.bodies
            ]
    return False


def _first(command: Simple) -> str:
    parts = command.words[0].parts if command.words else ()
    return "".join(part.text for part in parts if isinstance(part, Text))


def is_shell_on_socket(words: Sequence[Value], redirections: Sequence[Redirection], expander: Expander) -> bool:
    """Whether a shell gets a network connection for its input and its output."""
    if not redirections:
        return False
    names = {word.text.rpartition("/")[2] for word in words[:3]}
    if not names & (SHELLS | {"exec", "python", "python3", "perl", "ruby"}):
        return False
    on_socket = [
        r
        for r in redirections
        if r.operator in {">&", "<", "<>", ">", "&>", "<&"} and expander.value(r.target).text.startswith(SOCKETS)
    ]
    opens_only = names & {"exec"} and not names & SHELLS
    return bool(on_socket) and not opens_only and (len(redirections) > 1 or any(word.text == "-i" for word in words))


def switches_history_off(name: str, value: Value) -> bool:
    """Whether an assignment keeps the shell from remembering what was typed."""
    return name in _HISTORY_OFF and value.is_known and value.text in _HISTORY_OFF[name]
