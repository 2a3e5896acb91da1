"""Whether a fenced block could be run as it stands, or only shows a few lines of something."""

from __future__ import annotations

import ast
import builtins

from vskill_platform.scanning.tier1.code.python.model import Module, children_of

MOST_NODES = 5_000
_BUILT_IN = frozenset(dir(builtins)) | {"__name__", "__file__", "__builtins__"}


def is_fragment(module: Module) -> bool:
    """Whether the block uses names that it neither makes nor imports; it would stop at the first of them."""
    if module.outer is not None:
        return is_fragment(module.outer)
    if "fragment" not in module.memo:
        module.memo["fragment"] = not module.stars and _uses_unmade_names(module)
    return module.memo["fragment"]


def _uses_unmade_names(module: Module) -> bool:
    made = {name for each in module.functions for name in each.scope.bindings} | set(module.scope.bindings)
    made |= {name for each in module.classes for name in each.scope.bindings} | _BUILT_IN
    waiting: list[ast.AST] = [module.tree]
    left = MOST_NODES
    while waiting and left:
        node = waiting.pop()
        left -= 1
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in made:
            return True
        waiting += children_of(node)
    return False
