"""Functions of the skill itself: what their parameters may be, judged by all calls of them, and what they give."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from vskill_platform.scanning.tier1.code.python.chosen import KEPT_TOGETHER, chosen
from vskill_platform.scanning.tier1.code.python.frames import DEEPEST_FRAME, Frame
from vskill_platform.scanning.tier1.code.python.model import Function, Scope, Site
from vskill_platform.scanning.tier1.code.python.values import NOTHING, Value, container, join, one_of

if TYPE_CHECKING:
    from vskill_platform.scanning.tier1.code.python.evaluation import Evaluator

CHEAP = 4
"""So many glances at a call cost as much as a question."""
MOST_SITES = 300
"""Calls of one function that are looked at."""


_MAKING_TEXT = frozenset(
    [
        "chr",
        "ord",
        "bytes",
        "bytearray",
        "join",
        "decode",
        "encode",
        "b64decode",
        "urlsafe_b64decode",
        "b32decode",
        "a85decode",
        "b85decode",
        "fromhex",
        "unhexlify",
        "decompress",
        "replace",
        "translate",
        "reversed",
        "format",
        "getattr",
        "__import__",
        "import_module",
        "split",
        "strip",
        "map",
        "reduce",
        "to_bytes",
        "maketrans",
        "[::]",
        "run",
        "check_output",
        "getoutput",
        "Popen",
        "popen",
    ]
)
"""Words of a function that may make one text of another. Those are worked out for each call."""


class Functions:
    """Answers what is asked about functions, with the evaluator's help for all expressions."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._sites: dict[Function, list[Site]] = {}
        self._frames: dict[Function, list[Frame]] = {}

    def parameter(self, function: Function, place: int, name: str) -> Value:
        """What a parameter may be: what any call hands over, or what comes from outside where nothing calls it."""
        if place == 0 and function.is_method and function.owner is not None:
            return Value(targets=(function.owner,))
        evaluator = self._evaluator
        handed = self._handed_sites(function)
        if handed:
            evaluator.spend(len(handed) // CHEAP)
        parts, is_called = [self._handed(site, function) for site in handed], bool(handed)
        for site in self.sites_of(function):
            given = self._argument(site, function, place, name)
            is_called = is_called or not _is_demonstration(site, given)
            parts.append(given)
        decorated = evaluator.program.decorated.get(function.name, ()) if place == 0 else ()
        parts += [Value(targets=(each,)) for each in decorated[:MOST_SITES]]
        is_called = is_called or bool(decorated)
        default = _default(function, name)
        if default is not None and function.scope.parent is not None:
            parts.append(evaluator.value(default, function.scope.parent))
        taint = evaluator.outside.parameter_taint(function, is_called=is_called)
        if taint:
            parts.append(Value((), (), (), taint))
        return join(parts)

    def sites_of(self, function: Function) -> list[Site]:
        """The calls of a function, by its own name or another one that it was given."""
        known = self._sites.get(function)
        if known is None:
            self._sites[function] = []
            candidates = self._candidates(function)
            self._evaluator.spend(len(candidates) // CHEAP)
            found = [site for site in candidates if self._may_call(site, function)]
            if len(found) > MOST_SITES:
                self._evaluator.is_cut_short = True
            self._sites[function] = known = found[:MOST_SITES]
        return known

    def frames_of(self, function: Function) -> list[Frame]:
        """A frame for each call that hands over a list: each is a command, and all of them taken together are none."""
        known = self._frames.get(function)
        if known is None:
            given = [self._lists_given(function, site) for site in self.sites_of(function)]
            root = self._evaluator.root
            known = [Frame(function.scope, names, parent=root, is_call=True) for names in given if names]
            self._frames[function] = known
        return known

    def _lists_given(self, function: Function, site: Site) -> dict[str, Value]:
        """The lists that one call hands over, by the names of the parameters."""
        handed = ((name, self._argument(site, function, at, name)) for at, name in enumerate(function.parameters))
        given = {name: value for name, value in handed if value.items is not None}
        if (rest := function.node.args.vararg) is not None:
            taken = len(function.parameters) - (function.is_method and _is_bound_call(site, function))
            words = [self._evaluator.value(each, site.scope) for each in site.node.args[taken:]]
            given[rest.arg] = container(words)
        return given

    def _candidates(self, function: Function) -> list[Site]:
        program = self._evaluator.program
        name = function.owner.name if function.owner is not None and function.name == "__init__" else function.name
        names = dict.fromkeys([name, *program.aliases[name]]) if name in program.aliases else (name,)
        found = [site for each in names for site in program.sites.get(each, ())]
        direct = function.scope.module.lambda_calls.get(id(function.node))
        return found if direct is None or direct.node.func is not function.node else [direct, *found]

    def _may_call(self, site: Site, function: Function) -> bool:
        if site.node.func is function.node:
            return True
        evaluator = self._evaluator
        callee = evaluator.within(evaluator.root, lambda: evaluator.value(site.node.func, site.scope))
        if function in callee.targets:
            return True
        if function.owner is not None and function.owner in callee.targets:
            return function.name == "__init__"
        is_open = isinstance(site.node.func, ast.Attribute) and not callee.targets and not callee.references
        return is_open and function.owner is not None

    def _argument(self, site: Site, function: Function, place: int, name: str) -> Value:
        """What one call hands over for a parameter."""
        node, evaluator = site.node, self._evaluator
        for keyword in node.keywords:
            if keyword.arg == name:
                return evaluator.value(keyword.value, site.scope)
        at = place - 1 if function.is_method and _is_bound_call(site, function) else place
        if 0 <= at < len(node.args) and ast.Starred not in map(type, node.args):
            return evaluator.value(node.args[at], site.scope)
        starred = [each.value for each in node.args if isinstance(each, ast.Starred)]
        spread = starred + [each.value for each in node.keywords if each.arg is None]
        if place < 0 and not spread:
            spread = [*node.args, *(each.value for each in node.keywords)]
        return join([_origin_of(evaluator.value(each, site.scope)) for each in spread])

    def _handed_sites(self, function: Function) -> list[Site]:
        """The calls that a function is handed to, such as the start of a thread."""
        direct = function.scope.module.lambda_calls.get(id(function.node))
        sites = [] if direct is None or direct.node.func is function.node else [direct]
        if function.name != "<lambda>":
            sites += self._evaluator.program.passed.get(function.name, ())
        return sites[:MOST_SITES]

    def _handed(self, site: Site, function: Function) -> Value:
        """What a function may be called with by something that it was handed to."""
        evaluator = self._evaluator
        others = [
            part
            for each in (*site.node.args, *(keyword.value for keyword in site.node.keywords))
            if each is not function.node and not (isinstance(each, ast.Name) and each.id == function.name)
            for part in evaluator.value(each, site.scope).flat()
        ]
        callee = evaluator.value(site.node.func, site.scope)
        return join([*others, Value(taint=evaluator.outside.callback_taint(callee))])

    def result(self, function: Function, site: Site) -> Value:
        """What a call of a function gives: worked out for constant arguments, else what any call may give."""
        evaluator = self._evaluator
        given = self._constant_arguments(function, site)
        if given is not None and evaluator.frame.depth < DEEPEST_FRAME:
            found = self._worked_out(function, given)
            if found is not NOTHING:
                return found
        return self.given_nothing(function)

    def given_nothing(self, function: Function) -> Value:
        """What a function gives that is called without a word being written, as that of a property."""
        evaluator = self._evaluator
        key, scope = (id(function), ""), function.scope
        return evaluator.within(evaluator.root, lambda: evaluator.answer(key, _returned, function, scope))

    def given_one(self, function: Function, argument: Value) -> Value:
        """What a function of one parameter gives for this one."""
        if not function.parameters or self._evaluator.frame.depth >= DEEPEST_FRAME:
            return NOTHING
        return self._worked_out(function, {function.parameters[0]: argument})

    def _worked_out(self, function: Function, given: dict[str, Value]) -> Value:
        frame = Frame(function.scope, given, parent=self._evaluator.frame, is_call=True)
        return self._evaluator.within(frame, lambda: _returned(self._evaluator, function, function.scope))

    def _constant_arguments(self, function: Function, site: Site) -> dict[str, Value] | None:
        node, evaluator = site.node, self._evaluator
        if not function.returns or not (node.args or node.keywords):
            return None
        if function.words.isdisjoint(_MAKING_TEXT) and not all(isinstance(each, ast.Constant) for each in node.args):
            return None
        names = function.parameters[1:] if function.is_method else function.parameters
        given = dict(zip(names, node.args, strict=False)) | {each.arg: each.value for each in node.keywords if each.arg}
        values = {name: evaluator.value(each, site.scope) for name, each in given.items()}
        if not all(map(_is_known, given.values(), values.values())):
            return None
        if (rest := function.node.args.vararg) is not None:
            values[rest.arg] = container([evaluator.value(each, site.scope) for each in node.args[len(names) :]])
        for name in names:
            default = _default(function, name)
            if name not in values and default is not None and function.scope.parent is not None:
                values[name] = evaluator.value(default, function.scope.parent)
        return values


def _returned(evaluator: Evaluator, function: Function, scope: Scope) -> Value:
    return one_of([_given_back(evaluator, each, scope) for each in function.returns])


def _given_back(evaluator: Evaluator, node: ast.expr, scope: Scope) -> Value:
    value = evaluator.value(node, scope)
    return chosen(evaluator, value, node, scope) if value.taint & KEPT_TOGETHER else value


def _is_known(node: ast.expr, value: Value) -> bool:
    """Whether an argument is the same whenever the call is made; a value tells nothing of True or None."""
    return value.only is not None or value.items is not None or isinstance(node, ast.Constant)


def _is_demonstration(site: Site, given: Value) -> bool:
    """Whether a call only shows how a function is used: with constants, where the file is started as a program."""
    is_shown = site.scope.parent is None and site.scope.module.is_guarded(site.node)
    return is_shown and not given.taint and bool(given.constants or given.items is not None)


def _is_bound_call(site: Site, function: Function) -> bool:
    """Whether the language fills in the first parameter of a method."""
    func = site.node.func
    is_through_class = (
        isinstance(func, ast.Attribute)
        and isinstance(func.value, ast.Name)
        and function.owner is not None
        and func.value.id == function.owner.name
        and not function.is_marked("classmethod")
    )
    return not is_through_class


def _origin_of(value: Value) -> Value:
    return Value(taint=value.taint, inner=value.inner, variables=value.variables)


def _default(function: Function, name: str) -> ast.expr | None:
    """The expression that a parameter stands for when nothing is handed over."""
    arguments = function.node.args
    if not arguments.defaults and not arguments.kwonlyargs:
        return None
    positional = [*arguments.posonlyargs, *arguments.args]
    with_default = positional[len(positional) - len(arguments.defaults) :]
    for parameter, default in zip(with_default, arguments.defaults, strict=True):
        if parameter.arg == name:
            return default
    for parameter, keyword in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if parameter.arg == name:
            return keyword
    return None
