"""Runs shell code without running it: follows values through variables, files, pipes and functions, and asks what each
command would do with them.

Every branch is taken and every loop is run for a few values. Work is counted, and stops with `OutOfSteps`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence

from vskill_platform.scanning.tier1.code.budget import Budget, TooDeep
from vskill_platform.scanning.tier1.code.hosts import UNKNOWN, HostKind
from vskill_platform.scanning.tier1.code.places import secret_at
from vskill_platform.scanning.tier1.code.printers import PRINTERS, printed_by
from vskill_platform.scanning.tier1.code.report import Report
from vskill_platform.scanning.tier1.code.shell import checks, disguise, suspects
from vskill_platform.scanning.tier1.code.shell.calls import HANDLERS, Call
from vskill_platform.scanning.tier1.code.shell.expansion import Expander, Variables
from vskill_platform.scanning.tier1.code.shell.files import SOCKETS, Files, socket_address
from vskill_platform.scanning.tier1.code.shell.interpreters import LANGUAGES, SHELLS, runs_file
from vskill_platform.scanning.tier1.code.shell.lasting import notice_write
from vskill_platform.scanning.tier1.code.shell.network import send_to_socket
from vskill_platform.scanning.tier1.code.shell.reading import LONGEST_KEPT, Reader, read_short
from vskill_platform.scanning.tier1.code.shell.sending import notice_handed_over
from vskill_platform.scanning.tier1.code.shell.syntax import (
    Assignment,
    Command,
    Compound,
    Function,
    Pipeline,
    Program,
    Redirection,
    Simple,
)
from vskill_platform.scanning.tier1.code.shell.values import NOTHING, NOWHERE, Origin, Source, Value, joined, unknown
from vskill_platform.scanning.tier1.skill import FactKind

DEEPEST_RUN = 25
DEEPEST_CALL = 6
LOOP_VALUES = 3
MOST_RUNS = 100
"""Runs of a function with other words each time; what says something by itself is run beyond that, as long as steps are left."""
MOST_READ_ONCE = 500_000
"""Characters of inner texts whose reading is kept for the next time."""
_SCRIPT = re.compile(r"\s{0,4}#!\s?/[^\n]{0,60}\b(?:ba|z|k|da)?sh\b")
_INTERPRETERS = frozenset([*SHELLS.split(), *LANGUAGES.split()])
_OUTPUT = frozenset([">", ">>", ">|", "&>", "&>>"])
_INTO_NOTHING = ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/zero")
_SPEAKING = "ls stat test [ [[ find chmod mkdir touch rm ssh-keygen ssh-add echo du wc file"
_BY_NAME = frozenset(_SPEAKING.split())
"""Commands that speak of files without reading what is in them."""


def _is_telling(value: Value) -> bool:
    """Whether a word says something by itself: an address, a secret, a piece of code, or what came from elsewhere."""
    if value.origins or value.text.isalnum():
        return bool(value.origins)
    if "://" in value.text or secret_at(value.text) is not None:
        return True
    return suspects.glance_at(value.text.encode(errors="replace")).is_suspect


class Machine:
    """A shell with its variables, functions and files. It lives as long as the code of one file of the skill."""

    def __init__(self, *, own_files: Mapping[str, str], budget: Budget) -> None:
        self.variables = Variables()
        self.files = Files(own_files, budget)
        self.aliases: dict[str, str] = {}
        self.descriptors: dict[str, Value] = {}
        self.unpacked: frozenset[Origin] = NOWHERE
        self.pipes: set[str] = set()
        self.tested: set[str] = set()
        self._functions: dict[str, Program] = {}
        self._active: list[str] = []
        self._runs: dict[str, int] = {}
        self._calls: set[tuple[str, ...]] = set()
        self._sinks: dict[str, Program] = {}
        self._laid_down: dict[str, int] = {}
        self._run_once: set[str] = set()
        self._read: dict[str, Program] = {}
        self._room_for_read = MOST_READ_ONCE
        self._gates: list[set[str]] = []
        self._expander = Expander(self.variables, run=self._substitute, name_pipe=self._name_pipe)
        self._budget = budget
        self._report = Report("", "", layer="shell")
        self._depth = 0
        self._place: int | None = None

    def report_to(self, report: Report) -> None:
        """Begins another piece of code, whose offsets are those of the report's text."""
        self._report = report
        self._place = None
        self._depth = 0
        self._laid_down.clear()

    def run_text(self, text: str, *, report: Report, has_placeholders: bool) -> bool:
        """Runs a piece of code and reports what is seen; says whether it ends inside quotation marks.

        May raise OutOfSteps or TooDeep, with what was seen until then.
        """
        self.report_to(report)
        known = read_short(text, has_placeholders=has_placeholders) if len(text) <= LONGEST_KEPT else None
        if known is not None:
            self._run_pipelines(known.pipelines, NOTHING)
            self._run_laid_down()
            return known.is_unclosed
        reader = Reader(text, has_placeholders=has_placeholders)
        self._run_pipelines(reader.pipelines(), NOTHING)
        self._run_laid_down()
        return reader.is_unclosed

    def _run_laid_down(self) -> None:
        """Runs the scripts that the code wrote into files: something will, be it a job, a service or another script."""
        while self._laid_down:
            text, at = self._laid_down.popitem()
            if text not in self._run_once:
                self._run_once.add(text)
                self.run_inner(text, stdin=NOTHING, at=at)

    def run_line(self, text: str, *, report: Report, at: int) -> None:
        """Runs one line of a text for readers by itself. Everything in it stands where the line begins."""
        self.report_to(report)
        self._budget.spend(1 + len(text) // 50)
        self._place = at
        self._run_pipelines(Reader(text, has_placeholders=True).pipelines(), NOTHING)
        self._run_laid_down()

    def run_inner(self, text: str, *, stdin: Value, at: int) -> Value:
        """Runs a text that a command is given as code. Everything in it stands where the command stands."""
        self._budget.spend(1 + len(text) // 50)
        kept, self._place = self._place, self._at(at)
        try:
            return self._deeper(self._inner(text), stdin)
        finally:
            self._place = kept

    def _inner(self, text: str) -> Program:
        """What a text inside the code consists of. Scripts source the same file, and call the same function, again and again."""
        known = self._read.get(text)
        if known is not None:
            return known
        program = Program(list(Reader(text).pipelines()))
        self._room_for_read -= len(text)
        if self._room_for_read >= 0:
            self._read[text] = program
        return program

    def see(self, check: str, at: int) -> None:
        """Something that a rule names."""
        self._report.see(check, self._at(at))

    def know(self, kind: FactKind, at: int, value: str) -> None:
        """A fact. What only the running shell knows is left out of it."""
        self._report.know(kind, self._at(at), "" if UNKNOWN in value else value)

    def act(self, at: int) -> None:
        """Notes that code runs or the network is used here, which matters behind a gate."""
        if any(self._gates):
            self.see(checks.GATED, at)

    def _at(self, at: int) -> int:
        return at if self._place is None else self._place

    def _run_pipelines(self, pipelines: Iterable[Pipeline], stdin: Value) -> Value:
        printed: list[Value] = []
        kept, gate = self.tested, set[str]()
        for pipeline in pipelines:
            self.tested = set()
            self._gates.append(gate)
            value = stdin
            for command in pipeline.commands:
                value = self._command(command, value, is_detached=pipeline.ending == "&")
            self._gates.pop()
            gate = self.tested if pipeline.ending in {"&&", "||"} else set()
            kept |= self.tested
            if value is not NOTHING:
                printed.append(value)
        self.tested = kept
        return joined(printed) if printed else NOTHING

    def _deeper(self, program: Program, stdin: Value) -> Value:
        self._depth += 1
        if self._depth > DEEPEST_RUN:
            raise TooDeep
        try:
            return self._run_pipelines(program.pipelines, stdin)
        finally:
            self._depth -= 1

    def _command(self, command: Command, stdin: Value, *, is_detached: bool) -> Value:
        self._budget.spend(1 + len(stdin.text) // 2_000)
        if isinstance(command, Simple):
            return self._simple(command, stdin, is_detached=is_detached)
        if isinstance(command, Function):
            return self._define(command)
        stdin = self._input(command.redirections, stdin, command.at)
        printed = self._compound(command, stdin)
        return self._output(command.redirections, printed, command.at)

    def _define(self, command: Function) -> Value:
        if disguise.is_fork_bomb(command):
            self.see(checks.FORK_BOMB, command.at)
        self._functions[command.name] = command.body
        self._call_function(command.name, None, NOTHING)
        return NOTHING

    def _call_function(self, name: str, arguments: list[Value] | None, stdin: Value) -> Value:
        if name in self._active or len(self._active) >= DEEPEST_CALL or self._is_known(name, arguments, stdin):
            return unknown(name)
        kept = self.variables.arguments
        self._active.append(name)
        self.variables.arguments = arguments
        try:
            return self._deeper(self._functions[name], stdin)
        finally:
            self.variables.arguments = kept
            self._active.pop()

    def _is_known(self, name: str, arguments: list[Value] | None, stdin: Value) -> bool:
        """Whether a function need not be run again: it was with the same words, or often, and these say nothing by themselves."""
        given = (name, stdin.text, *(argument.text for argument in arguments or ()))
        self._runs[name] = self._runs.get(name, 0) + 1
        if self._runs[name] <= LOOP_VALUES:
            return False
        if given in self._calls and not stdin.origins:
            return True
        self._calls.add(given)
        return self._runs[name] > MOST_RUNS and not any(map(_is_telling, (stdin, *(arguments or ()))))

    def _compound(self, command: Compound, stdin: Value) -> Value:
        gate: set[str] = set()
        kept, self.tested = self.tested, gate
        for condition in command.conditions:
            self._deeper(condition, stdin)
        if command.kind == "case":
            self._notice_subject(command)
        self.tested = kept
        self._gates.append(gate)
        if command.kind == "for":
            printed = self._for(command, stdin)
        else:
            printed = joined([self._deeper(body, stdin) for body in command.bodies] or [NOTHING])
        self._gates.pop()
        return printed

    def _notice_subject(self, command: Compound) -> None:
        for word in command.words:
            value = self._expander.value(word)
            self.tested.update({"host"} & set(value.details(Source.MACHINE)))

    def _for(self, command: Compound, stdin: Value) -> Value:
        values = [value for word in command.words for value in self._expander.fields(word)]
        values.sort(key=lambda value: not _is_telling(value))
        telling = sum(map(_is_telling, values[LOOP_VALUES:]))
        printed: list[Value] = []
        for value in values[: LOOP_VALUES + telling] or [unknown(command.name)]:
            self.variables.set(command.name, value)
            printed += [self._deeper(body, stdin) for body in command.bodies]
        return joined(printed or [NOTHING])

    def _simple(self, command: Simple, stdin: Value, *, is_detached: bool) -> Value:
        for assignment in command.assignments:
            self._assign(assignment, command.at)
        words: list[Value] = []
        for number, word in enumerate(command.words):
            values = self._expander.fields(word)
            if number < 4 and len(values) == 1 and values[0].text in disguise.WATCHED and disguise.is_disguised(word):
                self.see(checks.DISGUISED, word.start)
            words += values
            self._budget.spend(len(values))
        at = command.words[0].start if command.words else command.at
        if not command.redirections:
            return self.run_words(words, stdin=stdin, at=at, is_detached=is_detached) if words else NOTHING
        stdin = self._input(command.redirections, stdin, at)
        self._open_descriptors(command.redirections)
        if disguise.is_shell_on_socket(words, command.redirections, self._expander):
            self._see_reverse_shell(command.redirections, at)
        printed = self.run_words(words, stdin=stdin, at=at, is_detached=is_detached) if words else NOTHING
        return self._output(command.redirections, printed if words else stdin, at)

    def _open_descriptors(self, redirections: Sequence[Redirection]) -> None:
        """Remembers which descriptors lead to the network, as after `exec 5<>/dev/tcp/...`."""
        for redirection in redirections:
            if redirection.descriptor.isdigit() and redirection.operator in {"<>", "<", ">"}:
                target = self._expander.value(redirection.target).text
                if target.startswith(SOCKETS):
                    origin = Origin(Source.SOCKET, socket_address(target))
                    self.descriptors[redirection.descriptor] = unknown("socket", origins=[origin])

    def _see_reverse_shell(self, redirections: Sequence[Redirection], at: int) -> None:
        targets = [self._expander.value(redirection.target).text for redirection in redirections]
        address = next((socket_address(target) for target in targets if target.startswith(SOCKETS)), "")
        self.see(checks.reverse_shell(address), at)

    def _assign(self, assignment: Assignment, at: int) -> None:
        if assignment.values is not None:
            values = [value for word in assignment.values for value in self._expander.fields(word)]
            self.variables.set_list(assignment.name, values, is_added=assignment.is_added)
            return
        value = self._expander.value(assignment.value)
        self.variables.set(assignment.name, value, is_added=assignment.is_added)
        if disguise.switches_history_off(assignment.name, value):
            self.see(checks.WIPES_TRACES, at)

    def run_words(self, words: list[Value], *, stdin: Value, at: int, is_detached: bool = False) -> Value:
        """Runs a command whose words are known, and gives what it prints."""
        self._budget.spend(len(words))
        while words and words[0].is_empty:
            words = words[1:]
        if not words:
            return NOTHING
        name = self._name(words[0], at)
        call = Call(self, name, words[1:], stdin, at, is_detached)
        if name in self.aliases and name not in self._active:
            return self._run_alias(call)
        if name in self._functions:
            return self._call_function(name, call.arguments, stdin)
        if name:
            self.know(FactKind.RUNS, at, name)
        if runs_file(call, words[0]):
            return self._default(call)
        handler = HANDLERS.get(name)
        if handler is None or name in _INTERPRETERS:
            notice_handed_over(call)
        printed = handler(call) if handler else self._default(call)
        secret = printed_by(name, call.texts) if name in PRINTERS else None
        if secret is None:
            return printed
        return unknown(name, origins=printed.origins).having(Source.SECRET, secret.name)

    def _run_alias(self, call: Call) -> Value:
        self._active.append(call.name)
        text = " ".join([self.aliases[call.name], *(f"'{argument}'" for argument in call.texts if "'" not in argument)])
        try:
            return self.run_inner(text, stdin=call.stdin, at=call.at)
        finally:
            self._active.pop()

    def _name(self, word: Value, at: int) -> str:
        """A command's name without its folders; of one in a variable, the name of the variable if it is a command's."""
        text = word.text
        if text in HANDLERS and "/" not in text:
            return text
        if disguise.has_glob(text) and (found := disguise.found_by_glob(text)):
            self.see(checks.DISGUISED, at)
            return posixpath.basename(found)
        if not word.is_known:
            named = next((detail.lower() for detail in word.details(Source.VARIABLE)), "")
            return (
                named
                if text.count(UNKNOWN) == 2 and text.endswith(UNKNOWN) and named in HANDLERS
                else posixpath.basename(text.rpartition(UNKNOWN)[2])
            )
        name = posixpath.basename(text.replace("\\", "/")).removesuffix(".exe")
        return (
            name
            if name in HANDLERS or name in self._functions
            else (name.lower() if name.lower() in HANDLERS else name)
        )

    def _default(self, call: Call) -> Value:
        """What a command prints of which nothing is known: something made from all that it was given."""
        if any(text.startswith(("stratum+", "--donate-level")) for text in call.texts):
            call.see(checks.MINER)
        origins = set(call.stdin.origins)
        is_value = False
        for argument in call.arguments:
            origins |= argument.origins
            if not is_value and call.name not in _BY_NAME and not argument.text.startswith("-"):
                origins |= self.files.origins(argument.text)
            is_value = argument.text.startswith("-") and "=" not in argument.text
        return unknown(call.name, origins=origins)

    @property
    def has_fetched(self) -> bool:
        """Whether something from the network lies in a file, so that whatever runs a file matters."""
        return bool(self.unpacked) or self.files.has_downloads

    def unpack(self, address: str) -> None:
        """Notes that files of unknown names have come from an address: an archive was unpacked, a repository cloned."""
        self.unpacked |= {Origin(Source.UNPACKED, address)}

    def read(self, path: str, at: int) -> Value:
        """What a file holds."""
        value = self.files.read(path)
        for secret in value.details(Source.SECRET):
            self.know(FactKind.READS_SECRET, at, secret)
        return value

    def write(self, path: Value, content: Value, at: int, *, is_added: bool = False) -> None:
        """Puts content where a redirection or a command puts it: into a file, a pipe or a socket."""
        text = path.text
        if text in self._sinks:
            self._deeper(self._sinks[text], content)
        elif text.startswith(SOCKETS):
            send_to_socket(Call(self, "socket", [], content, at), socket_address(text))
        elif not text.startswith((*_INTO_NOTHING, "/dev/fd/")) and text:
            self.files.write(text, content, is_added=is_added)
            came_from = checks.gravest_kind(content.details(Source.NETWORK))
            is_strange = content.comes_from(Source.NETWORK) and came_from is not HostKind.VENDOR
            kind = FactKind.DOWNLOADS if is_strange else FactKind.WRITES
            self.know(kind, at, text)
            notice_write(Call(self, ">", [path], content, at), path.text, content)
            if _SCRIPT.match(content.text) and _is_telling(Value(content.text)):
                self._laid_down[content.text] = self._at(at)

    def _substitute(self, program: Program) -> Value:
        return self._deeper(program, NOTHING)

    def _name_pipe(self, program: Program, direction: str) -> Value:
        path = f"/dev/fd/{63 + len(self._sinks)}"
        if direction == "<":
            content = self._deeper(program, NOTHING)
            self._sinks[path] = Program()
            self.files.write(path, content)
            return Value(path, content.origins)
        self._sinks[path] = program
        return Value(path)

    def _input(self, redirections: Sequence[Redirection], stdin: Value, at: int) -> Value:
        for redirection in redirections:
            if redirection.descriptor not in {"", "0"} and not redirection.operator.startswith("<<"):
                continue
            if redirection.operator in {"<<", "<<-", "<<<"}:
                stdin = self._expander.value(redirection.target)
            elif redirection.operator in {"<", "<>"}:
                stdin = self.read(self._expander.value(redirection.target).text, at)
            elif redirection.operator == "<&":
                stdin = self.descriptors.get(self._expander.value(redirection.target).text, stdin)
        return stdin

    def _output(self, redirections: Sequence[Redirection], printed: Value, at: int) -> Value:
        for redirection in redirections:
            target = self._expander.value(redirection.target)
            is_output = redirection.operator in _OUTPUT and redirection.descriptor in {"", "1"}
            if redirection.operator == ">&" and target.text in self.descriptors:
                address = self.descriptors[target.text].details(Source.SOCKET)[0]
                send_to_socket(Call(self, "socket", [], printed, at), address)
                printed = NOTHING
            elif is_output or (redirection.operator == ">&" and not (target.text.isdigit() or target.text == "-")):
                self.write(target, printed, at, is_added=redirection.operator.endswith(">>"))
                printed = NOTHING
        return printed
