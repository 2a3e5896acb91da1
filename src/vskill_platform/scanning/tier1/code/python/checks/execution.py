"""What is run: what came from outside, what was decoded, what a user or an agent may fill in, and what is installed."""

from __future__ import annotations

import ast
import re

from vskill_platform.scanning.tier1.code.jobs import fetches_and_runs
from vskill_platform.scanning.tier1.code.python import catalogue
from vskill_platform.scanning.tier1.code.python.checks.calls import ReadCall
from vskill_platform.scanning.tier1.code.python.checks.installs import check_install
from vskill_platform.scanning.tier1.code.python.checks.sending import check_command_sending
from vskill_platform.scanning.tier1.code.python.commands import (
    INTERPRETERS,
    SHELL_PROGRAMS,
    Command,
    downloaded_to,
    evaluates_gap,
    runs_gap,
    with_gaps,
)
from vskill_platform.scanning.tier1.code.python.values import (
    ASSET,
    DECODED,
    FETCHED_PATH,
    FILE,
    FROM_USER,
    INPUT,
    NETWORK,
    PARSED,
    TOOL,
    UNKNOWN,
    Value,
)
from vskill_platform.scanning.tier1.skill import FactKind

CHEAP = 4
"""So many paths that are looked for in a command cost as much as a question."""
_WRAPPERS = frozenset(["sudo", "env", "nohup", "nice", "setsid"])
_SHELL_ATTACK = re.compile(
    r"/dev/(?:tcp|udp)/|\bn(?:c|cat|etcat)(?:\.\w+)?\s[^|;&]*-\w*e\w*\s|\bmkfifo\b.{0,200}\bn(?:c|cat)\b|\bsocat\b.{0,200}\bexec:",
    re.IGNORECASE | re.DOTALL,
)
_LASTING_COMMAND = re.compile(
    r"(?:^|[|;&]\s*)\s*crontab\s+(?:-(?!l|r|e)\s*|[^-\s;|&][^\s;|&]*\s*)$|\bschtasks(?:\.exe)?\s+/create\b|"
    r"\breg(?:\.exe)?\s+add\b.{0,200}currentversion\\+run|\blaunchctl\s+(?:load|bootstrap)\b.{0,200}/tmp/",
    re.IGNORECASE | re.DOTALL,
)
_BUILT_IN = "__builtins__"


def may_run(name: str) -> bool:
    """Whether a call of this name may run something."""
    return (
        name in catalogue.EVALUATORS
        or name in catalogue.SHELLS
        or name in catalogue.PROCESSES
        or name in catalogue.SPAWNERS
        or name in catalogue.LOADERS
        or catalogue.root_of(name) == "ctypes"
        or name.startswith("subprocess.Popen().")
    )


def check_execution(call: ReadCall) -> None:
    """Look at a call that may run something."""
    name = call.name
    if name in catalogue.EVALUATORS:
        _check_evaluation(call)
    elif name in catalogue.SHELLS or name in catalogue.PROCESSES or name in catalogue.SPAWNERS:
        for command in call.commands:
            check_command(call, command)
    elif name in catalogue.LOADERS:
        _check_loading(call)
    elif catalogue.root_of(name) == "ctypes":
        _check_machine_code(call)
    elif name.startswith("subprocess.Popen().") and call.last in {"write", "communicate"}:
        _check_input(call)


def _check_evaluation(call: ReadCall) -> None:
    given = call.argument(0, "source", "stmt", "code")
    call.fact(FactKind.EVALUATES, call.last)
    if given.taint & NETWORK:
        call.sight("python_runs_fetched")
    elif given.taint & DECODED:
        call.sight("python_runs_decoded")
    elif given.taint & ASSET:
        call.sight("python_runs_asset")
    elif call.name in {"exec", "eval"} and not _is_restricted(call):
        _check_given_code(call, given)


def _check_given_code(call: ReadCall, given: Value) -> None:
    """Code that somebody else writes: in data, as an argument of a function, or on the command line."""
    if given.taint & PARSED and given.taint & (FILE | INPUT):
        call.sight("python_evaluates_data")
    elif call.exposure(given) or given.taint & INPUT:
        call.sight("python_evaluates_argument")


def _is_restricted(call: ReadCall) -> bool:
    """Whether the code is given no built-in functions."""
    kept = (call.argument(1, "globals").keyed or {}).get(_BUILT_IN)
    return kept is not None and not any(name.startswith((_BUILT_IN, "builtins")) for name in kept.references)


def check_command(call: ReadCall, command: Command) -> None:
    """Look at a command."""
    if command.program:
        call.fact(FactKind.RUNS, command.program)
    for path in filter(None, map(downloaded_to, command.texts)):
        call.fact(FactKind.DOWNLOADS, path)
    _note_script(call, command)
    if _runs_from(call, command, NETWORK, FETCHED_PATH):
        call.sight("python_runs_fetched")
    elif _runs_from(call, command, DECODED, 0):
        call.sight("python_runs_decoded")
    elif _runs_from(call, command, ASSET, 0) and not command.whole.taint & PARSED:
        call.sight("python_runs_asset")
    elif command.whole.taint & NETWORK and not command.is_shell and _is_split(call):
        call.sight("python_runs_fetched")
    elif command.whole.taint & NETWORK and command.is_shell:
        call.sight("python_remote_argument")
    if any(_SHELL_ATTACK.search(text) for text in command.texts):
        call.sight("python_reverse_shell")
    if any(_LASTING_COMMAND.search(text) for text in command.texts):
        is_fetched = command.given.taint & NETWORK or any(map(fetches_and_runs, command.given.texts))
        call.sight("python_persists_fetched" if is_fetched else "python_persists")
    check_command_sending(call, command)
    _check_shell_argument(call, command)
    check_install(call, command)


def _is_split(call: ReadCall) -> bool:
    """Whether the words of a command are the pieces of one text, none of which the program knows."""
    given = call.site.node.args[0] if call.site.node.args else None
    return isinstance(given, ast.Call) and isinstance(given.func, ast.Attribute) and given.func.attr == "split"


def _runs_from(call: ReadCall, command: Command, origin: int, path_origin: int) -> bool:
    """Whether what is run comes from there: the command itself, its script, its input, or the file that it names."""
    if command.script is not None and command.script.taint & origin:
        texts = command.script.texts or [UNKNOWN]
        is_unseen = origin == DECODED and not any(text in call.module.source.text for text in texts)
        # Besides the texts that are known, there is the one that came from outside.
        is_another = origin == NETWORK and not any(UNKNOWN in text for text in texts)
        if is_unseen or is_another or any(map(evaluates_gap, texts)):
            return True
    if command.given.taint & origin and SHELL_PROGRAMS.fullmatch(command.program):
        return True
    if command.words and command.words[0].taint & origin:
        return True
    return bool(path_origin) and _runs_file(call, command, path_origin)


def _runs_file(call: ReadCall, command: Command, path_origin: int) -> bool:
    fetched = call.evaluator.fetched_paths
    if command.words:
        is_wrapped = command.program in _WRAPPERS or INTERPRETERS.fullmatch(command.program) is not None
        candidates = command.words[: 3 if is_wrapped else 1]
        return any(each.taint & path_origin or any(text in fetched for text in each.texts) for each in candidates)
    if command.whole.taint & path_origin and any(runs_gap(text) for text in command.texts):
        return True
    call.evaluator.spend(len(fetched) // CHEAP)
    replaced = [(text, with_gaps(text, fetched)) for text in command.texts]
    return any(runs_gap(gaps) for text, gaps in replaced if gaps != text)


def _note_script(call: ReadCall, command: Command) -> None:
    """Note the file that is run, where it is named."""
    for text in command.texts[:1]:
        words = text.split()[:4]
        if not words:
            continue
        if INTERPRETERS.fullmatch(command.program or "-"):
            path = next((word for word in words[1:] if not word.startswith("-")), "")
            if "." in path and command.script is None:
                call.fact(FactKind.EXECUTES, path)
        elif words[0].startswith(("./", "/", "~")) and UNKNOWN not in words[0]:
            call.fact(FactKind.EXECUTES, words[0])


def _check_shell_argument(call: ReadCall, command: Command) -> None:
    """What a user or an agent gives must not become part of a shell's line."""
    given = command.script if command.script is not None else command.whole
    exposure = call.exposure(given)
    if not command.is_shell or not (given.taint & FROM_USER or exposure) or given.taint & FILE:
        return
    call.sight("python_tool_shell_argument" if exposure & TOOL else "python_shell_argument")


def _check_loading(call: ReadCall) -> None:
    for value in call.arguments()[:2]:
        is_fetched = any(call.evaluator.file_taint.get(text, 0) & NETWORK for text in value.texts)
        if value.taint & (FETCHED_PATH | NETWORK) or is_fetched:
            call.sight("python_runs_fetched")
        for text in value.texts:
            if "." in text and UNKNOWN not in text:
                call.fact(FactKind.EXECUTES, text)


def _check_machine_code(call: ReadCall) -> None:
    taint = 0
    for each in call.arguments():
        taint |= each.taint
    if taint & NETWORK:
        call.sight("python_runs_fetched")
    elif taint & DECODED:
        call.sight("python_runs_decoded")


def _check_input(call: ReadCall) -> None:
    """What is written to a shell that was started before."""
    if any(value.taint & NETWORK for value in call.arguments()) and _receiver_is_shell(call):
        call.sight("python_runs_fetched")


def _receiver_is_shell(call: ReadCall) -> bool:
    texts = [text for text in call.callee.texts for text in text.split()[:1]]
    return not texts or any(SHELL_PROGRAMS.fullmatch(re.split(r"[/\\]", text)[-1]) for text in texts)
