"""One walk over a tree that notes every name's origins, every call, and the loops and branches, each with its scope.

It goes by a stack of its own, so that the depth of a tree costs memory and nothing else.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from vskill_platform.scanning.tier1.code.python.model import (
    Binding,
    Bound,
    Class,
    Function,
    Loop,
    Module,
    Scope,
    Site,
    terminal,
)
from vskill_platform.scanning.tier1.code.python.sources import PythonSource
from vskill_platform.scanning.tier1.code.python.vocabulary import words

_LEAVES = frozenset(
    [type(None), ast.Name, ast.Constant, ast.Pass, ast.Break, ast.Continue, ast.Load, ast.Store, ast.Del, ast.alias]
)
_FIELDS = {
    kind: tuple(
        field
        for field in kind._fields
        if field not in {"ctx", "op", "ops", "lineno", "id", "attr", "arg", "name", "kind", "level", "module"}
        and field not in {"conversion", "is_async", "type_comment", "type_ignores", "names", "simple", "annotation"}
    )
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}
_PUTTERS = words(
    "append appendleft add insert put push attach write writestr writelines set_content add_attachment "
    "set_payload add_field add_part add_alternative"
)
_VIEWS = frozenset(["reshape", "ravel", "view", "flat", "getbuffer", "cast"])
"""Methods that give the same thing under another name."""
_SPREADERS = frozenset(["extend", "update", "extendleft"])
_SAVERS = words("save savefig to_csv to_json to_excel to_parquet tofile export write_pdf writeto")
"""Methods that write what they belong to into their argument."""
_DUMPERS = frozenset(["dump", "safe_dump", "copyfileobj"])
"""Functions that write their first argument into the second."""
_READERS = frozenset(["read", "read_file", "load_cert_chain"])
_Entry = tuple[ast.AST, Scope]


DEEPEST_ALIAS = 4


class TooManyNodes(Exception):
    """There is more in the trees than is looked at."""


def index_module(source: PythonSource, tree: ast.Module, *, most_nodes: int) -> tuple[Module, int]:
    """The module, and how many nodes the walk met. Raises TooManyNodes."""
    walk = _Walk(Module(source, tree), most_nodes)
    walk.run()
    return walk.module, walk.met


class _Walk:
    def __init__(self, module: Module, most_nodes: int) -> None:
        self.module = module
        self.stack: list[_Entry] = []
        self.met = 0
        self._most = most_nodes
        self._held: list[tuple[Scope, str, Binding]] = []

    def run(self) -> None:
        stack = self.stack
        self.push_all(self.module.tree.body, self.module.scope)
        while stack:
            node, scope = stack.pop()
            self.met += 1
            if self.met > self._most:
                raise TooManyNodes
            visit = _VISITS.get(node.__class__)
            if visit is None or visit(self, node, scope):
                self.push_fields(node, scope)
        self._settle_held()

    def _settle_held(self) -> None:
        """Give what was put into containers to the owners of their names, and to what a name is only another name for."""
        same: dict[tuple[Scope, str], str] = {}
        for scope, name, binding in self._held:
            at = scope
            for _ in range(DEEPEST_ALIAS):
                owner = _owner_of(name, at)
                held = owner.bindings.setdefault(name, [])
                if (owner, name) not in same:
                    same[owner, name] = _same_as(held)
                held.append(binding)
                if not same[owner, name] or same[owner, name] == name:
                    break
                at, name = owner, same[owner, name]

    def push_all(self, nodes: Sequence[ast.AST], scope: Scope) -> None:
        """Put nodes on the stack, so that the first comes first."""
        self.stack.extend([(node, scope) for node in reversed(nodes) if node.__class__ not in _LEAVES])

    def push_fields(self, node: ast.AST, scope: Scope) -> None:
        """Put all that is in a node on the stack, so that the first comes first."""
        for field in reversed(_FIELDS.get(node.__class__, ())):
            child = getattr(node, field, None)
            if child.__class__ is list:
                self.stack.extend([(each, scope) for each in reversed(child) if each.__class__ not in _LEAVES])
            elif child is not None and child.__class__ not in _LEAVES:
                self.stack.append((child, scope))

    def bind(self, scope: Scope, name: str, binding: Binding) -> None:
        """Note how a name got its value."""
        if name in scope.shared:
            scope = self.module.scope
        scope.bindings.setdefault(name, []).append(binding)

    def bind_target(self, target: ast.expr, kind: Bound, node: ast.expr | None, scope: Scope) -> None:
        """Note what a target gets, part by part where it has parts."""
        waiting: list[tuple[ast.expr, Bound, int]] = [(target, kind, -1)]
        while waiting:
            at, how, index = waiting.pop()
            if isinstance(at, ast.Name):
                self.bind(scope, at.id, Binding(how, node, scope, index))
            elif isinstance(at, ast.Tuple | ast.List):
                inner = Bound.ITEM if how is Bound.VALUE else how
                waiting += [(part, inner, number) for number, part in enumerate(at.elts)]
            elif isinstance(at, ast.Starred):
                waiting.append((at.value, how, -1))
            elif isinstance(at, ast.Attribute):
                self._bind_attribute(at, Binding(how, node, scope, index), scope)
            elif isinstance(at, ast.Subscript):
                self._bind_held(at.value, Binding(Bound.HELD, node, scope), scope)
                self._bind_held(at.value, Binding(Bound.HELD, at.slice, scope), scope)
                if node is not None:
                    self.module.stored.append((at, node, scope))

    def _bind_attribute(self, target: ast.Attribute, binding: Binding, scope: Scope) -> None:
        owner = self._owner_of(target.value, scope)
        held = owner.attributes if owner is not None else self.module.attributes
        held.setdefault(target.attr, []).append(binding)
        if binding.node is not None:
            self.module.stored.append((target, binding.node, scope))
        if owner is None:
            self._bind_held(target.value, Binding(Bound.HELD, binding.node, scope), scope)

    def _owner_of(self, node: ast.expr, scope: Scope) -> Class | None:
        """The class whose `self` a name is."""
        function = scope.function
        if function is None or function.owner is None or not function.parameters or not isinstance(node, ast.Name):
            return None
        return function.owner if node.id == function.parameters[0] else None

    def _bind_held(self, holder: ast.expr, binding: Binding, scope: Scope) -> None:
        """Note what was put into a container, by the name that the container has."""
        while isinstance(holder, ast.Subscript):
            holder = holder.value
        if isinstance(holder, ast.Name):
            self._held.append((scope, holder.id, binding))
        elif isinstance(holder, ast.Attribute):
            owner = self._owner_of(holder.value, scope)
            held = owner.attributes if owner is not None else self.module.attributes
            held.setdefault(holder.attr, []).append(binding)

    def call(self, node: ast.Call, scope: Scope) -> bool:
        site = Site(node, scope)
        self.module.calls.append(site)
        func = node.func
        if func.__class__ is ast.Attribute:
            self._method_call(func, node, scope)  # type: ignore[arg-type]
        elif func.__class__ is ast.Name:
            if scope.function is not None:
                scope.function.words.add(func.id)
        elif func.__class__ is ast.Lambda:
            self.module.lambda_calls[id(func)] = site
        for argument in node.args:
            self._pass(argument, site)
        for keyword in node.keywords:
            self._pass(keyword.value, site)
        return True

    def _method_call(self, func: ast.Attribute, node: ast.Call, scope: Scope) -> None:
        name = func.attr
        if scope.function is not None:
            scope.function.words.add(name)
        if name in {"startswith", "endswith"} and node.args:
            scope.compared.update(_texts_in(node.args[0]))
        if name in _PUTTERS:
            for argument in node.args:
                self._bind_held(func.value, Binding(Bound.HELD, argument, scope), scope)
        elif name in _SPREADERS:
            for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
                self._bind_held(func.value, Binding(Bound.HELD, argument, scope, place=1), scope)
        elif name in _SAVERS and node.args:
            self._bind_held(node.args[0], Binding(Bound.HELD, func.value, scope), scope)
        elif name in _DUMPERS and len(node.args) > 1:
            self._bind_held(node.args[1], Binding(Bound.HELD, node.args[0], scope), scope)
        elif name in _READERS and node.args:
            self._bind_held(func.value, Binding(Bound.READ, node.args[0], scope), scope)

    def _pass(self, argument: ast.expr, site: Site) -> None:
        if argument.__class__ is ast.Name:
            self.module.passed.setdefault(argument.id, []).append(site)  # type: ignore[attr-defined]
        elif argument.__class__ is ast.Attribute:
            self.module.passed.setdefault(argument.attr, []).append(site)  # type: ignore[attr-defined]
        elif argument.__class__ is ast.Lambda:
            self.module.lambda_calls[id(argument)] = site

    def assign(self, node: ast.Assign, scope: Scope) -> bool:
        for target in node.targets:
            self.bind_target(target, Bound.VALUE, node.value, scope)
            self._note_alias(target, node.value)
        return True

    def annotated(self, node: ast.AnnAssign, scope: Scope) -> bool:
        if node.value is not None:
            self.bind_target(node.target, Bound.VALUE, node.value, scope)
            self._note_alias(node.target, node.value)
        return True

    def named(self, node: ast.NamedExpr, scope: Scope) -> bool:
        self.bind_target(node.target, Bound.VALUE, node.value, scope)
        return True

    def _note_alias(self, target: ast.expr, value: ast.expr) -> None:
        name, other = terminal(target), terminal(value)
        if name and other and name != other:
            self.module.aliases.setdefault(other, []).append(name)
        elif name and isinstance(value, ast.Lambda):
            self.module.aliases.setdefault("<lambda>", []).append(name)
        elif name and isinstance(value, ast.Dict | ast.List | ast.Tuple | ast.IfExp | ast.BoolOp):
            for part in _direct_parts(value):
                if word := terminal(part):
                    self.module.aliases.setdefault(word, []).extend([name, ""])

    def augmented(self, node: ast.AugAssign, scope: Scope) -> bool:
        self.bind_target(node.target, Bound.ADDED, node.value, scope)
        return True

    def loop(self, node: ast.For | ast.AsyncFor, scope: Scope) -> bool:
        self.bind_target(node.target, Bound.ELEMENT, node.iter, scope)
        self.module.loops.append(Loop(node, scope))
        return True

    def endless(self, node: ast.While, scope: Scope) -> bool:
        self.module.loops.append(Loop(node, scope))
        return True

    def comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, scope: Scope) -> bool:
        for generator in node.generators:
            self.bind_target(generator.target, Bound.ELEMENT, generator.iter, scope)
        return True

    def with_items(self, node: ast.With | ast.AsyncWith, scope: Scope) -> bool:
        for item in node.items:
            if item.optional_vars is not None:
                self.bind_target(item.optional_vars, Bound.VALUE, item.context_expr, scope)
        return True

    def imports(self, node: ast.Import, scope: Scope) -> bool:
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            meant = alias.name if alias.asname else name
            self.bind(scope, name, Binding(Bound.IMPORT, None, scope, name=meant))
            if not alias.asname and "." in alias.name:
                self.bind(scope, alias.name, Binding(Bound.IMPORT, None, scope, name=alias.name))
        return False

    def imports_from(self, node: ast.ImportFrom, scope: Scope) -> bool:
        module = ("." * node.level) + (node.module or "")
        for alias in node.names:
            if alias.name == "*":
                self.module.stars.append(module)
                continue
            bound = Binding(Bound.FROM, None, scope, name=f"{module}:{alias.name}")
            self.bind(scope, alias.asname or alias.name, bound)
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
        for mark in node.decorator_list:
            self.module.decorated.setdefault(terminal(mark), []).append(made)
        self.bind(scope, node.name, Binding(Bound.DEFINED, None, scope, subject=made))
        self.push_all(node.body, made.scope)
        self.push_all([*node.decorator_list, *_defaults(node.args)], scope)
        return False

    def lambda_function(self, node: ast.Lambda, scope: Scope) -> bool:
        made = self._function_made("<lambda>", node, scope)
        made.returns.append(node.body)
        self.module.lambdas[id(node)] = made
        self.push_all([node.body], made.scope)
        self.push_all(_defaults(node.args), scope)
        return False

    def _function_made(
        self, name: str, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, scope: Scope
    ) -> Function:
        inner = Scope(self.module, scope)
        made = Function(name, node, scope=inner, owner=scope.owner if scope.is_class else None)
        inner.function = made
        self.module.functions.append(made)
        for index, parameter in enumerate(made.parameters):
            inner.bindings[parameter] = [Binding(Bound.PARAMETER, None, inner, index, parameter, made)]
        for extra in (*node.args.kwonlyargs, node.args.vararg, node.args.kwarg):
            if extra is not None:
                inner.bindings[extra.arg] = [Binding(Bound.PARAMETER, None, inner, -1, extra.arg, made)]
        return made

    def class_definition(self, node: ast.ClassDef, scope: Scope) -> bool:
        inner = Scope(self.module, scope, is_class=True)
        made = Class(node.name, node, scope=inner)
        inner.owner = made
        inner.function = None
        self.module.classes.append(made)
        self.bind(scope, node.name, Binding(Bound.DEFINED, None, scope, subject=made))
        self.push_all(node.body, inner)
        self.push_all([*node.bases, *node.decorator_list, *(each.value for each in node.keywords)], scope)
        return False

    def returns(self, node: ast.Return | ast.Yield | ast.YieldFrom, scope: Scope) -> bool:
        if node.value is not None and scope.function is not None:
            scope.function.returns.append(node.value)
        return True

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
            scope.compared.update(_texts_in(side))
        return True


def _owner_of(name: str, scope: Scope) -> Scope:
    """The scope whose name this is; the given one where nobody has bound it."""
    at: Scope | None = scope
    while at is not None:
        if name in at.bindings and (at is scope or not at.is_class) and name not in at.shared:
            return at
        at = at.parent
    return scope


def _same_as(bindings: list[Binding]) -> str:
    """The name that a name is only another name for; empty where it stands for something of its own."""
    nodes = [each.node for each in bindings if each.kind is Bound.VALUE]
    node = nodes[0] if len(nodes) == 1 else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _VIEWS:
        node = node.func.value
    return node.id if isinstance(node, ast.Name) else ""


def _texts_in(node: ast.expr) -> list[str]:
    """The texts of a constant, or of a list of constants."""
    parts = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]
    return [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]


def _defaults(arguments: ast.arguments) -> list[ast.expr]:
    return [*arguments.defaults, *(each for each in arguments.kw_defaults if each is not None)]


def _direct_parts(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.Dict):
        yield from node.values
    elif isinstance(node, ast.List | ast.Tuple):
        yield from node.elts
    elif isinstance(node, ast.BoolOp):
        yield from node.values
    elif isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)


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
    ast.Compare: _Walk.compares,
    ast.Slice: _Walk.slices,
}
