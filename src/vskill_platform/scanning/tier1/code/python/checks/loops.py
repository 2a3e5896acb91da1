"""Loops that never end and take the machine with them: processes without number, memory without bound, or nothing at all."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from vskill_platform.scanning.tier1.code.python.evaluation import Evaluator
from vskill_platform.scanning.tier1.code.python.model import (
    Function,
    Loop,
    Module,
    Scope,
    children_of,
    terminal,
)
from vskill_platform.scanning.tier1.code.python.notes import Notes
from vskill_platform.scanning.tier1.code.python.vocabulary import words
from vskill_platform.scanning.tier1.patterns import Pattern

MOST_CALLS = 200
MOST_NODES = 8_000
DEEPEST_CALL = 3
HUGE = 1_000_000
_MUCH = Pattern(r"\*\s*(?:\d{7}|\d+_000_000|10\s*\*\*|1\s*<<|[A-Z_]{6})|\bfork")
_EXITS = (ast.Break, ast.Return, ast.Raise, ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith)
_CHANGING = (ast.Name, ast.Call, ast.Attribute, ast.NamedExpr, ast.Await)
_SPAWNING = frozenset(
    ["os.fork", "posix.fork", "multiprocessing.Process", "threading.Thread", "_thread.start_new_thread", "os.forkpty"]
)
_QUIET = words(
    "print len str int float list dict set tuple range append extend add update abs min max sum sorted repr "
    "pow round chr ord bytes bytearray bool hash"
)
"""Calls that neither wait for anything nor end anything."""
_GROWING = frozenset(["append", "extend", "add", "update", "appendleft", "insert"])


def check_loops(evaluator: Evaluator, module: Module, notes: Notes) -> None:
    """Look at every loop of a module."""
    has_much = _MUCH.is_in(module.encoded)
    for loop in module.loops:
        if isinstance(loop.node, ast.While) and _is_true(loop.node.test):
            _check_endless(evaluator, loop, notes)
        elif has_much and isinstance(loop.node, ast.For):
            _check_repeated(evaluator, loop, notes)


def _is_true(test: ast.expr) -> bool:
    """Whether a condition holds for ever: it has no name in it that could change."""
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if not isinstance(test, ast.UnaryOp | ast.Compare | ast.BinOp | ast.BoolOp | ast.List | ast.Tuple | ast.Dict):
        return False
    return not any(isinstance(each, _CHANGING) for each in _bounded(test))


def _check_endless(evaluator: Evaluator, loop: Loop, notes: Notes) -> None:
    calls: list[ast.Call] = []
    for each in (node for statement in loop.node.body for node in _bounded(statement)):
        evaluator.spend()
        if isinstance(each, _EXITS):
            return
        if isinstance(each, ast.Call):
            calls.append(each)
    is_bomb = not _waits(calls) and any(_spawns(evaluator, each, loop) for each in calls)
    if is_bomb or _is_busy(evaluator, calls, loop.scope, depth=0):
        notes.sight("python_endless", loop.node, loop.scope.module)


def _spawns(evaluator: Evaluator, call: ast.Call, loop: Loop) -> bool:
    names = evaluator.value(call.func, loop.scope).references
    return any(name in _SPAWNING for name in names)


def _waits(calls: list[ast.Call]) -> bool:
    return any(
        terminal(each.func) in {"sleep", "join", "wait", "accept", "recv", "get", "acquire", "poll", "select"}
        for each in calls
    )


def _is_busy(evaluator: Evaluator, calls: list[ast.Call], scope: Scope, *, depth: int) -> bool:
    """Whether nothing in the loop waits for anything: only calculations, and functions of the skill that do no more."""
    if depth > DEEPEST_CALL or len(calls) > MOST_CALLS:
        return False
    for call in calls:
        if terminal(call.func) in _QUIET:
            continue
        targets = evaluator.value(call.func, scope).targets
        if not targets or not all(isinstance(each, Function) and _is_idle(evaluator, each, depth) for each in targets):
            return False
    return True


def _is_idle(evaluator: Evaluator, function: Function, depth: int) -> bool:
    held: list[ast.Call] = []
    for each in _bounded(function.node):
        evaluator.spend()
        if isinstance(each, ast.Raise | ast.Await | ast.Yield):
            return False
        if isinstance(each, ast.Call):
            held.append(each)
    return _is_busy(evaluator, held, function.scope, depth=depth + 1)


def _check_repeated(evaluator: Evaluator, loop: Loop, notes: Notes) -> None:
    """A loop that adds millions each time, or that starts processes and goes over an endless range."""
    for each in (node for statement in loop.node.body for node in _bounded(statement)):
        if (
            isinstance(each, ast.Call)
            and terminal(each.func) in _GROWING
            and each.args
            and _is_huge(evaluator, each.args[0], loop)
        ):
            notes.sight("python_endless", each, loop.scope.module)
        if isinstance(each, ast.Call) and terminal(each.func) in {"fork", "forkpty"} and _spawns(evaluator, each, loop):
            notes.sight("python_endless", each, loop.scope.module)


def _is_huge(evaluator: Evaluator, node: ast.expr, loop: Loop) -> bool:
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
        return False
    values = [evaluator.value(side, loop.scope).only for side in (node.left, node.right)]
    return any(isinstance(each, int) and each >= HUGE for each in values)


def _bounded(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes below a node, up to a bound, without those of functions that are only defined there."""
    waiting, left = [node], MOST_NODES
    is_first = True
    while waiting and left:
        at = waiting.pop()
        left -= 1
        if not is_first and isinstance(at, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            continue
        is_first = False
        yield at
        waiting += children_of(at)
