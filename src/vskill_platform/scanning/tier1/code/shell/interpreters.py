"""What runs text as code: shells, `eval`, `source`, other languages' interpreters, and files run by their path."""

from __future__ import annotations

import re

from vskill_platform.scanning.tier1.code.hosts import UNKNOWN, HostKind
from vskill_platform.scanning.tier1.code.places import DATA_SUFFIXES, plain_path
from vskill_platform.scanning.tier1.code.shell import checks
from vskill_platform.scanning.tier1.code.shell.calls import Call, handles
from vskill_platform.scanning.tier1.code.shell.inline_code import notice_inline_code
from vskill_platform.scanning.tier1.code.shell.values import NOTHING, Source, Value, joined, unknown
from vskill_platform.scanning.tier1.file_kinds import suffix_of
from vskill_platform.scanning.tier1.languages import language_of_file
from vskill_platform.scanning.tier1.skill import FactKind

SHELLS = "sh bash zsh dash ksh ash fish csh tcsh rbash mksh"
LANGUAGES = (
    "python python2 python3 pypy pypy3 perl ruby node nodejs deno bun php lua luajit osascript pwsh powershell "
    "tclsh Rscript swift groovy"
)
_INLINE = {
    "python": "c",
    "pypy": "c",
    "perl": "eE",
    "ruby": "e",
    "node": "ep",
    "deno": "",
    "bun": "e",
    "php": "r",
    "lua": "e",
    "osascript": "e",
    "Rscript": "e",
    "groovy": "e",
}
_OWN_INPUT = frozenset(["/dev/stdin", "/proc/self/fd/0", "/dev/fd/0"])
_BIN_FOLDERS = ("/usr/local/bin/", "/usr/bin/", "/opt/bin/", "~/bin/", "~/.local/bin/")
_VERSION = re.compile(r"(?<=[a-z])[\d.]+\Z")
_EXEMPT_SOURCES = frozenset(["env", "envrc", "conf", "cfg", "txt", "sample", "local"])
"""What people do read into their shell."""
_SETTINGS = re.compile(r"(?:^|/)\.?env(?:[.\w-]*)?\Z")
_SETTINGS_SUFFIXES = frozenset(["json", "jsonc", "yaml", "yml", "toml"])
_CUT_SHORT = re.compile(r"[A-Za-z0-9+/]{0,200}(?:\.{3}|…)")
"""An encoded command that ends in dots, which no interpreter takes: it stands for one that is not shown."""


def run_code(call: Call, code: Value, *, is_shell: bool, language: str = "shell") -> Value:
    """Notices where the code comes from, and follows it where it is fixed shell text."""
    machine = call.machine
    machine.act(call.at)
    notice_origin(call, code)
    if code.comes_from(Source.NETWORK) or code.comes_from(Source.SOCKET):
        return unknown(call.name, origins=code.origins)
    if not is_shell:
        origins = notice_inline_code(call, code, language)
        return unknown(call.name, origins=call.stdin.origins | origins)
    if not code.is_known:
        call.know(FactKind.EVALUATES, call.name)
    return machine.run_inner(code.text, stdin=call.stdin, at=call.at) if code.text else NOTHING


def notice_origin(call: Call, code: Value) -> None:
    """Reports code that came from somewhere else than the skill."""
    if code.comes_from(Source.SOCKET):
        call.see(checks.reverse_shell(code.details(Source.SOCKET)[0]))
    if code.comes_from(Source.NETWORK):
        _notice_download(call, code)
    elif checks.gravest_kind(code.details(Source.UNPACKED)) in {HostKind.NAMED, HostKind.THROWAWAY}:
        call.see(checks.RUNS_UNPACKED)
    if code.comes_from(Source.DECODED):
        is_given = code.is_known or code.comes_from(Source.FILE)
        call.see(checks.RUNS_DECODED if is_given else checks.RUNS_DECODED_VALUE)
    elif any(_is_data(path) and not _is_users(call, path) for path in code.details(Source.FILE)):
        call.see(checks.RUNS_ASSET)


def _notice_download(call: Call, code: Value) -> None:
    addresses = code.details(Source.NETWORK)
    check = checks.runs_download(addresses)
    if check is None:
        return
    call.see(check)
    if call.is_detached and check in {checks.RUNS_DOWNLOAD, checks.RUNS_DOWNLOAD_THROWAWAY}:
        call.see(checks.DETACHES_DOWNLOAD)


def _is_data(path: str) -> bool:
    return suffix_of(path) in DATA_SUFFIXES and not _SETTINGS.search(path)


def _is_users(call: Call, path: str) -> bool:
    """Whether a file holds settings that the skill does not bring: the commands in them are those of whoever wrote it."""
    return suffix_of(path) in _SETTINGS_SUFFIXES and not call.machine.files.brings(path)


def runs_file(call: Call, word: Value) -> bool:
    """Whether the command is a file of unknown make, run by its path, or a name that came from elsewhere."""
    if word.origins:
        if word.comes_from(Source.DECODED):
            notice_origin(call, word)
            return not word.is_known
        if (word.comes_from(Source.NETWORK) or word.comes_from(Source.SOCKET)) and not word.is_known:
            notice_origin(call, word)
            return True
    text = word.text
    if "/" not in text and UNKNOWN not in text:
        return call.machine.has_fetched and _runs_installed(call, text)
    written = call.machine.files.written(text)
    if written is None and "/" not in text:
        return False
    if written is None and not text.startswith(("./", "../")):
        return False
    call.know(FactKind.EXECUTES, plain_path(text))
    if written is not None:
        call.machine.act(call.at)
        notice_origin(call, written)
        return True
    unpacked = Value("", call.machine.unpacked)
    if call.machine.unpacked and call.machine.files.own(text) is None:
        notice_origin(call, unpacked)
    return False


def _runs_installed(call: Call, name: str) -> bool:
    """Whether the command is a program that the script itself has fetched and put where programs are found."""
    found = next(filter(None, (call.machine.files.exactly(folder + name) for folder in _BIN_FOLDERS)), NOTHING)
    if checks.gravest_kind(found.details(Source.NETWORK)) not in {HostKind.NAMED, HostKind.THROWAWAY}:
        return False
    notice_origin(call, found)
    return True


@handles(SHELLS)
def run_shell(call: Call) -> Value:
    """A shell: runs the text behind `-c`, the file that it is given, or what it reads."""
    words = list(call.arguments)
    while words:
        word = words.pop(0)
        text = word.text
        if text.startswith(("-", "+")) and text not in {"-", "--"} and not text.startswith("--"):
            if "c" in text[1:]:
                return run_code(call, words[0] if words else NOTHING, is_shell=True)
            if text in {"-o", "+o", "-O", "+O"} and words:
                words.pop(0)
            if "s" in text[1:]:
                break
        elif text in {"--rcfile", "--init-file"} and words:
            run_file(call, words.pop(0))
        elif not text.startswith("-") and (text or word.origins):
            return run_file(call, word)
    if call.stdin.comes_from(Source.FILE) and call.machine.pipes & set(call.stdin.details(Source.FILE)):
        return unknown("shell")
    if call.stdin is NOTHING:
        return unknown("shell")
    return run_code(call, call.stdin, is_shell=True)


def run_file(call: Call, path: Value, *, is_shell: bool = True, language: str = "shell") -> Value:
    """A file that is given to an interpreter."""
    if path.text in _OWN_INPUT:
        return run_code(call, call.stdin, is_shell=is_shell, language=language)
    content = call.machine.read(path.text, call.at)
    call.know(FactKind.EXECUTES, plain_path(path.text))
    origins = content.origins | {origin for origin in path.origins if origin.source is Source.DECODED}
    content = Value(content.text, origins)
    written = call.machine.files.written(path.text)
    if written is None:
        # A script of the skill is read as a file of its own, if its name says that it is one.
        call.machine.act(call.at)
        notice_origin(call, content)
        own = call.machine.files.own(path.text)
        if call.machine.unpacked and own is None and path.is_known:
            notice_origin(call, Value("", call.machine.unpacked))
        if own is not None and is_shell and language_of_file(path.text, own[:200].encode()) is None:
            return call.machine.run_inner(own, stdin=call.stdin, at=call.at)
        return unknown(call.name, origins=call.stdin.origins)
    return run_code(call, content, is_shell=is_shell, language=language)


@handles("eval")
def run_eval(call: Call) -> Value:
    """`eval`: all arguments are one line of code."""
    return run_code(call, joined(call.arguments, by=" "), is_shell=True) if call.arguments else NOTHING


@handles("source .")
def run_source(call: Call) -> Value:
    """`source`: settings of all kinds are read this way, which is why their names say little."""
    if not call.arguments:
        return NOTHING
    path = call.arguments[0]
    own = call.machine.files.own(path.text)
    if own is not None and call.machine.files.written(path.text) is None:
        call.know(FactKind.EXECUTES, plain_path(path.text))
        return call.machine.run_inner(own, stdin=NOTHING, at=call.at)
    if suffix_of(path.text) in _EXEMPT_SOURCES or _SETTINGS.search(path.text):
        return NOTHING
    return run_file(call, path)


@handles("trap")
def run_trap(call: Call) -> Value:
    """`trap`: its first argument is code for later."""
    code = call.arguments[0] if call.arguments else NOTHING
    return call.machine.run_inner(code.text, stdin=NOTHING, at=call.at) if len(call.arguments) > 1 else NOTHING


@handles(LANGUAGES)
def run_language(call: Call) -> Value:
    """An interpreter of another language: code behind an option, a file, or what it reads."""
    language = _VERSION.sub("", call.name)
    letters = _INLINE.get(language, "")
    words = list(call.arguments)
    while words:
        word = words.pop(0)
        text = word.text
        if text == "-":
            break
        if (language in {"deno", "bun"} and text in {"eval", "run", "x"}) or (
            language == "perl" and text[:2] in {"-M", "-I"}
        ):
            continue
        if language in {"node", "bun"} and text in {"-r", "--require", "--import", "--loader"} and words:
            run_file(call, words.pop(0), is_shell=False, language=language)
            continue
        if text in {"-m", "--module"}:
            return _run_module(call, words)
        if text in {
            "--eval",
            "--print",
            "-Command",
            "-command",
            "-EncodedCommand",
            "-enc",
            "-e",
            "-ec",
            "-c",
            "-Enc",
        } and language in {"pwsh", "powershell", "node", "deno", "bun"}:
            return (
                _run_windows(call, text, words)
                if language in {"pwsh", "powershell"}
                else run_code(call, joined(words[:1]) if words else NOTHING, is_shell=False, language=language)
            )
        if text.startswith("-") and len(text) > 1 and not text.startswith("--"):
            if any(letter in letters for letter in text[1:]):
                glued = text[2:] if len(text) > 2 and text[1] in letters else ""
                code = Value(glued, word.origins) if glued else (words[0] if words else NOTHING)
                return run_code(call, code, is_shell=False, language=language)
        elif not text.startswith("--") and (text or word.origins):
            if language in {"pwsh", "powershell"}:
                return _run_windows(call, "-Command", [word, *words])
            return run_file(call, word, is_shell=False, language=language)
    return run_code(call, call.stdin, is_shell=False, language=language) if call.stdin is not NOTHING else NOTHING


def _run_module(call: Call, words: list[Value]) -> Value:
    """`python -m`: pip is a package manager, whoever starts it; everything else is a program like others."""
    return call.for_words(words) if words and words[0].text in {"pip", "uv", "pipx"} else NOTHING


def _run_windows(call: Call, option: str, words: list[Value]) -> Value:
    code = joined(words, by=" ") if words else NOTHING
    if option.lower().startswith("-e"):
        if words and _CUT_SHORT.fullmatch(words[0].text):
            return NOTHING
        code = code.having(Source.DECODED, "powershell")
    return run_code(call, code, is_shell=False, language="powershell")
