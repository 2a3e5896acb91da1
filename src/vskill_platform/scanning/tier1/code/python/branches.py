"""Branches, and what is only reached through them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from vskill_platform.scanning.tier1.code.python.model import Module, Scope, terminal


def branches_of(module: Module) -> Iterator[tuple[ast.If, list[ast.stmt], Scope]]:
    """Every branch, with what follows it in its block."""
    waiting: list[tuple[list[ast.stmt], Scope]] = [(module.tree.body, module.scope)]
    waiting += [(each.node.body, each.scope) for each in module.functions if not isinstance(each.node, ast.Lambda)]
    while waiting:
        block, scope = waiting.pop()
        for number, statement in enumerate(block):
            if isinstance(statement, ast.If):
                yield statement, block[number + 1 :], scope
            if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                waiting += [(inner, scope) for inner in _blocks_of(statement)]


def leaves(block: list[ast.stmt]) -> bool:
    """Whether a block only ends what is running."""
    last = block[-1] if block else None
    if isinstance(last, ast.Return | ast.Continue | ast.Break):
        return len(block) <= 2
    is_exit = (
        isinstance(last, ast.Expr)
        and isinstance(last.value, ast.Call)
        and terminal(last.value.func) in {"exit", "_exit", "quit"}
    )
    return is_exit and len(block) <= 2


def _blocks_of(statement: ast.stmt) -> list[list[ast.stmt]]:
    held = [getattr(statement, name, None) for name in ("body", "orelse", "finalbody")]
    handlers = [handler.body for handler in getattr(statement, "handlers", ())]
    return [block for block in (*held, *handlers) if isinstance(block, list) and block]
