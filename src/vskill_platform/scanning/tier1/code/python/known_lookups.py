"""What gives a function, a module or a variable that is asked for by a text."""

from __future__ import annotations

import ast

from vskill_platform.scanning.tier1.code.python.catalogue import root_of
from vskill_platform.scanning.tier1.code.python.expressions import part_of
from vskill_platform.scanning.tier1.code.python.known_calls import Handler, KnownCall
from vskill_platform.scanning.tier1.code.python.known_values import variable
from vskill_platform.scanning.tier1.code.python.values import (
    DECODED,
    HIDDEN,
    NETWORK,
    NOTHING,
    OWN_SECRET,
    PARSED,
    SETTINGS,
    UNKNOWN,
    Value,
    join,
    reference,
)
from vskill_platform.scanning.tier1.code.python.vocabulary import words

SOMETHING = "<looked up>"
"""The name of what was looked up by a text that was decoded or fetched."""
ALL_CLASSES = "object.__subclasses__()"
_POWERFUL = words("os subprocess builtins sys importlib ctypes posix nt pty shutil runpy code marshal pickle")
"""Modules of which no stranger may choose a function."""
_ROOTS = frozenset(["__base__", "__bases__", "__mro__"])


def _attribute(call: KnownCall) -> Value:
    """An attribute by a text: `getattr(x, "y")`, `x.__getattribute__("y")` and `object.__getattribute__(x, "y")`."""
    is_method = call.name.endswith(".__getattribute__") and call.name != "object.__getattribute__"
    holder = reference(call.name.rpartition(".")[0]) if is_method else call.argument(0)
    word = call.argument(0 if is_method else 1)
    texts = [each for each in word.texts if UNKNOWN not in each]
    found = [call.evaluator.attribute_of(holder, each).tainted(HIDDEN) for each in texts]
    if not found:
        return _by_unknown_text(word, holder)
    return join([*found, call.argument(2)] if call.name == "getattr" else found)


def _imported(call: KnownCall) -> Value:
    given = call.argument(0, "name")
    texts = [each for each in given.texts if UNKNOWN not in each]
    names = [each.partition(".")[0] if call.name == "__import__" else each for each in texts]
    found = [call.evaluator.module_named(each, call.site.scope.module) for each in names if each]
    return join(found).tainted(HIDDEN) if found else _by_unknown_text(given, NOTHING)


def _by_unknown_text(word: Value, holder: Value) -> Value:
    """What was looked up by a text that is not known; where the text was decoded or fetched, that is remembered."""
    taint = (holder.taint | word.taint) & ~HIDDEN
    is_telling = holder is NOTHING or any(root_of(name) in _POWERFUL for name in holder.references)
    if word.taint & DECODED or (word.taint & NETWORK and is_telling):
        return Value(references=(SOMETHING,), taint=taint | HIDDEN)
    return Value(taint=taint)


def _attributes_of_attributes(call: KnownCall) -> Value | None:
    """What `reduce(getattr, names, holder)` gives."""
    if "getattr" not in call.argument(0).references:
        return None
    words, holder = call.argument(1), call.argument(2)
    for word in words.items or ():
        texts = [each for each in word.texts if UNKNOWN not in each]
        if not texts:
            return _by_unknown_text(word, holder)
        holder = join([call.evaluator.attribute_of(holder, each) for each in texts]).tainted(HIDDEN)
    return holder


def _getter(call: KnownCall) -> Value:
    return Value(call.argument(0).constants, ("operator.attrgetter()",))


def _got(call: KnownCall) -> Value:
    holder = call.argument(0)
    return join([call.evaluator.attribute_of(holder, each).tainted(HIDDEN) for each in call.callee.texts])


def _partial(call: KnownCall) -> Value:
    function = call.argument(0)
    return Value(references=function.references, targets=function.targets, taint=function.taint)


def _namespace(call: KnownCall) -> Value:
    if not call.site.node.args:
        return Value(references=("globals()",), targets=(call.site.scope.module,))
    holder = call.argument(0)
    return Value(references=tuple(f"{each}.__dict__" for each in holder.references), targets=holder.targets)


def _variable(call: KnownCall) -> Value:
    found, default = variable(call.argument(0, "key")), call.argument(1, "default")
    return join([found, default]) if default.constants else found


def _keyed(call: KnownCall) -> Value | None:
    """The method of a namespace or of the environment that looks up a key."""
    holder, key = call.receiver, call.argument(0)
    found = call.evaluator.outside.looked_up(call.evaluator, holder, key)
    if found is None and (holder.keyed or holder.taint & (OWN_SECRET | SETTINGS | PARSED)):
        found = part_of(call.evaluator, holder, key)
    default = call.argument(1, "default")
    return join([found, default]) if found is not None and default.constants else found


def _all_classes(call: KnownCall) -> Value | None:
    """All classes there are, as they are reached from the root of them; subclasses of one's own class are no secret."""
    at: ast.AST = call.site.node.func
    while isinstance(at, ast.Attribute | ast.Subscript | ast.Call):
        if isinstance(at, ast.Attribute) and at.attr in _ROOTS:
            return reference(ALL_CLASSES, HIDDEN)
        at = at.func if isinstance(at, ast.Call) else at.value
    return reference(ALL_CLASSES, HIDDEN) if isinstance(at, ast.Name) and at.id == "object" else None


LOOKUPS: dict[str, Handler] = {
    "getattr": _attribute,
    "object.__getattribute__": _attribute,
    "__import__": _imported,
    "importlib.import_module": _imported,
    "importlib.__import__": _imported,
    "functools.reduce": _attributes_of_attributes,
    "functools.partial": _partial,
    "operator.attrgetter": _getter,
    "operator.attrgetter()": _got,
    "globals": _namespace,
    "locals": _namespace,
    "vars": _namespace,
    "os.getenv": _variable,
    "os.getenvb": _variable,
}
"""Functions by their full names."""
LOOKUP_METHODS: dict[str, Handler] = {
    "__getattribute__": _attribute,
    "__subclasses__": _all_classes,
    "get": _keyed,
    "__getitem__": _keyed,
    "pop": _keyed,
    "setdefault": _keyed,
}
"""Methods by their last word."""
