"""Which calls are worth a question, judged by their words and by how names were bound, before anything is asked."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from vskill_platform.scanning.tier1.code.python import catalogue
from vskill_platform.scanning.tier1.code.python.model import Binding, Bound, Module, Program, Scope, Site, terminal
from vskill_platform.scanning.tier1.code.python.origins import Origins
from vskill_platform.scanning.tier1.code.python.vocabulary import words

_WORDS = catalogue.interesting_words()
_BUILT_IN = words("exec eval compile open __import__ execfile input")
_DANGEROUS = _WORDS | _BUILT_IN
_HANDED = frozenset([ast.Name, ast.Attribute, ast.Call])
"""What a function that is handed over may be written as."""
_OF_MODULES = words("replace copy move rename link remove")
"""Words that only matter as functions of a module; texts and lists have them too."""


class Interest:
    """Knows the names of a program that may stand for something dangerous."""

    def __init__(self, program: Program) -> None:
        self._origins = Origins(program)
        self._assigned = {name for module in program.modules for name in _assigned_names(module)}
        self._dangerous: dict[Module, frozenset[str]] = {}

    def is_in(self, site: Site) -> bool:
        """Whether a call may be of something that matters."""
        func = site.node.func
        if isinstance(func, ast.Name):
            return func.id in _BUILT_IN or _may_be_alias(func.id, site.scope)
        if not isinstance(func, ast.Attribute):
            return True
        if func.attr in _OF_MODULES:
            return isinstance(func.value, ast.Name) and _may_be_module(func.value.id, site.scope)
        if func.attr in catalogue.COMMON_WORDS:
            return self._may_be_sent(site, func)
        return func.attr in _WORDS or func.attr in self._assigned

    def handed(self, site: Site) -> Iterator[ast.expr]:
        """The arguments of a call that may be dangerous functions."""
        for argument in site.node.args:
            if argument.__class__ in _HANDED and self._may_be_dangerous(argument, site.scope.module):
                yield argument
        for keyword in site.node.keywords:
            if keyword.value.__class__ in _HANDED and self._may_be_dangerous(keyword.value, site.scope.module):
                yield keyword.value

    def _may_be_dangerous(self, argument: ast.expr, module: Module) -> bool:
        if isinstance(argument, ast.Call):
            return terminal(argument.func) == "getattr"
        return terminal(argument) in (self._dangerous.get(module) or self._dangerous_in(module))

    def _dangerous_in(self, module: Module) -> frozenset[str]:
        """The words that may stand for a dangerous function in a module."""
        others = [each for name, each in module.aliases.items() if name in _DANGEROUS]
        self._dangerous[module] = (_DANGEROUS.union(*others) if others else _DANGEROUS) - {""}
        return self._dangerous[module]

    def _may_be_sent(self, site: Site, func: ast.Attribute) -> bool:
        """Whether a call of a common word may be one of a client, or one that opens or writes a file."""
        is_file = func.attr in {"open", "write"}
        return _is_given_enough(site.node) and (is_file or self._origins.may_be_connection(func.value, site.scope))


def _assigned_names(module: Module) -> Iterator[str]:
    """The names that functions may have got as attributes: of objects, of classes, of modules."""
    yield from module.attributes
    for owner in module.classes:
        yield from owner.attributes
        yield from _other_names(owner.scope.bindings)
    yield from _other_names(module.scope.bindings)


def _other_names(bindings: dict[str, list[Binding]]) -> Iterator[str]:
    kinds = (Bound.FROM, Bound.VALUE)
    plain = (ast.Constant, ast.List, ast.Tuple, ast.Set, ast.JoinedStr, ast.BinOp)
    for name, held in bindings.items():
        if any(each.kind in kinds and not isinstance(each.node, plain) for each in held):
            yield name


def _owner_of(name: str, scope: Scope) -> Scope | None:
    at: Scope | None = scope
    while at is not None and name not in at.bindings:
        at = at.parent
    return at


def _may_be_alias(name: str, scope: Scope) -> bool:
    """Whether a name stands for something that was imported or assigned, rather than defined here."""
    owner = _owner_of(name, scope)
    if owner is None:
        return bool(scope.module.stars) or name in catalogue.FREE_NAMES
    return any(each.kind != Bound.DEFINED for each in owner.bindings[name])


def _may_be_module(name: str, scope: Scope) -> bool:
    """Whether a name stands for a module, for what a lookup gave, or for nothing that is known."""
    owner = _owner_of(name, scope)
    if owner is None:
        return True
    lookups = (ast.Call, ast.Name, ast.Attribute)
    return any(
        each.kind in (Bound.IMPORT, Bound.FROM) or (each.kind == Bound.VALUE and _is_lookup(each.node, lookups))
        for each in owner.bindings[name]
    )


def _is_lookup(node: ast.expr | None, kinds: tuple[type[ast.expr], ...]) -> bool:
    if isinstance(node, ast.Call):
        return terminal(node.func) in {"__import__", "import_module", "getattr"}
    return isinstance(node, kinds)


def _is_given_enough(node: ast.Call) -> bool:
    """Whether a call of a common word is given more than the key of a dictionary."""
    if not node.args or node.keywords:
        return bool(node.keywords)
    first = node.args[0]
    if not isinstance(first, ast.Constant):
        return True
    is_address = isinstance(first.value, str) and ("://" in first.value or "." in first.value)
    return is_address or isinstance(first.value, bytes)
