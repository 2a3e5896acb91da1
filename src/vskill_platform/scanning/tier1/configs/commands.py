"""What a command does that starts by itself: whether it attacks, uses the network, carries code, or cannot be told.

A hook, an install script, a task that runs when a folder is opened and the start of an MCP server have in common that nobody
reads them before they run. A formatter, a linter, a test or a script of the skill itself is what they are for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from vskill_platform.scanning.tier1.configs import inline_code
from vskill_platform.scanning.tier1.configs.hosts import is_local, is_vendor_installer
from vskill_platform.scanning.tier1.configs.programs import (
    EVALUATE,
    NETWORK,
    WINDOWS_SHELLS,
    fetched_package,
    is_interpreter,
    is_shell,
    name_of,
    runs_text,
    takes_code,
    without_wrappers,
)
from vskill_platform.scanning.tier1.configs.shell_words import LONGEST, Simple, split_commands

DEEPEST = 4
"""Commands inside commands that are followed."""
MOST_COMMANDS = LONGEST
"""Commands of a line that are looked at: as many as a line can hold."""
_LINE_OPTION = re.compile(r"(?i)-[a-z]*c|-command|/c|/k")
_ENCODED_OPTION = re.compile(r"(?i)-e(?:nc?|nco\w*)?|-encodedcommand")
_OUTPUT_OPTION = re.compile(r"-[a-zA-Z]*[oO]|--output|--output-document|(?i:-OutFile)")
_DECODE = re.compile(
    r"(?i)\bbase(?:64|32)\s+(?:-{1,2}d|-D)|\bxxd\s+-\w*r|\bopenssl\s+(?:enc|base64)\b.*\s-d\b|\buudecode\b|frombase64string"
)
_SHELL_ON_A_SOCKET = re.compile(
    r"(?i)/dev/(?:tcp|udp)/|\b(?:nc|ncat|netcat)\b.{0,80}\s-(?:[a-z]*e|c)\s|\bsocat\b.{0,80}\bexec:"
)
_START_UP_FILE = re.compile(
    r"(?i)(?:^|/|~)\.(?:bashrc|bash_profile|profile|zshrc|zshenv|zprofile|config/fish/config\.fish|ssh/authorized_keys|"
    r"gitconfig|npmrc|config/autostart/)|/etc/(?:cron|profile|rc\.local|sudoers|ld\.so\.preload)|LaunchAgents|"
    r"LaunchDaemons|systemd/(?:user|system)/|\\Startup\\|CurrentVersion\\Run"
)
_SCHEDULES = re.compile(
    r"(?i)\bcrontab\s+(?:-$|-\s|[^-\s])|\bschtasks\b.{0,80}/create|\blaunchctl\s+(?:load|bootstrap)|\breg\s+add\b.{0,120}\\Run"
)
_SECRET = re.compile(
    r"(?i)\.ssh/|id_rsa|id_ed25519|\.aws/|\.netrc|\.git-credentials|\.npmrc|\.pypirc|\.kube/config|\.docker/config|"
    r"(?:^|[\s/@=\"'])\.env\b|find-(?:generic|internet)-password|login\.keychain|\bprintenv\b|\benv\s*(?:\||$)|"
    r"\$\{?(?:[A-Z]+_)*(?:API_KEY|TOKEN|SECRET|PASSWORD)\b|/etc/(?:passwd|shadow)|\.claude(?:\.json|/\.credentials)"
)
_UPLOADS = re.compile(
    r"(?:^|\s)(?:-[a-zA-Z]*T(?:\s|$)|--upload-file)|(?:-d|--data(?:-\w+)?|--post-file)[\s=]?@|(?:-F|--form)[\s=]?\S*=[@<]|--post-file\b"
)
_UNKNOWN_COMMAND = re.compile(r"\$\{?\w+\}?|\$\(…|`…")
_TEMPORARY = re.compile(r"(?i)(?:/tmp/|/var/tmp/|/dev/shm/|%temp%|\$\{?TMPDIR|\$env:temp)")


class Deed(StrEnum):
    """What a command does."""

    ATTACKS = "attacks"
    """Runs what it downloaded or decoded, opens a shell to the network, sends secrets, or makes itself stay."""
    NETWORK = "network"
    INLINE = "inline"
    """Carries a program in another language inside its own line."""
    UNCLEAR = "unclear"
    """Runs what only a variable knows, or is too long to read."""


@dataclass(slots=True)
class Judgement:
    """What is known of a command line. `why` says what made it an attack, `packages` what it fetches and runs."""

    deeds: set[Deed] = field(default_factory=set)
    why: str = ""
    packages: list[tuple[str, str]] = field(default_factory=list)
    files: list[str] = field(default_factory=list)

    def blame(self, why: str) -> None:
        """The command attacks, and this is how."""
        self.deeds.add(Deed.ATTACKS)
        self.why = self.why or why

    def take(self, other: Judgement) -> None:
        """What is known of a part of the command is known of the whole."""
        self.deeds |= other.deeds
        self.why = self.why or other.why
        self.packages += other.packages
        self.files += other.files


def judge_command(line: str) -> Judgement:
    """What the command line does."""
    judgement = Judgement()
    if len(line) > LONGEST:
        judgement.deeds.add(Deed.UNCLEAR)
    _judge_line(line[:LONGEST], judgement, depth=0)
    _judge_together(line[:LONGEST], judgement)
    return judgement


def judge_words(given: Iterable[str]) -> Judgement:
    """What a command does that is given as a list of words: no shell takes it apart."""
    simple = Simple(words=list(given)[:MOST_COMMANDS])
    judgement = Judgement()
    _judge_simple(simple, judgement, depth=0)
    _judge_together(" ".join(simple.words)[:LONGEST], judgement)
    return judgement


def _judge_together(line: str, judgement: Judgement) -> None:
    """What only the whole line shows."""
    if _SHELL_ON_A_SOCKET.search(line):
        judgement.blame("opens a shell to the network")
    if Deed.NETWORK in judgement.deeds and _SECRET.search(line):
        judgement.blame("sends secrets")


def _judge_line(line: str, judgement: Judgement, *, depth: int) -> None:
    if depth > DEEPEST:
        judgement.deeds.add(Deed.UNCLEAR)
        return
    pipe = _Pipe()
    for simple in split_commands(line)[:MOST_COMMANDS]:
        program = _judge_simple(simple, judgement, depth=depth)
        pipe.judge(simple, program, judgement)


@dataclass(slots=True)
class _Pipe:
    """What comes down a pipe, and which files were downloaded before."""

    is_fetched: bool = False
    is_decoded: bool = False
    downloaded: list[str] = field(default_factory=list)

    def judge(self, simple: Simple, program: str, judgement: Judgement) -> None:
        """What the next command does with what came before it."""
        text = " ".join(simple.words)
        if not simple.is_fed:
            self.is_fetched = self.is_decoded = False
        if simple.is_fed and _runs_its_input(program, simple) and (self.is_fetched or self.is_decoded):
            judgement.blame("runs what it downloaded" if self.is_fetched else "runs what it decoded")
        is_installer = is_vendor_installer(text)
        self.is_fetched = self.is_fetched or (program in NETWORK and not is_installer)
        self.is_decoded = self.is_decoded or _DECODE.search(text) is not None
        if program in NETWORK and not is_installer:
            self.downloaded += _targets(simple)
            if _UPLOADS.search(text) and not inline_code.is_all_local(text):
                judgement.blame("sends files away")
        elif any(path in _run_files(simple) for path in self.downloaded):
            judgement.blame("runs a file that it downloaded")
        written = [*simple.writes_to, *(simple.words if program in ("tee", "cp", "mv", "install") else ())]
        if any(_START_UP_FILE.search(target) for target in written) or _SCHEDULES.search(text):
            judgement.blame("makes itself stay")


def _judge_simple(simple: Simple, judgement: Judgement, *, depth: int) -> str:
    """Note what one command does; returns the name of its program."""
    given = without_wrappers(simple.words)
    program = name_of(given[0]) if given else ""
    _judge_inner(simple, program, judgement, depth=depth)
    if is_shell(program):
        _judge_shell(program, given[1:], judgement, depth=depth)
    elif is_interpreter(program):
        _judge_interpreter(program, given[1:], judgement)
    elif program in NETWORK:
        if not inline_code.is_all_local(" ".join(given)):
            judgement.deeds.add(Deed.NETWORK)
    elif given:
        _judge_program(program, given, judgement)
    return program


def _judge_inner(simple: Simple, program: str, judgement: Judgement, *, depth: int) -> None:
    """Commands whose output this one is handed."""
    if not simple.inner:
        return
    inside = Judgement()
    for inner in simple.inner[:MOST_COMMANDS]:
        _judge_line(inner, inside, depth=depth + 1)
    judgement.take(inside)
    text = " ".join(simple.inner)
    if runs_text(program) and Deed.NETWORK in inside.deeds and not is_vendor_installer(text):
        judgement.blame("runs what it downloaded")
    if runs_text(program) and _DECODE.search(text):
        judgement.blame("runs what it decoded")


def _judge_shell(program: str, arguments: list[str], judgement: Judgement, *, depth: int) -> None:
    for number, argument in enumerate(arguments):
        if program in WINDOWS_SHELLS and _ENCODED_OPTION.fullmatch(argument):
            judgement.blame("runs what it decoded")
            return
        if _LINE_OPTION.fullmatch(argument):
            line = " ".join(arguments[number + 1 :])
            if program in WINDOWS_SHELLS:
                _judge_code(line, judgement)
            _judge_line(line, judgement, depth=depth + 1)
            return
        if program not in WINDOWS_SHELLS and not argument.startswith(("-", "<(")):
            judgement.deeds |= {Deed.UNCLEAR} if _TEMPORARY.match(argument) else set()
            judgement.files.append(argument)
            return


def _judge_interpreter(program: str, arguments: list[str], judgement: Judgement) -> None:
    for number, argument in enumerate(arguments):
        if takes_code(program, argument):
            judgement.deeds.add(Deed.INLINE)
            _judge_code(" ".join(arguments[number:]), judgement)
            return
        if inline_code.is_address(argument) and not is_local(argument):
            judgement.blame(f"{program} runs a program from an address")
            return
        if argument == "-m" or not (argument.startswith("-") or argument in ("run", "x")):
            judgement.files += [] if argument == "-m" else [argument]
            return


def _judge_code(code: str, judgement: Judgement) -> None:
    if inline_code.uses_network(code):
        judgement.deeds.add(Deed.NETWORK)
    if inline_code.runs_what_it_gets(code):
        judgement.blame("runs what it downloaded or decoded")
    if inline_code.sends_files(code):
        judgement.blame("sends files away")


def _judge_program(program: str, given: list[str], judgement: Judgement) -> None:
    """A program that is neither a shell nor an interpreter nor there for the network."""
    if _UNKNOWN_COMMAND.fullmatch(given[0]) or _TEMPORARY.match(given[0]):
        judgement.deeds.add(Deed.UNCLEAR)
    elif program in EVALUATE and len(given) > 1:
        if given[1].startswith(("$", "`")):
            judgement.deeds.add(Deed.UNCLEAR)
        else:
            judgement.files.append(given[1])
    elif package := fetched_package(program, given[1:]):
        judgement.packages.append(package)
    elif "/" in given[0]:
        judgement.files.append(given[0])


def _runs_its_input(program: str, simple: Simple) -> bool:
    plain = [word for word in without_wrappers(simple.words)[1:] if not word.startswith("-")]
    return runs_text(program) and not plain


def _targets(simple: Simple) -> list[str]:
    """The files that a download is written into."""
    given = simple.words
    named = [given[number + 1] for number, word in enumerate(given[:-1]) if _OUTPUT_OPTION.fullmatch(word)]
    return [path.removeprefix("./") for path in (*named, *simple.writes_to) if path]


def _run_files(simple: Simple) -> list[str]:
    """The words of a command that may be the file it runs."""
    return [word.removeprefix("./") for word in without_wrappers(simple.words)[:3]]
