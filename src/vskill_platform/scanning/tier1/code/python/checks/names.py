"""Functions that were looked up by a text, and functions that take another one's place."""

from __future__ import annotations

import ast

from vskill_platform.scanning.tier1.code.python import catalogue
from vskill_platform.scanning.tier1.code.python.checks.calls import ReadCall
from vskill_platform.scanning.tier1.code.python.evaluation import Evaluator
from vskill_platform.scanning.tier1.code.python.known_lookups import ALL_CLASSES, SOMETHING
from vskill_platform.scanning.tier1.code.python.model import Module, Scope, terminal
from vskill_platform.scanning.tier1.code.python.notes import Notes
from vskill_platform.scanning.tier1.code.python.values import HIDDEN
from vskill_platform.scanning.tier1.code.python.vocabulary import words

_REPLACED = words("open __import__ exec eval compile input getattr")
_REPLACED_METHODS = words(
    "requests.Session.request requests.Session.send requests.post requests.get subprocess.run subprocess.Popen "
    "os.system socket.socket socket.getaddrinfo ssl.SSLContext.wrap_socket getpass.getpass"
)
_REPLACED_WORDS = _REPLACED.union(map(catalogue.last_of, _REPLACED_METHODS))


def may_be_hidden(name: str) -> bool:
    """Whether a call of this name is one that somebody might hide."""
    return name in catalogue.DANGEROUS or name.startswith((ALL_CLASSES, SOMETHING)) or catalogue.is_network(name)


def check_hidden_name(call: ReadCall) -> None:
    """A dangerous function that is reached by a text instead of by its name."""
    is_named = call.name in catalogue.DANGEROUS or call.name.startswith((ALL_CLASSES, SOMETHING))
    if (is_named and call.callee.taint & HIDDEN) or (
        catalogue.is_network(call.name) and _hands_over(call) and _is_looked_up_inline(call.site.node.func)
    ):
        call.sight("python_hidden_call")


def _is_looked_up_inline(func: ast.expr) -> bool:
    """Whether a module is imported in the middle of the expression that uses it."""
    while isinstance(func, ast.Attribute | ast.Call):
        if isinstance(func, ast.Call) and terminal(func.func) in {"__import__", "import_module", "getattr"}:
            return True
        func = func.func if isinstance(func, ast.Call) else func.value
    return False


def _hands_over(call: ReadCall) -> bool:
    """Whether a call sends anything besides an address."""
    is_body = any(each.arg in {"data", "json", "files", "content"} for each in call.site.node.keywords)
    return is_body or len(call.site.node.args) > 1 or call.last in {"send", "sendall", "sendto"}


def check_reductions(evaluator: Evaluator, module: Module, notes: Notes) -> None:
    """An object that tells whoever unpickles it to call something dangerous."""
    for function in module.functions:
        if function.name not in {"__reduce__", "__reduce_ex__"}:
            continue
        for given in function.returns:
            items = evaluator.value(given, function.scope).items
            if items and any(name in catalogue.DANGEROUS for name in items[0].references):
                notes.sight("python_hidden_call", given, module)


def check_decorators(evaluator: Evaluator, module: Module, notes: Notes) -> None:
    """A decorator calls what it names, with no parenthesis in sight; and so does an operator of a class."""
    decorated = [(each.decorators, each.scope) for each in module.functions] if module.decorated else []
    decorated += [(each.node.decorator_list, each.scope) for each in module.classes]
    for marks, scope in decorated:
        for mark in marks:
            _note_dangerous(evaluator, mark, scope.parent or scope, notes)
    for owner in module.classes:
        operators = [held for name, held in owner.scope.bindings.items() if name.startswith("__")]
        for each in (binding for held in operators for binding in held):
            if isinstance(each.node, ast.Name | ast.Attribute):
                _note_dangerous(evaluator, each.node, each.scope, notes)


def _note_dangerous(evaluator: Evaluator, node: ast.expr, scope: Scope, notes: Notes) -> None:
    if any(name in catalogue.DANGEROUS for name in evaluator.value(node, scope).references):
        notes.sight("python_hidden_call", node, scope.module)


def check_replacements(evaluator: Evaluator, module: Module, notes: Notes) -> None:
    """A built-in function, or one that everything goes through, that is replaced by another."""
    for target, _, scope in module.stored:
        if not isinstance(target, ast.Attribute) or target.attr not in _REPLACED_WORDS:
            continue
        for name in evaluator.value(target.value, scope).references:
            if name == "builtins" and target.attr in _REPLACED:
                notes.sight("python_replaces_builtin", target, module)
            elif f"{name}.{target.attr}" in _REPLACED_METHODS:
                notes.sight("python_replaces_function", target, module)
