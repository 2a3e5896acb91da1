"""What programs are, as far as it matters for a command that starts by itself."""

from __future__ import annotations

import re

from vskill_platform.scanning.tier1.configs.word_lists import words

SHELLS = words("sh bash zsh dash ksh ash fish csh tcsh busybox")
WINDOWS_SHELLS = words("powershell pwsh cmd")
NETWORK = words(
    "curl wget nc ncat netcat socat ssh scp sftp rsync ftp tftp telnet aria2c httpie lynx dig nslookup sendmail mail mutt "
    "iwr irm invoke-webrequest invoke-restmethod certutil bitsadmin mshta start-bitstransfer wscat websocat ngrok "
    "cloudflared rclone"
)
EVALUATE = words("eval source . iex invoke-expression")
WRAPPERS = words(
    "sudo doas env nohup exec command time nice stdbuf setsid timeout xargs builtin caffeinate start "
    "if then else elif do while until !"
)
"""What stands before the program that does the work, words of the shell's own grammar among it."""
_INTERPRETER = re.compile(
    r"(?:python|pypy|node|nodejs|deno|bun|perl|ruby|php|lua|osascript|tclsh|rscript|java|jshell)[\d.]*"
)
_CODE_OPTIONS = (
    (re.compile(r"(?:python|pypy).*"), re.compile(r"-[bBdEiIOPqRsSuvx]*c.*", re.DOTALL)),
    (re.compile(r"(?:node|bun).*"), re.compile(r"-(?:e|p|pe|r)|--(?:eval|print|require|import)(?:=.*)?", re.DOTALL)),
    (re.compile(r"deno"), re.compile(r"eval")),
    (re.compile(r"(?:perl|ruby|lua|rscript|osascript|tclsh).*"), re.compile(r"-[lnpwaisF0]*[eE].*", re.DOTALL)),
    (re.compile(r"php.*"), re.compile(r"-[rR].*|--run.*", re.DOTALL)),
)
"""For each interpreter, the options behind which code stands, or a file that is loaded before all others."""
_RUNNERS = {"npx": "npm", "bunx": "npm", "uvx": "pypi", "pnpx": "npm"}
_RUNNER_VERBS = {
    ("pnpm", "dlx"): "npm",
    ("yarn", "dlx"): "npm",
    ("npm", "exec"): "npm",
    ("pipx", "run"): "pypi",
    ("bun", "x"): "npm",
}


def name_of(word: str) -> str:
    """The name of the program that a word starts, without folders, in lower case."""
    return word.replace("\\", "/").rpartition("/")[2].lower().removesuffix(".exe").removesuffix(".cmd")


def is_shell(program: str) -> bool:
    """Whether the program runs command lines."""
    return program in SHELLS or program in WINDOWS_SHELLS


def is_interpreter(program: str) -> bool:
    """Whether the program runs code in another language than the shell's."""
    return _INTERPRETER.fullmatch(program) is not None


def takes_code(program: str, option: str) -> bool:
    """Whether code stands behind an option of an interpreter."""
    return any(name.fullmatch(program) and code.fullmatch(option) for name, code in _CODE_OPTIONS)


def runs_text(program: str) -> bool:
    """Whether the program takes text and runs it."""
    return is_shell(program) or is_interpreter(program) or program in EVALUATE


def without_wrappers(given: list[str]) -> list[str]:
    """The words from the program on that does the work."""
    at = 0
    while at < len(given):
        name = name_of(given[at])
        if not (_is_setting(given[at]) or name in WRAPPERS):
            break
        at += 1
        while name in WRAPPERS and at < len(given) and _is_option_or_number(given[at]):
            at += 1
    return given[at:]


def fetched_package(program: str, arguments: list[str]) -> tuple[str, str] | None:
    """The registry and the package that a command fetches and runs; None for other commands."""
    registry = _RUNNERS.get(program)
    rest = arguments
    if registry is None and arguments:
        registry = _RUNNER_VERBS.get((program, arguments[0]))
        rest = arguments[1:]
    if registry is None:
        return None
    is_value = False
    for word in rest:
        if word.startswith(("--package=", "--from=", "--spec=")):
            return registry, word.partition("=")[2]
        if is_value or not word.startswith("-"):
            return registry, word
        is_value = word in ("-p", "--package", "--from", "--spec")
    return None


def _is_setting(word: str) -> bool:
    name, is_pair, _ = word.partition("=")
    return bool(is_pair) and name.isidentifier()


def _is_option_or_number(word: str) -> bool:
    return word.startswith("-") or word.rstrip("smh").replace(".", "").isdigit()
