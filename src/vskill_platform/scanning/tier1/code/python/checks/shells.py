"""Shells whose input and output are a connection: whoever is at the other end types the commands."""

from __future__ import annotations

from vskill_platform.scanning.tier1.code.python import catalogue
from vskill_platform.scanning.tier1.code.python.checks.calls import ReadCall
from vskill_platform.scanning.tier1.code.python.commands import SHELL_PROGRAMS
from vskill_platform.scanning.tier1.code.python.values import NOTHING, Value

_CONNECTING = frozenset(["connect", "bind", "create_connection", "connect_ex", "create_server"])
_PIPES = ("stdin", "stdout", "stderr")


def may_be_shell(name: str) -> bool:
    """Whether a call of this name may tie a process to a connection."""
    return name in {"os.dup2", "posix.dup2", "pty.spawn"} or name in catalogue.PROCESSES


def check_shell(call: ReadCall) -> None:
    """Look at a call that may tie a process to a connection."""
    if (
        (call.name in {"os.dup2", "posix.dup2"} and _is_socket(call.argument(0)))
        or (call.name in catalogue.PROCESSES and _is_tied(call))
        or (call.name == "pty.spawn" and _starts_shell(call) and _connects(call))
    ):
        call.sight("python_reverse_shell")


def _is_tied(call: ReadCall) -> bool:
    """Whether one of the three pipes of a process is a connection."""
    has_pipes = any(each.arg in _PIPES for each in call.site.node.keywords)
    return has_pipes and any(_is_socket(call.keyword(pipe)) for pipe in _PIPES)


def _is_socket(value: Value) -> bool:
    if value is NOTHING:
        return False
    return any(name.startswith("socket.") and "()" in name for part in value.flat() for name in part.references)


def _starts_shell(call: ReadCall) -> bool:
    return any(not each.program or SHELL_PROGRAMS.fullmatch(each.program) for each in call.commands)


def _connects(call: ReadCall) -> bool:
    """Whether a socket is opened anywhere in the same file."""
    memo = call.module.memo
    if "connects" not in memo:
        sites = [site for site in call.module.calls if site.word in _CONNECTING]
        names = [name for site in sites for name in call.evaluator.value(site.node.func, site.scope).references]
        memo["connects"] = any(name.startswith("socket.") for name in names)
    return memo["connects"]
