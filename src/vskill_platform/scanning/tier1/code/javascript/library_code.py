"""What runs text as code: evaluation, processes, machine code."""

from __future__ import annotations

import re
from itertools import pairwise

from vskill_platform.scanning.tier1.code.hosts import UNKNOWN, has_scheme
from vskill_platform.scanning.tier1.code.javascript import checks
from vskill_platform.scanning.tier1.code.javascript.calls import HANDLERS, SOURCES, Call, handles
from vskill_platform.scanning.tier1.code.javascript.values import NOTHING, Source, Value, all_origins, text_of
from vskill_platform.scanning.tier1.code.origins import Origin
from vskill_platform.scanning.tier1.code.places import plain_path
from vskill_platform.scanning.tier1.code.sending import Channel
from vskill_platform.scanning.tier1.skill import FactKind

_SHELLS = frozenset(
    ["sh", "bash", "zsh", "dash", "cmd", "cmd.exe", "powershell", "pwsh", "/bin/sh", "/bin/bash", "/bin/zsh"]
)
_SENDERS = frozenset(["curl", "wget", "nc", "ncat", "http", "xh"])
_OWN_INTERPRETER = frozenset(["process.execPath", "process.argv0"])
_CODE_OPTIONS = frozenset(["-e", "--eval", "-p", "--print", "-r", "-c"])
"""How an interpreter is told that code follows."""
_SENDING_LINE = re.compile(r"(?:^|[\s;&|(])(?:curl|wget|http|xh)\s")
_ADDRESS_IN_LINE = re.compile(r"https?://[^\s'\"|;)]{1,2000}")
_LOGIN_IN_LINE = re.compile(r"\s(?:-H|--header|-u|--user)[ =]?(?:\"[^\"]*\"|'[^']*'|[^\s\"']\S*)")
"""Where a command says who it is."""
LONGEST_LINE = 8_000
_INTERPRETERS = _SHELLS | {"node", "python", "python3", "perl", "ruby", "php", "deno", "bun"}


@handles(
    "eval Function new:Function vm.runInThisContext vm.runInNewContext vm.runInContext vm.compileFunction "
    "vm.Script new:vm.Script"
)
def run_eval(call: Call) -> Value:
    """Text that is run as code."""
    name = call.callee.name or call.callee.path
    call.world.know(FactKind.EVALUATES, call.at, call.callee.path or name)
    if call.callee.is_built:
        call.world.see(checks.DISGUISED, call.at)
    code = Value(text=call.arguments[-1].text if call.arguments else "", origins=all_origins(call.arguments))
    call.world.run_code(code, call.at)
    if any(origin.source is Source.ARGUMENT and origin.detail == "argv" for origin in code.origins):
        call.world.see(checks.RUNS_INPUT, call.at)
    return Value(path="Function()", origins=code.origins)


@handles("._compile")
def run_compile(call: Call) -> Value:
    """The loader's own way to run text as a module. Only Node has a method of this name; the second argument is a file's name."""
    return run_eval(Call(call.world, call.callee, call.arguments[:1], call.at))


@handles("setTimeout setInterval setImmediate")
def run_timer(call: Call) -> Value:
    """Timers take functions; a text is run as code."""
    first = call.argument(0)
    is_foreign = (first.comes_from(Source.NETWORK) or first.comes_from(Source.DECODED)) and first.path != "Function()"
    if first.function is None and (first.text is not None or is_foreign):
        call.world.run_code(first, call.at)
    return NOTHING


@handles(
    "child_process.exec child_process.execSync shelljs.exec execSync execa.command execa.commandSync execaCommand "
    "child_process.exec.* zx.$ bun.$ Bun.$ execa.$ $ node-cmd.run node-cmd.runSync cmd.run "
    ".doShellScript"
)
def run_command(call: Call) -> Value:
    """A line of shell code."""
    command = call.argument(0)
    call.world.act("process", call.at)
    _notice_command(call, command)
    _notice_input(call, (command.text or "").partition(" ")[0])
    _notice_line_sent(call, command)
    origins = (
        call.world.run_shell(text_of(command, "command"), call.at) if command.text is not None else frozenset[Origin]()
    )
    return Value(origins=origins | _carried(command), path="child()")


def _carried(command: Value) -> frozenset[Origin]:
    return frozenset(
        origin for origin in command.origins if origin.source in {Source.NETWORK, Source.SECRET, Source.ENVIRONMENT}
    )


def _printed(call: Call) -> frozenset[Origin]:
    command = call.argument(0)
    return call.world.run_shell(command.text, call.at) if command.text is not None else frozenset()


SOURCES["child_process.exec"] = _printed


def _notice_command(call: Call, command: Value) -> None:
    world = call.world
    if command.comes_from(Source.NETWORK) and (command.text is None or command.text.startswith(UNKNOWN)):
        world.run_code(command, call.at)
    elif command.comes_from(Source.SOCKET):
        world.see(checks.REVERSE_SHELL, call.at)
    elif command.comes_from(Source.DECODED) and not command.is_known:
        world.run_code(command, call.at)
    elif command.comes_from(Source.DECODED):
        world.see(checks.RUNS_DECODED, call.at)
    for parameter in command.details(Source.ARGUMENT):
        key, _, number = parameter.partition(":")
        if not number.isdigit():
            continue
        function = world.function(int(key))
        function.add_sink(int(number), "command", "")
        if function.is_handler:
            world.see(checks.INJECTS_TOOL_INPUT, call.at)
        elif command.text is not None and not command.text.startswith(UNKNOWN):
            world.see(checks.INJECTS_COMMAND, call.at)


@handles(
    "Deno.run child_process.spawn child_process.spawnSync child_process.execFile child_process.execFileSync "
    "child_process.fork execa execa.execa execa.sync execa.execaSync Bun.spawn Bun.spawnSync "
    "new:Deno.Command cross-spawn new:Worker new:worker_threads.Worker"
)
def run_program(call: Call) -> Value:
    """A program with its arguments, as words and not as a line."""
    program, arguments = call.argument(0), call.argument(1)
    world = call.world
    world.act("process", call.at)
    if program.text is None and program.fields and not program.items and not program.field("cmd").items:
        return Value(path="execaCommand")  # the options of a command that stands in a template behind them
    if program.field("cmd").items:
        program = program.field("cmd")
    given = program.items
    if given:
        program, arguments = given[0], Value(items=given[1:], origins=program.origins)
    if call.callee.path.endswith("Deno.Command"):
        arguments = arguments.field("args")
    words = [program, *(arguments.items or ())]
    _notice_program(call, program, words)
    _notice_input(call, program.text or "")
    _notice_sent(call, program.text or "", words)
    if program.text is None:
        return Value(path="child()", origins=_carried(arguments))
    if program.text.startswith("data:"):
        world.see(checks.RUNS_DECODED, call.at)
        return NOTHING
    line = " ".join(_quoted(text_of(word, "argument")) for word in words)
    return Value(
        path="child()", origins=world.run_shell(line, call.at) | _carried(arguments), fields={"program": program}
    )


def _notice_program(call: Call, program: Value, words: list[Value]) -> None:
    world = call.world
    text = program.text or ""
    is_shell = any(
        option.field("shell").text in {"true", "/bin/bash", "/bin/sh"} for option in call.arguments if option.fields
    )
    for word in words:
        written = world.files.get(plain_path(word.text)) if word.text else None
        if written is not None and (
            word is program or text.rpartition("/")[2] in _INTERPRETERS or call.callee.name == "fork"
        ):
            world.know(FactKind.EXECUTES, call.at, plain_path(word.text or ""))
            world.run_code(written, call.at)
    if text.rpartition("/")[2] in _INTERPRETERS - _SHELLS or program.path in _OWN_INTERPRETER:
        for option, code in pairwise(words):
            if option.text in _CODE_OPTIONS and code.origins:
                world.run_code(code, call.at)
    if is_shell or text.rpartition("/")[2] in _SHELLS:
        for word in words[1:]:
            _notice_command(call, word)
    elif program.comes_from(Source.NETWORK):
        world.run_code(program, call.at)


def _notice_input(call: Call, program: str) -> None:
    """What an interpreter is fed by an option."""
    if program.rpartition("/")[2] not in _INTERPRETERS:
        return
    for option in call.arguments:
        if option.fields and (given := option.field("input")).origins:
            call.world.run_code(given, call.at)


def _notice_sent(call: Call, program: str, words: list[Value]) -> None:
    """What is handed to a program that sends it, as words of its own."""
    if program.rpartition("/")[2] in _SENDERS:
        address = next((word.text for word in words if word.text and has_scheme(word.text)), "")
        given = [option.field("input") for option in call.arguments if option.fields]
        call.world.send([*(word for word in words if word.text is None), *given], address, Channel.BODY, call.at)


def _notice_line_sent(call: Call, command: Value) -> None:
    """What stands in a line that sends it. What a program logs in with by such a line is its own."""
    line = (command.text or "")[:LONGEST_LINE]
    if UNKNOWN not in line or not _SENDING_LINE.search(line):
        return
    rest = _LOGIN_IN_LINE.sub("", line)
    address = _ADDRESS_IN_LINE.search(rest)
    if address is not None and rest.count(UNKNOWN) == line.count(UNKNOWN):
        is_in_address = rest.count(UNKNOWN) == address[0].count(UNKNOWN)
        call.world.send([command], address[0], Channel.ADDRESS if is_in_address else Channel.BODY, call.at)


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"


@handles("child().stdin.write child().stdin.end")
def run_stdin(call: Call) -> Value:
    """What a program is fed."""
    child = call.receiver.base or NOTHING
    program = (child.field("program").text or "").rpartition("/")[2]
    code = call.argument(0)
    if code.comes_from(Source.SOCKET):
        call.world.see(checks.REVERSE_SHELL, call.at)
    elif program in _INTERPRETERS:
        call.world.run_code(code, call.at)
    return NOTHING


@handles("process.binding process.dlopen process._linkedBinding")
def run_binding(call: Call) -> Value:
    """The inside of Node, past everything that watches over it."""
    call.world.see(checks.NATIVE_BINDING, call.at)
    return NOTHING


@handles(
    "WebAssembly.instantiate WebAssembly.compile new:WebAssembly.Module WebAssembly.instantiateStreaming "
    "WebAssembly.compileStreaming"
)
def run_webassembly(call: Call) -> Value:
    """Machine code in a portable form."""
    origins = all_origins(call.arguments)
    code = Value(origins=origins)
    call.world.know(FactKind.EVALUATES, call.at, "WebAssembly")
    is_fetched = checks.runs_download(code.details(Source.NETWORK)) == checks.RUNS_DOWNLOAD
    if is_fetched or code.comes_from(Source.DECODED):
        call.world.see(checks.RUNS_WEBASSEMBLY, call.at)
    return NOTHING


HANDLERS.setdefault("Function", run_eval)
