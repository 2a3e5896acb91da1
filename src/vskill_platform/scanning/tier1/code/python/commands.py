"""Commands that a program starts: which program, which words, what a shell would see of it.

A text may have gaps (`UNKNOWN`), where only the running program knows what stands there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from vskill_platform.scanning.tier1.code.places import secret_at
from vskill_platform.scanning.tier1.code.printers import Printed, printed_by
from vskill_platform.scanning.tier1.code.python import catalogue
from vskill_platform.scanning.tier1.code.python.evaluation import Evaluator
from vskill_platform.scanning.tier1.code.python.model import Site
from vskill_platform.scanning.tier1.code.python.operators import text_of
from vskill_platform.scanning.tier1.code.python.values import (
    ENVIRONMENT,
    FILE,
    HIDDEN,
    IDENTITY,
    NAMED_KEY,
    NETWORK,
    NOTHING,
    OWN_SECRET,
    SECRET,
    UNKNOWN,
    Value,
    join,
)
from vskill_platform.scanning.tier1.code.python.vocabulary import words

LONGEST_COMMAND = 8_000
INTERPRETERS = re.compile(
    r"(?:ba|z|k|da|a|fi)?sh|cmd(?:\.exe)?|powershell(?:\.exe)?|pwsh|python[\d.]*|perl|ruby|node|php|osascript|deno|bun"
)
SHELL_PROGRAMS = re.compile(r"(?:ba|z|k|da|a|fi)?sh|cmd(?:\.exe)?|powershell(?:\.exe)?|pwsh")
_INPUTS = ("input", "stdin")
_SCRIPT_OPTIONS = words("-c -e -lc -ic -Command -command -enc -EncodedCommand /c /C -r --eval -p")
SENDERS = re.compile(
    r"(?:^|[|;&\s(/`])(?:curl|wget|nc|ncat|netcat|scp|sftp|rsync|ftp|socat|telnet|invoke-webrequest|iwr|irm|invoke-restmethod|nslookup|dig|host|httpie|http)(?:\.exe)?\s",
    re.IGNORECASE,
)
_AT_COMMAND = r"(?:^|[;&|(]\s*|\$\(\s*|`\s*|\b(?:sudo|exec|nohup|then|do|env|start|time)\s+)"
_RUNS_GAP = re.compile(
    rf"{_AT_COMMAND}[\"']?\0|\b(?:(?:ba|z|k|da)?sh|python[\d.]*|perl|ruby|node|php|source|osascript|pwsh|powershell|open|xdg-open)(?:\s+-\w+)*\s+[\"']?\0"
    rf"|(?:^|[;&]\s*)\.\s+[\"']?\0",
    re.IGNORECASE,
)
_EVALUATES_GAP = re.compile(
    rf"{_AT_COMMAND}(?:(?:ba|z|k|da)?sh|python[\d.]*|perl|ruby|node|php|pwsh|powershell|eval|cmd)(?:\s+-\w+)*\s+(?:-c|-e|/c|-r|-enc|-Command)\s*[\"']?\0|\beval\s+[\"']?\0",
    re.IGNORECASE,
)
_SECRET_READERS = re.compile(
    r"\b(?:security\s+(?:dump|export)|pbpaste|xclip\s|xsel\b|wl-paste|get-clipboard|keychain|mimikatz|vaultcmd|cmdkey\s+/list)",
    re.IGNORECASE,
)
_BETWEEN_COMMANDS = re.compile(r"[|;&\n]+")
_FILE_READERS = re.compile(
    r"\b(?:cat|type|less|more|head|tail|base64|xxd|od|strings|grep|awk|sed|tar|zip|get-content|gc|openssl|gpg)\b",
    re.IGNORECASE,
)
_ENVIRONMENT_READERS = re.compile(
    r"(?:^|[|;&]\s*)(?:env|printenv|set|export\s+-p)\s*(?:$|[|;&])|\bgci\s+env:|dir\s+env:", re.IGNORECASE
)
_IDENTITY_READERS = re.compile(
    r"^\s*(?:hostname|whoami|id|uname|ifconfig|ipconfig|systeminfo|sw_vers)\b", re.IGNORECASE
)
_FETCHER = re.compile(r"\b(?:curl|wget)\b")
_FETCHERS = re.compile(r"^\s*(?:curl|wget)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\s\"'<>|;&()]+")
_LOGIN_OPTIONS = re.compile(r"(?:^|\s)(?:-i|-E|--key|--cert|--cacert|--netrc-file|-o\s*IdentityFile)[= ]\s*\S+")
_OUTPUT = re.compile(r"(?:^|\s)(?:-o|-O|--output(?:-document)?)[ =]?[\"']?([^\s\"';&|]+)")


class Command(NamedTuple):
    """A command. `words` are those of a list; of a shell's line there is only `text`, which both have, gaps and all.

    `program` is the first word without its folders, where it is known. `script` is what an interpreter is told to run as a
    program; `given` is what is written to its input.
    """

    texts: tuple[str, ...]
    program: str
    words: tuple[Value, ...]
    is_shell: bool
    whole: Value
    script: Value | None = None
    given: Value = NOTHING


def command_of(evaluator: Evaluator, site: Site, name: str) -> Command:
    """The command that a call starts."""
    if name in catalogue.SPAWNERS or name.endswith("create_subprocess_exec"):
        return _from_words(evaluator, site)
    whole = evaluator.argument(site, catalogue.MAGICS.get(name, 0), "args", "cmd", "command", "line", "cell")
    is_fed = any(each.arg in _INPUTS for each in site.node.keywords)
    given = join([evaluator.argument(site, -1, each) for each in _INPUTS]) if is_fed else NOTHING
    if whole.items is not None or whole.inner is not None:
        return _listed_once(evaluator, whole, given, site)
    is_shell = name in catalogue.SHELLS or bool(evaluator.argument(site, -1, "shell").only) or _has_true(site, "shell")
    texts = _texts(whole)
    return Command(texts, _program(texts), (), is_shell, whole, whole if is_shell else None, given)


def _program(texts: tuple[str, ...]) -> str:
    """The first word without its folders, where it is known."""
    first = next((text.split(None, 1)[0] for text in texts if text.strip()), "")
    return "" if UNKNOWN in first else _last_part(first).strip("\"'")


def _from_words(evaluator: Evaluator, site: Site) -> Command:
    words = [evaluator.value(each, site.scope) for each in site.node.args]
    flat = [part for each in words for part in (each.items if each.items is not None else (each,))]
    return _listed(join(flat), flat, NOTHING, is_marked=_has_true(site, "shell"))


def _listed_once(evaluator: Evaluator, whole: Value, given: Value, site: Site) -> Command:
    """The command of a list. It is asked for by what looks at the call, and again by whatever the call's result becomes."""
    is_marked = _has_true(site, "shell")
    key = (id(whole), id(given), is_marked)
    known = evaluator.commands.get(key)
    if known is None:
        evaluator.commands[key] = known = _listed(whole, list(whole.items or ()), given, is_marked=is_marked)
    return known


def _listed(whole: Value, words: list[Value], given: Value, *, is_marked: bool) -> Command:
    texts = [_word_text(each) for each in words]
    if words and "sys.executable" in words[0].references:
        texts[0] = "python"
    script = None
    program = _last_part(texts[0]) if texts else ""
    if INTERPRETERS.fullmatch(program):
        at = next((number for number, text in enumerate(texts[1:4], start=1) if text in _SCRIPT_OPTIONS), 0)
        script = words[at + 1] if at and at + 1 < len(words) else None
    is_shell = is_marked or (script is not None and bool(SHELL_PROGRAMS.fullmatch(program)))
    lines = (" ".join(texts)[:LONGEST_COMMAND],)
    return Command(lines, _program(lines), tuple(words), is_shell, whole, script, given)


def _last_part(path: str) -> str:
    """What stands behind the last slash of either kind."""
    return path.rpartition("/")[2].rpartition("\\")[2]


def _word_text(word: Value) -> str:
    if len(word.constants) <= 1:
        return text_of(word)
    texts = word.texts
    return text_of(word) if len(texts) <= 1 else texts[0]


def _texts(whole: Value) -> tuple[str, ...]:
    return tuple(text[:LONGEST_COMMAND] for text in whole.texts) or (UNKNOWN,)


def _has_true(site: Site, name: str) -> bool:
    return any(each.arg == name and getattr(each.value, "value", None) is True for each in site.node.keywords)


def runs_gap(text: str) -> bool:
    """Whether what fills the gap is run, as a program or as a script."""
    return bool(_RUNS_GAP.search(text)) or evaluates_gap(text)


def evaluates_gap(text: str) -> bool:
    """Whether what fills the gap is the program itself: the line begins with it, or an interpreter is told to run it."""
    return text.lstrip().startswith(UNKNOWN) or bool(_EVALUATES_GAP.search(text))


def with_gaps(text: str, paths: Iterable[str]) -> str:
    """The text with a gap in place of each of these paths."""
    for path in paths:
        if len(path) > 2 and path in text:
            text = text.replace(path, UNKNOWN)
    return text


def secrets_in(text: str) -> list[str]:
    """The places of secrets that a command names."""
    plain = _LOGIN_OPTIONS.sub(" ", text[:LONGEST_COMMAND])
    words = [word.lstrip("@").partition("=@")[2] or word.lstrip("@") for word in _WORD.findall(plain)]
    return [word for word in words if ("/" in word or "." in word) and "://" not in word and secret_at(word)]


def downloaded_to(text: str) -> str:
    """The path that a command fetches something to; empty where it does not."""
    if _FETCHER.search(text) is None:
        return ""
    found = _OUTPUT.search(text)
    return found[1] if found else ""


def output_of(evaluator: Evaluator, site: Site, name: str) -> tuple[int, tuple[str, ...]]:
    """Where what a command prints comes from, and the name of the key that it is, if it is one."""
    command = command_of(evaluator, site, name)
    taint = command.whole.taint & ~(HIDDEN | NAMED_KEY | ENVIRONMENT)
    for text in command.texts:
        for printed in filter(None, map(_printed_by, _BETWEEN_COMMANDS.split(text[:LONGEST_COMMAND]))):
            if printed.variable:
                return NAMED_KEY, (printed.variable,)
            taint |= OWN_SECRET if printed.logs_in else SECRET
        if _SECRET_READERS.search(text) or (_FILE_READERS.search(text) and secrets_in(text)):
            taint |= SECRET
        if _ENVIRONMENT_READERS.search(text):
            taint |= ENVIRONMENT
        if _IDENTITY_READERS.match(text):
            taint |= IDENTITY
        if _FETCHERS.match(text):
            taint |= NETWORK
    return taint | FILE, ()


def _printed_by(text: str) -> Printed | None:
    words = text.split()
    return printed_by(_last_part(words[0]), words[1:]) if words else None
