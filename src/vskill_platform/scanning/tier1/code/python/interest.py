"""Which calls are worth a question, judged by their words and by how names were bound, before anything is asked."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from vskill_platform.scanning.tier1.code.python import catalogue
from vskill_platform.scanning.tier1.code.python.model import Binding, Bound, Module, Program, Scope, Site, terminal
from vskill_platform.scanning.tier1.code.python.origins import Origins
from vskill_platform.scanning.tier1.code.python.vocabulary import words

_WORDS = catalogue.interesting_words()
_CHANGES = frozenset("wax+")
"""Letters of the mode in which a file is opened that is to be changed."""
_BUILT_IN = words("exec eval compile open __import__ execfile input")
_DANGEROUS = _WORDS | _BUILT_IN
_HANDED = frozenset([ast.Name, ast.Attribute, ast.Call])
"""What a function that is handed over may be written as."""
_ASSIGNED = (Bound.FROM, Bound.VALUE)
_PLAIN = frozenset([ast.Constant, ast.List, ast.Tuple, ast.Set, ast.JoinedStr, ast.BinOp])
"""What is no function."""
_OF_MODULES = words("replace copy move rename link remove")
"""Words that only matter as functions of a module; texts and lists have them too."""


class Interest:
    """Knows the names of a program that may stand for something dangerous."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._origins = Origins(program)
        self._assigned = {name for module in program.modules for name in _assigned_names(module)}
        self._dangerous: dict[Module, frozenset[str]] = {}

    def is_in(self, site: Site) -> bool:
        """Whether a call may be of something that matters."""
        func, word = site.node.func, site.word
        if isinstance(func, ast.Name):
            return word in _BUILT_IN or _may_be_alias(word, site.scope)
        if not isinstance(func, ast.Attribute):
            return True
        if word in _OF_MODULES:
            return isinstance(func.value, ast.Name) and _may_be_module(func.value.id, site.scope)
        if word in catalogue.COMMON_WORDS:
            return self._may_be_sent(site, func)
        return word in _WORDS or word in self._assigned

    def hands_over(self, module: Module) -> bool:
        """Whether any call of a module may be handed a dangerous function."""
        return "getattr" in self._program.sites or not self._dangerous_in(module).isdisjoint(module.passed)

    def handed(self, site: Site) -> list[ast.expr]:
        """The arguments of a call that may be dangerous functions."""
        given, module = site.node.args, site.scope.module
        if site.node.keywords:
            given = [*given, *[each.value for each in site.node.keywords]]
        return [each for each in given if each.__class__ in _HANDED and self._may_be_dangerous(each, module)]

    def _may_be_dangerous(self, argument: ast.expr, module: Module) -> bool:
        if isinstance(argument, ast.Call):
            return terminal(argument.func) == "getattr"
        return terminal(argument) in self._dangerous_in(module)

    def _dangerous_in(self, module: Module) -> frozenset[str]:
        """The words that may stand for a dangerous function in a module."""
        known = self._dangerous.get(module)
        if known is None:
            others = [each for name, each in module.aliases.items() if name in _DANGEROUS]
            self._dangerous[module] = known = _DANGEROUS.union(*others) - {""} if others else _DANGEROUS
        return known

    def _may_be_sent(self, site: Site, func: ast.Attribute) -> bool:
        """Whether a call of a common word may be one of a client, or one that opens or writes a file."""
        is_file = func.attr in {"open", "write"}
        if func.attr == "open" and _is_for_writing(site.node):
            return True
        return _is_given_enough(site.node) and (is_file or self._origins.may_be_connection(func.value, site.scope))


def _assigned_names(module: Module) -> Iterator[str]:
    """The names that functions may have got as attributes: of objects, of classes, of modules."""
    yield from module.attributes
    for owner in module.classes:
        yield from owner.attributes
        yield from _other_names(owner.scope.bindings)
    yield from _other_names(module.scope.bindings)


def _other_names(bindings: dict[str, list[Binding]]) -> Iterator[str]:
    for name, held in bindings.items():
        for each in held:
            if each.kind in _ASSIGNED and each.node.__class__ not in _PLAIN:
                yield name
                break


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
    held = owner.bindings[name]
    return held[0].kind != Bound.DEFINED or any(each.kind != Bound.DEFINED for each in held)


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


def _is_for_writing(node: ast.Call) -> bool:
    """Whether a path is opened in order to be changed."""
    mode = node.args[0] if node.args else None
    return isinstance(mode, ast.Constant) and isinstance(mode.value, str) and not _CHANGES.isdisjoint(mode.value[:4])


def _is_given_enough(node: ast.Call) -> bool:
    """Whether a call of a common word is given more than the key of a dictionary."""
    if not node.args or node.keywords:
        return bool(node.keywords)
    first = node.args[0]
    if not isinstance(first, ast.Constant):
        return True
    is_address = isinstance(first.value, str) and ("://" in first.value or "." in first.value)
    return is_address or isinstance(first.value, bytes)
