"""Keys that a program looks for by their names in a file of variables: one of them is a key, and not the file.

`if line.startswith("ACME_KEY="): return line.split("=", 1)[1]` gives what `os.environ["ACME_KEY"]` does, and is judged like it:
by whose key it is and where that goes. A branch counts that compares what a loop over lines came to with a name that is written
down; `"ACME_KEY" in text` may have all of the text go, and so may `mode == "FULL_SYNC"`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from vskill_platform.scanning.tier1.code.chosen import NAME
from vskill_platform.scanning.tier1.code.python.branches import branches_of, leaves
from vskill_platform.scanning.tier1.code.python.model import Asked, Module, Scope
from vskill_platform.scanning.tier1.code.python.values import FILE, NAMED_KEY, OWN_SECRET, SETTINGS, Value

if TYPE_CHECKING:
    from vskill_platform.scanning.tier1.code.python.evaluation import Evaluator

KEPT_TOGETHER = OWN_SECRET | SETTINGS
"""What stands in a file with all keys of a project."""
MOST_ASKED = 64
_NAME = re.compile(rf"(?:export +)?{NAME}\s*=?")
_NAME_IN_PATTERN = re.compile(rf"{NAME}(?:\\s[*+]|\s)?[\"']?=")
_TAKES_APART = frozenset(["partition", "split"])
_MOVES = frozenset(["strip", "lstrip", "rstrip"])


def chosen(evaluator: Evaluator, value: Value, node: ast.expr, scope: Scope) -> Value:
    """The value of an expression; where the branch around it asks for keys by their names, these keys."""
    module = scope.module
    if module.asked is None:
        module.asked = list(islice(_asked_in(module), MOST_ASKED))
    around = [names for first, last, names in module.asked if first <= node.lineno <= last]
    return as_keys(value, _names(evaluator, [name for names in around for name in names], scope))


def is_before_equals(node: ast.expr) -> bool:
    """Whether the first part of what an expression gives is the name of a variable, and so nobody's secret."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
        return False
    mark = node.args[0]
    return node.func.attr in _TAKES_APART and isinstance(mark, ast.Constant) and mark.value == "="


def chosen_by(evaluator: Evaluator, value: Value, tests: Iterable[ast.expr], scope: Scope) -> Value:
    """The same for an expression that is asked for in its own conditions, as that of a comprehension."""
    return as_keys(value, _names(evaluator, [name for test in tests for name in _asked_for(test)], scope))


def chosen_by_pattern(value: Value, pattern: Value) -> Value:
    """The same for what a regular expression takes out of a text."""
    return as_keys(value, tuple(found["name"] for text in pattern.texts if (found := _NAME_IN_PATTERN.search(text))))


def as_keys(value: Value, names: tuple[str, ...]) -> Value:
    """A value as keys of these names; as it is where there are none."""
    if not names or not value.taint & KEPT_TOGETHER:
        return value
    return Value(
        value.constants,
        value.references,
        value.targets,
        value.taint & ~(KEPT_TOGETHER | FILE) | NAMED_KEY,
        items=None if value.items is None else tuple(as_keys(each, names) for each in value.items),
        inner=None if value.inner is None else as_keys(value.inner, names),
        variables=names,
    )


def _names(evaluator: Evaluator, asked: list[ast.expr], scope: Scope) -> tuple[str, ...]:
    values = [evaluator.value(each, scope) for each in asked]
    texts = [text for value in values for part in value.flat() for text in part.texts]
    return tuple(dict.fromkeys(found["name"] for text in texts if (found := _NAME.fullmatch(text.strip()))))


def _asked_in(module: Module) -> Iterator[Asked]:
    """The lines of a module that are only reached where a name is one of those that are written down."""
    for branch, following, scope in branches_of(module):
        if names := tuple(_asked_for(branch.test, scope=scope, line=branch.lineno)):
            yield Asked(branch.body[0].lineno, branch.body[-1].end_lineno or 0, names)
        elif following and leaves(branch.body):
            names = tuple(_asked_for(branch.test, scope=scope, line=branch.lineno, is_turned=True))
            if names:
                yield Asked(following[0].lineno, following[-1].end_lineno or 0, names)


def _asked_for(
    test: ast.expr, *, scope: Scope | None = None, line: int = 0, is_turned: bool = False
) -> Iterator[ast.expr]:
    """What stands for the name that a condition asks for, or that it turns all others away from."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _asked_for(test.operand, scope=scope, line=line, is_turned=not is_turned)
    elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or if is_turned else ast.And):
        for each in test.values:
            yield from _asked_for(each, scope=scope, line=line, is_turned=is_turned)
    elif isinstance(test, ast.Compare) and isinstance(test.ops[0], _COMPARED[is_turned]):
        yield from _compared(test, scope, line)
    elif isinstance(test, ast.Call) and not is_turned and _is_of_line(test.func, scope, line):
        yield from test.args[:1]


def _compared(test: ast.Compare, scope: Scope | None, line: int) -> Iterator[ast.expr]:
    """What something of a loop is compared with."""
    first, second = test.left, test.comparators[0]
    if _is_of_loop(first, scope, line):
        yield second
    elif not isinstance(test.ops[0], ast.In | ast.NotIn) and _is_of_loop(second, scope, line):
        yield first


_COMPARED = {False: (ast.Eq, ast.In), True: (ast.NotEq, ast.NotIn)}


def _is_of_line(func: ast.expr, scope: Scope | None, line: int) -> bool:
    """Whether it is asked how something begins that a loop came to."""
    return isinstance(func, ast.Attribute) and func.attr == "startswith" and _is_of_loop(func.value, scope, line)


def _is_of_loop(subject: ast.expr, scope: Scope | None, line: int) -> bool:
    """Whether something is what a loop came to, such as a line or its beginning, and not a whole text or a switch."""
    while isinstance(subject, ast.Call) and isinstance(subject.func, ast.Attribute) and subject.func.attr in _MOVES:
        subject = subject.func.value
    if not isinstance(subject, ast.Name):
        return False
    if scope is None:
        return True
    loops = [each.node for each in scope.module.loops if each.scope is scope]
    around = [each for each in loops if each.lineno <= line <= (each.end_lineno or 0)]
    bindings = [each.node for each in scope.bindings.get(subject.id, ()) if each.node is not None]
    return bool(bindings) and any(
        any(loop.lineno <= node.lineno <= (loop.end_lineno or 0) for node in bindings) for loop in around
    )
