"""Whether something may be a connection, judged by how its names were bound and without asking what anything is.

Dictionaries and clients share words such as `get`. Most receivers are plainly no client: a literal, a comprehension, what a
parser gave. Whatever is not plain may be one.
"""

from __future__ import annotations

import ast

from vskill_platform.scanning.tier1.code.python import catalogue
from vskill_platform.scanning.tier1.code.python.model import Binding, Bound, Function, Program, Scope, terminal
from vskill_platform.scanning.tier1.code.python.vocabulary import words

DEEPEST = 6
_PLAIN = (
    ast.Constant,
    ast.JoinedStr,
    ast.BinOp,
    ast.Compare,
    ast.Dict,
    ast.DictComp,
    ast.ListComp,
    ast.SetComp,
    ast.GeneratorExp,
    ast.List,
    ast.Tuple,
    ast.Set,
    ast.UnaryOp,
)
_PLAIN_MAKERS = words(
    "dict list set tuple str int float bool bytes sorted len sum min max range enumerate zip map filter "
    "defaultdict Counter OrderedDict deque loads load parse_args read_text read_bytes read splitlines split "
    "strip lower upper group groups groupdict findall match search join format replace items keys values copy "
    "deepcopy walk glob rglob iterdir listdir reader DictReader Path resolve exists now"
)
"""Calls that give data."""


class Origins:
    """Remembers what was found out about the names of a program."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._known: dict[tuple[int, str], bool] = {}

    def may_be_connection(self, node: ast.expr, scope: Scope, *, depth: int = 0) -> bool:
        """Whether an expression may be something that speaks to the network."""
        if depth > DEEPEST:
            return True
        if isinstance(node, _PLAIN):
            return False
        if isinstance(node, ast.Name):
            return self._name(node.id, scope, depth)
        if isinstance(node, ast.Call):
            return self._call(node, scope, depth)
        if isinstance(node, ast.BoolOp):
            return any(self.may_be_connection(part, scope, depth=depth + 1) for part in node.values)
        return True

    def _name(self, name: str, scope: Scope, depth: int) -> bool:
        owner: Scope | None = scope
        while owner is not None and name not in owner.bindings:
            owner = owner.parent
        if owner is None:
            return name in catalogue.NETWORK_ROOTS or bool(scope.module.stars)
        key = (id(owner), name)
        if key not in self._known:
            self._known[key] = False
            self._known[key] = any(self._binding(each, depth) for each in owner.bindings[name])
        return self._known[key]

    def _binding(self, binding: Binding, depth: int) -> bool:
        if binding.kind in (Bound.HELD, Bound.ADDED, Bound.READ):
            return False
        if binding.kind in (Bound.IMPORT, Bound.FROM):
            own = self._program.imported(binding.name.partition(":")[0], binding.scope.module)
            own = own or self._program.of_package(binding.name.replace(":", "."))
            return own is not None or catalogue.root_of(binding.name.partition(":")[0]) in catalogue.NETWORK_ROOTS
        if binding.kind == Bound.PARAMETER:
            return self._parameter(binding, depth)
        if binding.node is None or binding.kind in (Bound.ELEMENT, Bound.ITEM):
            return binding.node is None or not isinstance(binding.node, _PLAIN) or _holds_names(binding.node)
        return self.may_be_connection(binding.node, binding.scope, depth=depth + 1)

    def _parameter(self, binding: Binding, depth: int) -> bool:
        function = binding.subject
        if not isinstance(function, Function) or function.name == "<lambda>" or self._program.passed.get(function.name):
            return True
        sites = self._program.sites.get(function.name, ())
        if not sites or len(sites) > 50 or self._program.aliases.get(function.name):
            return True
        for site in sites:
            place = binding.place - (1 if function.is_method else 0)
            given = [each.value for each in site.node.keywords if each.arg == binding.name] or site.node.args[
                place : place + 1
            ]
            if any(self.may_be_connection(each, site.scope, depth=depth + 1) for each in given):
                return True
        return False

    def _call(self, node: ast.Call, scope: Scope, depth: int) -> bool:
        word = terminal(node.func)
        if word in _PLAIN_MAKERS:
            return False
        if not isinstance(node.func, ast.Name):
            return True
        owner: Scope | None = scope
        while owner is not None and word not in owner.bindings:
            owner = owner.parent
        subjects = [each.subject for each in owner.bindings[word]] if owner is not None else []
        if not subjects or not all(isinstance(each, Function) for each in subjects):
            return True
        return any(
            self.may_be_connection(given, each.scope, depth=depth + 1)
            for each in subjects
            if isinstance(each, Function)
            for given in each.returns
        )


def _holds_names(node: ast.expr) -> bool:
    """Whether a literal has anything but constants in it."""
    return any(isinstance(each, ast.Name | ast.Call | ast.Attribute) for each in ast.walk(node))
