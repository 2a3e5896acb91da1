"""A program that puts what it fetched in its own place, or wherever in its own folder the server says."""

from __future__ import annotations

import ast
import re

from vskill_platform.scanning.tier1.code.python.checks.calls import ReadCall
from vskill_platform.scanning.tier1.code.python.model import Bound, Scope
from vskill_platform.scanning.tier1.code.python.values import NETWORK

MOST_NAMES = 4
"""Names behind which the folder of a program may stand."""
_ITSELF = re.compile(r"(?:Path|pathlib\.Path|open)\(__file__(?:, [^()]*)?\)(?:\.(?:resolve|absolute)\(\))?")
_UPWARDS = frozenset([".", ".."])


def check_itself(call: ReadCall) -> None:
    """Look at a call that writes."""
    func = call.site.node.func
    if not isinstance(func, ast.Attribute) or not call.argument(0, "data").taint & NETWORK:
        return
    if _ITSELF.fullmatch(ast.unparse(func.value)):
        call.sight("python_runs_fetched")
    elif _is_chosen_by_server(call, func.value):
        call.sight("python_takes_places")


def _is_chosen_by_server(call: ReadCall, written: ast.expr) -> bool:
    """Whether a path is that of the program's own folder, and behind it what came from the network."""
    node, scope = _meant(written, call.site.scope)
    match node:
        case ast.Call(func=ast.Name(id="open"), args=[path, *_]):
            node, scope = _meant(path, scope)
    match node:
        case ast.BinOp(left=folder, op=ast.Div(), right=name):
            pass
        case ast.Call(func=ast.Attribute(attr="join"), args=[folder, name]):
            pass
        case ast.Call(func=ast.Attribute(value=folder, attr="joinpath"), args=[name]):
            pass
        case _:
            return False
    return bool(call.evaluator.value(name, scope).taint & NETWORK) and _is_own_folder(folder, scope, MOST_NAMES)


def _is_own_folder(node: ast.expr, scope: Scope, names: int) -> bool:
    """Whether an expression is made of the program's own place and ways up from it, and of nothing else."""
    parts = list(ast.walk(node))
    if any(
        isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value not in _UPWARDS for part in parts
    ):
        return False
    for part in parts:
        if not isinstance(part, ast.Name):
            continue
        if part.id == "__file__":
            return True
        other, there = _meant(part, scope)
        if names and other is not part and _is_own_folder(other, there, names - 1):
            return True
    return False


def _meant(node: ast.expr, scope: Scope) -> tuple[ast.expr, Scope]:
    """The expression that a name stands for, if it got its value once, and where that is."""
    at: Scope | None = scope if isinstance(node, ast.Name) else None
    while at is not None:
        bound = at.bindings.get(node.id) if isinstance(node, ast.Name) else None
        if bound:
            values = [each for each in bound if each.kind != Bound.HELD]
            if len(values) == 1 and values[0].kind == Bound.VALUE and values[0].node is not None:
                return values[0].node, values[0].scope
            return node, scope
        at = at.parent
    return node, scope
