"""One walk over a tree that notes every name's origins, every call, and the loops and branches, each with its scope.

It goes by a stack of its own, so that the depth of a tree costs memory and nothing else.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from vskill_platform.scanning.tier1.code.python.binding import MOVING, Binder
from vskill_platform.scanning.tier1.code.python.model import (
    Binding,
    Bound,
    Class,
    Function,
    Loop,
    Module,
    Scope,
    Site,
    children_of,
    terminal,
)
from vskill_platform.scanning.tier1.code.python.sources import PythonSource

_LEAVES = frozenset(
    [type(None), ast.Name, ast.Constant, ast.Pass, ast.Break, ast.Continue, ast.Load, ast.Store, ast.Del, ast.alias]
)
_FIELDS = {
    kind: tuple(
        field
        for field in reversed(kind._fields)
        if field not in {"ctx", "op", "ops", "lineno", "id", "attr", "arg", "name", "kind", "level", "module"}
        and field not in {"conversion", "is_async", "type_comment", "type_ignores", "names", "simple", "annotation"}
    )
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}
"""The fields of each kind of node that hold other nodes, the last first."""
_COMPARING = frozenset(["startswith", "endswith"])
_PASSED = frozenset([ast.Name, ast.Attribute, ast.Lambda])
"""What a function may be handed on as."""
_WRAPPERS = frozenset([ast.Attribute, ast.Expr, ast.Starred, ast.Await])
"""What has one child, its `value`, and nothing to be noted."""
_Entry = tuple[ast.AST, Scope]


class TooManyNodes(Exception):
    """There is more in the trees than is looked at."""


def index_module(source: PythonSource, tree: ast.Module, *, most_nodes: int) -> tuple[Module, int]:
    """The module, and how many nodes the walk met. Raises TooManyNodes."""
    walk = _Walk(Module(source, tree))
    met = walk.run(most_nodes)
    return walk.module, met


class _Walk:
    """`unstacked` counts the nodes that are met with the calls that they belong to, and never put on the stack."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.stack: list[_Entry] = []
        self.unstacked = 0
        self.names = Binder(module)

    def run(self, most: int) -> int:
        """Go through the whole tree. Returns how many nodes were met; raises TooManyNodes."""
        stack, met = self.stack, 0
        self.push_all(self.module.tree.body, self.module.scope)
        while stack:
            node, scope = stack.pop()
            met += 1
            if met > most:
                raise TooManyNodes
            if node.__class__ in _WRAPPERS:
                child = node.value  # type: ignore[attr-defined]
                if child.__class__ not in _LEAVES:
                    stack.append((child, scope))
                continue
            visit, fields = _PLANS.get(node.__class__, _NO_PLAN)
            if visit is not None and not visit(self, node, scope):
                continue
            for field in fields:
                child = getattr(node, field)
                if child.__class__ is list:
                    for each in reversed(child):
                        if each.__class__ not in _LEAVES:
                            stack.append((each, scope))
                elif child.__class__ not in _LEAVES:
                    stack.append((child, scope))
        met += self.unstacked
        if met > most:
            raise TooManyNodes
        self.names.settle()
        return met

    def push_all(self, nodes: Sequence[ast.AST], scope: Scope) -> None:
        """Put nodes on the stack, so that the first comes first."""
        for node in reversed(nodes):
            if node.__class__ not in _LEAVES:
                self.stack.append((node, scope))

    def call(self, node: ast.Call, scope: Scope) -> bool:
        func, below, word = node.func, node.func, ""
        if isinstance(func, ast.Attribute):
            word, below = func.attr, func.value
            self.unstacked += 1
            if word in MOVING:
                self.names.bind_method_call(func, node, scope)
            elif word in _COMPARING and node.args:
                scope.compared.update(_texts_in(node.args[0]))
        elif isinstance(func, ast.Name):
            word = func.id
            if word == "setattr":
                self.names.bind_setattr(node, scope)
        site = Site(node, scope, word)
        self.module.calls.append(site)
        if isinstance(func, ast.Lambda):
            self.module.lambda_calls[id(func)] = site
        if scope.function is not None:
            scope.function.words.add(word)
        if node.keywords:
            self.unstacked += len(node.keywords)
            self._push_given([each.value for each in node.keywords], site)
        if node.args:
            self._push_given(node.args, site)
        if below.__class__ not in _LEAVES:
            self.stack.append((below, scope))
        return False

    def _push_given(self, given: list[ast.expr], site: Site) -> None:
        """Put what a call is given on the stack, and note which of it may be a function that is handed on."""
        for argument in reversed(given):
            kind = argument.__class__
            if kind in _PASSED:
                self._pass(argument, site)
            if kind not in _LEAVES:
                self.stack.append((argument, site.scope))

    def _pass(self, argument: ast.expr, site: Site) -> None:
        if isinstance(argument, ast.Lambda):
            self.module.lambda_calls[id(argument)] = site
        else:
            self.module.passed.setdefault(terminal(argument), []).append(site)

    def assign(self, node: ast.Assign, scope: Scope) -> bool:
        for target in node.targets:
            self.names.bind_target(target, Bound.VALUE, node.value, scope)
            self.names.note_alias(target, node.value)
        return True

    def annotated(self, node: ast.AnnAssign, scope: Scope) -> bool:
        if node.value is not None:
            self.names.bind_target(node.target, Bound.VALUE, node.value, scope)
            self.names.note_alias(node.target, node.value)
        return True

    def named(self, node: ast.NamedExpr, scope: Scope) -> bool:
        self.names.bind_target(node.target, Bound.VALUE, node.value, scope)
        return True

    def augmented(self, node: ast.AugAssign, scope: Scope) -> bool:
        self.names.bind_target(node.target, Bound.ADDED, node.value, scope)
        return True

    def loop(self, node: ast.For | ast.AsyncFor, scope: Scope) -> bool:
        self.names.bind_target(node.target, Bound.ELEMENT, node.iter, scope)
        self.module.loops.append(Loop(node, scope))
        return True

    def endless(self, node: ast.While, scope: Scope) -> bool:
        self.module.loops.append(Loop(node, scope))
        return True

    def comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, scope: Scope) -> bool:
        for generator in node.generators:
            self.names.bind_target(generator.target, Bound.ELEMENT, generator.iter, scope)
        return True

    def with_items(self, node: ast.With | ast.AsyncWith, scope: Scope) -> bool:
        for item in node.items:
            if item.optional_vars is not None:
                self.names.bind_target(item.optional_vars, Bound.VALUE, item.context_expr, scope)
        return True

    def matches(self, node: ast.Match, scope: Scope) -> bool:
        waiting: list[ast.AST] = [case.pattern for case in node.cases]
        while waiting:
            pattern = waiting.pop()
            for name in (getattr(pattern, "name", None), getattr(pattern, "rest", None)):
                if isinstance(name, str):
                    self.names.bind(scope, name, Binding(Bound.VALUE, node.subject, scope))
            waiting += children_of(pattern)
        return True

    def imports(self, node: ast.Import, scope: Scope) -> bool:
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            meant = alias.name if alias.asname else name
            self.names.bind(scope, name, Binding(Bound.IMPORT, None, scope, name=meant))
            if not alias.asname and "." in alias.name:
                self.names.bind(scope, alias.name, Binding(Bound.IMPORT, None, scope, name=alias.name))
        return False

    def imports_from(self, node: ast.ImportFrom, scope: Scope) -> bool:
        module = ("." * node.level) + (node.module or "")
        for alias in node.names:
            if alias.name == "*":
                self.module.stars.append(module)
                continue
            bound = Binding(Bound.FROM, None, scope, name=f"{module}:{alias.name}")
            self.names.bind(scope, alias.asname or alias.name, bound)
            if alias.asname:
                self.module.aliases.setdefault(alias.name, []).append(alias.asname)
        return False

    def shares(self, node: ast.Global | ast.Nonlocal, scope: Scope) -> bool:
        if isinstance(node, ast.Global):
            scope.shared.update(node.names)
        else:
            self._share_with_outer(node, scope)
        return False

    def _share_with_outer(self, node: ast.Nonlocal, scope: Scope) -> None:
        """A name of an outer function: what is bound here goes there."""
        for name in node.names:
            outer = scope.parent
            while outer is not None and name not in outer.bindings:
                outer = outer.parent
            if outer is not None:
                scope.bindings[name] = outer.bindings[name]

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> bool:
        made = self._function_made(node.name, node, scope)
        self.names.bind(scope, node.name, Binding(Bound.DEFINED, None, scope, subject=made))
        self.push_all(node.body, made.scope)
        self._push_defaults(node.args, scope)
        if node.decorator_list:
            for mark in node.decorator_list:
                self.module.decorated.setdefault(terminal(mark), []).append(made)
            self.push_all(node.decorator_list, scope)
        return False

    def lambda_function(self, node: ast.Lambda, scope: Scope) -> bool:
        made = self._function_made("<lambda>", node, scope)
        made.returns.append(node.body)
        self.module.lambdas[id(node)] = made
        self.push_all([node.body], made.scope)
        self._push_defaults(node.args, scope)
        return False

    def _push_defaults(self, arguments: ast.arguments, scope: Scope) -> None:
        if arguments.kw_defaults:
            self.push_all([each for each in arguments.kw_defaults if each is not None], scope)
        if arguments.defaults:
            self.push_all(arguments.defaults, scope)

    def _function_made(
        self, name: str, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, scope: Scope
    ) -> Function:
        inner = Scope(self.module, scope)
        made = Function(name, node, scope=inner, owner=scope.owner if scope.is_class else None)
        inner.function = made
        self.module.functions.append(made)
        arguments, kind = node.args, Bound.PARAMETER
        for index, parameter in enumerate(made.parameters):
            inner.bindings[parameter] = [Binding(kind, None, inner, index, parameter, made)]
        if arguments.kwonlyargs or arguments.vararg or arguments.kwarg:
            for extra in (*arguments.kwonlyargs, arguments.vararg, arguments.kwarg):
                if extra is not None:
                    inner.bindings[extra.arg] = [Binding(kind, None, inner, -1, extra.arg, made)]
        return made

    def class_definition(self, node: ast.ClassDef, scope: Scope) -> bool:
        inner = Scope(self.module, scope, is_class=True)
        made = Class(node.name, node, scope=inner)
        inner.owner = made
        inner.function = None
        self.module.classes.append(made)
        self.names.bind(scope, node.name, Binding(Bound.DEFINED, None, scope, subject=made))
        self.push_all(node.body, inner)
        self.push_all([*node.bases, *node.decorator_list, *(each.value for each in node.keywords)], scope)
        return False

    def returns(self, node: ast.Return | ast.Yield | ast.YieldFrom, scope: Scope) -> bool:
        if node.value is not None and scope.function is not None:
            scope.function.returns.append(node.value)
        if node.value.__class__ not in _LEAVES:
            self.stack.append((node.value, scope))  # type: ignore[arg-type]
        return False

    def branch(self, node: ast.If, scope: Scope) -> bool:
        if scope.parent is None and _is_main_guard(node.test):
            self.module.guards.append((node.lineno, node.end_lineno or node.lineno))
        return True

    def slices(self, node: ast.Slice, scope: Scope) -> bool:
        if scope.function is not None and node.step is not None:
            scope.function.words.add("[::]")
        return True

    def compares(self, node: ast.Compare, scope: Scope) -> bool:
        if scope.function is not None and isinstance(node.left, ast.Constant) and node.left.value == "..":
            scope.function.words.add("..")
        for side in (node.left, *node.comparators):
            if side.__class__ is not ast.Name:
                scope.compared.update(_texts_in(side))
        return True


def _texts_in(node: ast.expr) -> list[str]:
    """The texts of a constant, or of a list of constants."""
    parts = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]
    return [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]


def _is_main_guard(test: ast.expr) -> bool:
    if not isinstance(test, ast.Compare) or len(test.comparators) != 1:
        return False
    sides = (test.left, test.comparators[0])
    named = any(isinstance(side, ast.Name) and side.id == "__name__" for side in sides)
    return named and any(isinstance(side, ast.Constant) and side.value == "__main__" for side in sides)


_VISITS: dict[type[ast.AST], Callable[[_Walk, Any, Scope], bool]] = {
    ast.Call: _Walk.call,
    ast.Assign: _Walk.assign,
    ast.AnnAssign: _Walk.annotated,
    ast.NamedExpr: _Walk.named,
    ast.AugAssign: _Walk.augmented,
    ast.For: _Walk.loop,
    ast.AsyncFor: _Walk.loop,
    ast.While: _Walk.endless,
    ast.ListComp: _Walk.comprehension,
    ast.SetComp: _Walk.comprehension,
    ast.GeneratorExp: _Walk.comprehension,
    ast.DictComp: _Walk.comprehension,
    ast.With: _Walk.with_items,
    ast.AsyncWith: _Walk.with_items,
    ast.Import: _Walk.imports,
    ast.ImportFrom: _Walk.imports_from,
    ast.Global: _Walk.shares,
    ast.Nonlocal: _Walk.shares,
    ast.FunctionDef: _Walk.function,
    ast.AsyncFunctionDef: _Walk.function,
    ast.Lambda: _Walk.lambda_function,
    ast.ClassDef: _Walk.class_definition,
    ast.Return: _Walk.returns,
    ast.Yield: _Walk.returns,
    ast.YieldFrom: _Walk.returns,
    ast.If: _Walk.branch,
    ast.Match: _Walk.matches,
    ast.Compare: _Walk.compares,
    ast.Slice: _Walk.slices,
}
_PLANS = {kind: (_VISITS.get(kind), fields) for kind, fields in _FIELDS.items()}
"""What is done with each kind of node, and where its children are."""
_NO_PLAN: tuple[None, tuple[str, ...]] = (None, ())
"""For what is no node, such as the constant of a pattern."""
