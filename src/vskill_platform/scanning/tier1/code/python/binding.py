"""How names get their values: by assignment, part by part, and by what is put into the containers that they stand for."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from vskill_platform.scanning.tier1.code.python.model import Binding, Bound, Class, Module, Scope, terminal
from vskill_platform.scanning.tier1.code.python.vocabulary import words

PAIR = 2
DEEPEST_ALIAS = 4
"""Names for names that are followed when something is put into a container."""
_PUTTERS = words(
    "append appendleft add insert put push attach write writestr writelines set_content add_attachment "
    "set_payload add_field add_part add_alternative"
)
_SPREADERS = frozenset(["extend", "update", "extendleft"])
_SAVERS = words("save savefig to_csv to_json to_excel to_parquet tofile export write_pdf writeto")
"""Methods that write what they belong to into their argument."""
_DUMPERS = frozenset(["dump", "safe_dump", "copyfileobj"])
"""Functions that write their first argument into the second."""
_READERS = frozenset(["read", "read_file", "load_cert_chain"])
MOVING = _PUTTERS | _SPREADERS | _SAVERS | _DUMPERS | _READERS
"""Methods whose calls put something somewhere."""
_KEYED = frozenset(["setdefault", "get"])
_SEVERAL = frozenset([ast.Dict, ast.BoolOp, ast.List, ast.Tuple, ast.IfExp])
"""Expressions that may be, or hold, any of their parts."""
_VIEWS = frozenset(["reshape", "ravel", "view", "flat", "getbuffer", "cast"])
"""Methods that give the same thing under another name."""


class Binder:
    """Notes the bindings of one module while it is walked."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._held: list[tuple[Scope, str, Binding]] = []

    def bind(self, scope: Scope, name: str, binding: Binding) -> None:
        """Note how a name got its value."""
        if name in scope.shared:
            scope = self._module.scope
        held = scope.bindings.get(name)
        if held is None:
            scope.bindings[name] = [binding]
        else:
            held.append(binding)

    def bind_target(self, target: ast.expr, kind: str, node: ast.expr | None, scope: Scope) -> None:
        """Note what a target gets, part by part where it has parts."""
        if isinstance(target, ast.Name):
            self.bind(scope, target.id, Binding(kind, node, scope))
            return
        waiting: list[tuple[ast.expr, str, int]] = [(target, kind, -1)]
        while waiting:
            at, how, place = waiting.pop()
            if isinstance(at, ast.Name):
                self.bind(scope, at.id, Binding(how, node, scope, place))
            elif isinstance(at, ast.Tuple | ast.List):
                self._note_together(at, node, scope)
                inner = Bound.ITEM if how == Bound.VALUE else how
                waiting += [(part, inner, number) for number, part in enumerate(at.elts)]
            elif isinstance(at, ast.Starred):
                waiting.append((at.value, how, -1))
            elif isinstance(at, ast.Attribute):
                self._bind_attribute(at, Binding(how, node, scope, place), scope)
            elif isinstance(at, ast.Subscript):
                self.put(at.value, node, scope)
                self.put(at.value, at.slice, scope)
                if node is not None:
                    self._module.stored.append((at, node, scope))

    @staticmethod
    def _note_together(target: ast.Tuple | ast.List, node: ast.expr | None, scope: Scope) -> None:
        """Note that the parts of what a call gave got their names together, where these are two."""
        if isinstance(node, ast.Call) and len(target.elts) == PAIR and isinstance(target.elts[0], ast.Name):
            scope.beside[target.elts[0].id] = target.elts[1:]

    def _bind_attribute(self, target: ast.Attribute, binding: Binding, scope: Scope) -> None:
        owner = _owner_of_self(target.value, scope)
        held = owner.attributes if owner is not None else self._module.attributes
        held.setdefault(target.attr, []).append(binding)
        if binding.node is not None:
            self._module.stored.append((target, binding.node, scope))
        if owner is None:
            self.put(target.value, binding.node, scope)

    def put(
        self, holder: ast.expr, node: ast.expr | None, scope: Scope, *, kind: str = Bound.HELD, place: int = -1
    ) -> None:
        """Note what was put into a container, by the name that the container has."""
        binding = Binding(kind, node, scope, place)
        while (inner := _holder_of(holder)) is not None:
            holder = inner
        if isinstance(holder, ast.Name):
            self._held.append((scope, holder.id, binding))
        elif isinstance(holder, ast.Attribute):
            owner = _owner_of_self(holder.value, scope)
            held = owner.attributes if owner is not None else self._module.attributes
            held.setdefault(holder.attr, []).append(binding)

    def bind_method_call(self, func: ast.Attribute, node: ast.Call, scope: Scope) -> None:
        """Note what one of the MOVING methods puts into what it belongs to, or into its argument."""
        name, given = func.attr, node.args
        if name in _PUTTERS:
            for argument in given:
                self.put(func.value, argument, scope)
        elif name in _SPREADERS:
            for argument in (*given, *(keyword.value for keyword in node.keywords)):
                self.put(func.value, argument, scope, place=1)
        elif name in _SAVERS and given:
            self.put(given[0], func.value, scope)
        elif name in _DUMPERS and len(given) > 1:
            self.put(given[1], given[0], scope)
        elif name in _READERS and given:
            self.put(func.value, given[0], scope, kind=Bound.READ)

    def bind_setattr(self, node: ast.Call, scope: Scope) -> None:
        """Note what `setattr` gives an attribute, as if it had been assigned."""
        if len(node.args) != 3:
            return
        holder, name, value = node.args
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            target = ast.Attribute(value=holder, attr=name.value, ctx=ast.Store())
            self._bind_attribute(ast.copy_location(target, node), Binding(Bound.VALUE, value, scope), scope)

    def note_alias(self, target: ast.expr, value: ast.expr) -> None:
        """Note that a name may stand for a function that has another one."""
        name, other, aliases = terminal(target), terminal(value), self._module.aliases
        if name and other and name != other:
            aliases.setdefault(other, []).append(name)
        elif name and isinstance(value, ast.Lambda):
            aliases.setdefault("<lambda>", []).append(name)
        elif name and value.__class__ in _SEVERAL:
            for word in filter(None, map(terminal, _direct_parts(value))):
                aliases.setdefault(word, []).extend([name, ""])

    def settle(self) -> None:
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


def _holder_of(part: ast.expr) -> ast.expr | None:
    """What a part belongs to that is taken out by its key: `held["k"]`, `held.setdefault("k", [])`."""
    if isinstance(part, ast.Subscript):
        return part.value
    method = part.func if isinstance(part, ast.Call) else None
    return method.value if isinstance(method, ast.Attribute) and method.attr in _KEYED else None


def _owner_of_self(node: ast.expr, scope: Scope) -> Class | None:
    """The class whose `self` a name is."""
    function = scope.function
    if function is None or function.owner is None or not function.parameters or not isinstance(node, ast.Name):
        return None
    return function.owner if node.id == function.parameters[0] else None


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
    nodes = [each.node for each in bindings if each.kind == Bound.VALUE]
    node = nodes[0] if len(nodes) == 1 else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _VIEWS:
        node = node.func.value
    return node.id if isinstance(node, ast.Name) else ""


def _direct_parts(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.Dict | ast.BoolOp):
        yield from node.values
    elif isinstance(node, ast.List | ast.Tuple):
        yield from node.elts
    elif isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)
