"""Code that waits for its day: what runs only after a date, on one machine, or where nobody is watching."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from vskill_platform.scanning.tier1.code.python import catalogue
from vskill_platform.scanning.tier1.code.python.branches import branches_of, leaves
from vskill_platform.scanning.tier1.code.python.evaluation import Evaluator
from vskill_platform.scanning.tier1.code.python.model import Function, Module, Scope, children_of, terminal
from vskill_platform.scanning.tier1.code.python.notes import Notes
from vskill_platform.scanning.tier1.code.python.values import IDENTITY
from vskill_platform.scanning.tier1.patterns import Pattern

_CLOCK = Pattern(r"\b(?:now|utcnow|today|time|localtime|gmtime)\s*\(")
_DATE = Pattern(r"\b20[2-9]\d\b|\b20[2-9]\d-?[01]\d|\b[12]\d{9}\b")
_MACHINE = Pattern(r"gethostname|getuser|getlogin|\bnode\s*\(|getfqdn|getnode")
_NOW = frozenset(["now", "utcnow", "today", "time", "localtime", "gmtime"])
_DAY = re.compile(r"20\d\d-?[01]\d-?[0-3]\d")
_LATE = range(1_500_000_000, 4_000_000_000)
MOST_NODES = 3_000
DEEPEST_CALL = 2
_LOOKING = frozenset(["startswith", "endswith", "match", "search"])
_HARMS = (
    catalogue.EVALUATORS | catalogue.SHELLS | catalogue.SPAWNERS | catalogue.PROCESSES | frozenset(["shutil.rmtree"])
)


def check_gates(evaluator: Evaluator, module: Module, notes: Notes) -> None:
    """Look at every branch whose condition asks what day it is, or whose machine."""
    asks_machine = _MACHINE.is_in(module.encoded)
    if not (asks_machine or (_CLOCK.is_in(module.encoded) and _DATE.is_in(module.encoded))):
        return
    clocks = _clock_names(module)
    for branch, following, scope in branches_of(module):
        evaluator.spend()
        is_day = _asks_day(evaluator, branch.test, scope, clocks)
        if is_day or (asks_machine and _asks_machine(evaluator, branch.test, scope)):
            guarded = following if leaves(branch.body) else [*branch.body, *branch.orelse]
            if _does_harm(evaluator, guarded, scope):
                notes.sight("python_gated", branch, module)


def _clock_names(module: Module) -> frozenset[str]:
    """The names that were bound to something that a clock said."""
    scopes = [module.scope, *(each.scope for each in module.functions), *(each.scope for each in module.classes)]
    bound = ((name, each.node) for scope in scopes for name, held in scope.bindings.items() for each in held[:4])
    return frozenset(name for name, node in bound if node is not None and _reads_clock(node))


def _reads_clock(node: ast.AST) -> bool:
    """Whether the outermost calls of an expression ask a clock, as in `datetime.now().date()`."""
    while isinstance(node, ast.Call | ast.Attribute):
        if isinstance(node, ast.Call) and terminal(node.func) in _NOW:
            return True
        node = node.func if isinstance(node, ast.Call) else node.value
    return False


def _asks_day(evaluator: Evaluator, test: ast.expr, scope: Scope, clocks: frozenset[str]) -> bool:
    """Whether a condition compares today with a day that is written down."""
    compares = [each for each in _nodes(test) if isinstance(each, ast.Compare)]
    return any(_is_clock(each, clocks) and _has_day(evaluator, each, scope) for each in compares)


def _is_clock(node: ast.Compare, clocks: frozenset[str]) -> bool:
    return any(
        (isinstance(each, ast.Name) and each.id in clocks)
        or (isinstance(each, ast.Call) and terminal(each.func) in _NOW)
        for each in _nodes(node)
    )


def _has_day(evaluator: Evaluator, node: ast.Compare, scope: Scope) -> bool:
    for side in (node.left, *node.comparators):
        for each in _nodes(side):
            if (
                isinstance(each, ast.Call)
                and terminal(each.func) in {"datetime", "date", "fromisoformat", "strptime"}
                and _is_fixed(evaluator, each, scope)
            ):
                return True
            if isinstance(each, ast.Constant | ast.Name) and any(
                _is_day(value) for value in evaluator.value(each, scope).constants
            ):
                return True
    return False


def _is_fixed(evaluator: Evaluator, call: ast.Call, scope: Scope) -> bool:
    first = evaluator.value(call.args[0], scope).only if call.args else None
    return (isinstance(first, int) and 2000 <= first <= 2100) or (isinstance(first, str) and bool(_DAY.search(first)))


def _is_day(value: object) -> bool:
    if isinstance(value, int):
        return value in _LATE
    return isinstance(value, str) and len(value) < 40 and bool(_DAY.match(value))


def _asks_machine(evaluator: Evaluator, test: ast.expr, scope: Scope) -> bool:
    """Whether a condition compares this machine or user with one that is written down."""
    return any(_compares_machine(evaluator, each, scope) for each in _nodes(test))


def _compares_machine(evaluator: Evaluator, node: ast.AST, scope: Scope) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _LOOKING:
        return bool(evaluator.value(node.func.value, scope).taint & IDENTITY)
    if not isinstance(node, ast.Compare):
        return False
    values = [evaluator.value(side, scope) for side in (node.left, *node.comparators)]
    texts = [text for value in values for part in value.flat() for text in part.texts]
    return any(value.taint & IDENTITY for value in values) and any(text and text != "root" for text in texts)


def _does_harm(evaluator: Evaluator, block: list[ast.stmt], scope: Scope, *, depth: int = 0) -> bool:
    """Whether something in a block runs what nobody sees, sends something, or takes files away."""
    for statement in block:
        for each in _nodes(statement):
            evaluator.spend()
            if not isinstance(each, ast.Call):
                continue
            callee = evaluator.value(each.func, scope)
            if any(_is_harm(name) for name in callee.references):
                return True
            functions = [each for each in callee.targets if isinstance(each, Function)] if depth < DEEPEST_CALL else []
            if any(_does_harm(evaluator, _body_of(each), each.scope, depth=depth + 1) for each in functions):
                return True
    return False


def _body_of(function: Function) -> list[ast.stmt]:
    return [] if isinstance(function.node, ast.Lambda) else function.node.body


def _is_harm(name: str) -> bool:
    is_upload = catalogue.is_network(name) and catalogue.last_of(name) in {"post", "put", "sendall", "send", "connect"}
    return name in _HARMS or is_upload


def _nodes(node: ast.AST) -> Iterator[ast.AST]:
    waiting, left = [node], MOST_NODES
    while waiting and left:
        at = waiting.pop()
        left -= 1
        yield at
        waiting += children_of(at)
