"""What each kind of expression gives. The evaluator asks here, and what is here asks the evaluator about the parts."""

from __future__ import annotations

import ast
from collections.abc import Callable
from itertools import product
from typing import TYPE_CHECKING, Any

from vskill_platform.scanning.tier1.code.python import folding
from vskill_platform.scanning.tier1.code.python.chosen import KEPT_TOGETHER, chosen_by
from vskill_platform.scanning.tier1.code.python.frames import DEEPEST_FRAME, Frame
from vskill_platform.scanning.tier1.code.python.model import Scope, Site, terminal
from vskill_platform.scanning.tier1.code.python.operators import (
    calculated,
    combined,
    concatenated_all,
    in_format,
    percented,
)
from vskill_platform.scanning.tier1.code.python.values import (
    DECODED,
    ENVIRONMENT,
    FOLDED,
    HIDDEN,
    MEMBER,
    MOST_CONSTANTS,
    MOST_ITEMS,
    NAMED_KEY,
    NOTHING,
    OWN_SECRET,
    PARSED,
    SETTINGS,
    UNKNOWN,
    Constant,
    Value,
    constant,
    container,
    join,
    one_of,
)

if TYPE_CHECKING:
    from vskill_platform.scanning.tier1.code.python.evaluation import Evaluator

_Handler = Callable[["Evaluator", Any, Scope], Value]
_CONSTANTS = frozenset([str, bytes, int])


def literal(value: object) -> Value:
    """The value of what stands there as it is."""
    return Value((value,)) if value.__class__ in _CONSTANTS else NOTHING  # type: ignore[arg-type]


def _attribute(evaluator: Evaluator, node: ast.Attribute, scope: Scope) -> Value:
    holder = evaluator.value(node.value, scope)
    value = evaluator.attribute_of(holder, node.attr)
    if holder.references or (holder.targets and value is not NOTHING) or node.attr not in scope.module.attributes:
        return value
    return join([value, evaluator.attribute_of_any(node.attr, scope.module)])


def _called(evaluator: Evaluator, node: ast.Call, scope: Scope) -> Value:
    value = evaluator.outside.result(evaluator, Site(node, scope, terminal(node.func)))
    return evaluator.weigh(value) if value.constants else value


def _subscript(evaluator: Evaluator, node: ast.Subscript, scope: Scope) -> Value:
    holder = evaluator.value(node.value, scope)
    if isinstance(node.slice, ast.Slice):
        return _sliced(evaluator, holder, node.slice, scope)
    return part_of(evaluator, holder, evaluator.value(node.slice, scope))


def part_of(evaluator: Evaluator, holder: Value, key: Value) -> Value:
    """The part of a value behind a key or an index."""
    special = evaluator.outside.looked_up(evaluator, holder, key) if holder.references else None
    if special is not None:
        return special
    parts: list[Value] = []
    for each in key.constants:
        if holder.keyed and each in holder.keyed:
            parts.append(holder.keyed[each])
        elif isinstance(each, int) and holder.items is not None and -len(holder.items) <= each < len(holder.items):
            parts.append(holder.items[each])
        if holder.constants:
            parts += [constant(part, FOLDED) for part in combined(folding.item_of, holder.constants, (each,))]
    if parts:
        return join(parts) if holder.keyed else join(parts).tainted(holder.taint & (NAMED_KEY | DECODED))
    if holder.taint & (OWN_SECRET | SETTINGS) and any(isinstance(each, str) for each in key.constants):
        return Value(taint=NAMED_KEY, variables=tuple(key.texts[:1]))
    is_named = holder.taint & PARSED and any(isinstance(each, str) for each in key.constants)
    return holder.element().tainted(key.taint & ENVIRONMENT | (MEMBER if is_named else 0))


def _sliced(evaluator: Evaluator, holder: Value, node: ast.Slice, scope: Scope) -> Value:
    bounds: list[int | None] = []
    for part in (node.lower, node.upper, node.step):
        given = evaluator.value(part, scope).only if part is not None else None
        if part is not None and not isinstance(given, int):
            return Value(taint=holder.taint, inner=holder.inner, variables=holder.variables)
        bounds.append(given if isinstance(given, int) else None)
    start, stop, step = bounds
    if holder.items is not None and step != 0:
        return container(list(holder.items[start:stop:step]))
    parts = [folding.slice_of(each, start, stop, step) for each in holder.constants]
    constants = tuple(each for each in parts if each is not None)
    made = Value(constants, taint=holder.taint | (FOLDED if constants else 0), variables=holder.variables)
    return evaluator.weigh(made)


def _operation(evaluator: Evaluator, node: ast.BinOp, scope: Scope) -> Value:
    if isinstance(node.op, ast.Add):
        return _sum(evaluator, node, scope)
    left, right = evaluator.value(node.left, scope), evaluator.value(node.right, scope)
    if isinstance(node.op, ast.Mod) and left.texts:
        return evaluator.weigh(percented(left, right))
    if isinstance(node.op, ast.Div):
        return evaluator.outside.joined_path([left, right])
    return evaluator.weigh(calculated(node.op, left, right))


def _sum(evaluator: Evaluator, node: ast.BinOp, scope: Scope) -> Value:
    """A chain of sums, however long, from left to right."""
    parts: list[ast.expr] = []
    at: ast.expr = node
    while isinstance(at, ast.BinOp) and isinstance(at.op, ast.Add):
        parts.append(at.right)
        at = at.left
    values = [evaluator.value(at, scope), *(evaluator.value(part, scope) for part in reversed(parts))]
    return evaluator.weigh(concatenated_all(values))


def _formatted(evaluator: Evaluator, node: ast.JoinedStr, scope: Scope) -> Value:
    texts, taint = [""], 0
    variables: list[str] = []
    for part in node.values:
        if isinstance(part, ast.Constant):
            texts = [text + str(part.value) for text in texts]
            continue
        value = evaluator.value(part.value if isinstance(part, ast.FormattedValue) else part, scope)
        taint |= value.taint & ~HIDDEN
        variables += value.variables
        choices = [str(each) for each in value.constants if not isinstance(each, bytes)][:MOST_CONSTANTS] or [UNKNOWN]
        if isinstance(part, ast.FormattedValue) and part.format_spec is not None:
            choices = [in_format(value, part.format_spec)]
        texts = [left + right for left, right in product(texts, choices)][:MOST_CONSTANTS]
        if sum(map(len, texts)) > folding.LONGEST_TEXT:
            texts = [UNKNOWN]
    return evaluator.weigh(Value(tuple(dict.fromkeys(texts)), taint=taint | FOLDED, variables=tuple(variables)))


def _listed(evaluator: Evaluator, node: ast.List | ast.Tuple | ast.Set, scope: Scope) -> Value:
    items: list[Value] = []
    is_exact = True
    for part in node.elts[:MOST_ITEMS]:
        if isinstance(part, ast.Starred):
            spread = evaluator.value(part.value, scope)
            is_exact = is_exact and spread.items is not None
            items += spread.items if spread.items is not None else [spread.element()]
        else:
            items.append(evaluator.value(part, scope))
    whole = container(items)
    if is_exact:
        return whole
    return Value(taint=whole.taint, items=whole.items, inner=join(items), variables=whole.variables)


def _dictionary(evaluator: Evaluator, node: ast.Dict, scope: Scope) -> Value:
    keyed: dict[Constant, Value] = {}
    items: list[Value] = []
    for key, part in zip(node.keys[:MOST_ITEMS], node.values, strict=False):
        value = evaluator.value(part, scope)
        items.append(value)
        if isinstance(key, ast.Constant) and isinstance(key.value, str | int | bytes):
            keyed[key.value] = value
        elif key is not None:
            items.append(evaluator.value(key, scope))
    whole = container(items)
    inner = join(items[:MOST_CONSTANTS])
    return Value((), (), (), whole.taint, inner=inner, keyed=keyed, variables=whole.variables)


def _either(evaluator: Evaluator, node: ast.IfExp, scope: Scope) -> Value:
    return one_of([evaluator.value(node.body, scope), evaluator.value(node.orelse, scope)])


def _any_of(evaluator: Evaluator, node: ast.BoolOp, scope: Scope) -> Value:
    return one_of([evaluator.value(part, scope) for part in node.values])


def _inner(evaluator: Evaluator, node: ast.Await | ast.Starred | ast.NamedExpr, scope: Scope) -> Value:
    return evaluator.value(node.value, scope)


def _signed(evaluator: Evaluator, node: ast.UnaryOp, scope: Scope) -> Value:
    value = evaluator.value(node.operand, scope)
    only = value.only
    if isinstance(only, int) and isinstance(node.op, ast.USub | ast.Invert):
        return constant(-only if isinstance(node.op, ast.USub) else ~only)
    return NOTHING if isinstance(node.op, ast.Not) else value


def _anonymous(evaluator: Evaluator, node: ast.Lambda, scope: Scope) -> Value:
    del evaluator
    found = scope.module.lambdas.get(id(node))
    return Value(targets=(found,)) if found is not None else NOTHING


def _comprehension(evaluator: Evaluator, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, scope: Scope) -> Value:
    """Turn by turn where all that is gone through is known, else what any turn may give."""
    generator = node.generators[0]
    over = evaluator.value(generator.iter, scope)
    turns = _turns(over) if len(node.generators) == 1 and not generator.ifs else None
    frame = evaluator.frame
    if turns is None or not isinstance(generator.target, ast.Name) or frame.depth >= DEEPEST_FRAME:
        inner = evaluator.value(node.elt, scope)
        if inner.taint & KEPT_TOGETHER and generator.ifs:
            inner = chosen_by(evaluator, inner, generator.ifs, scope)
        return Value(taint=inner.taint | (over.taint & ENVIRONMENT), inner=inner, variables=inner.variables)
    name = generator.target.id
    items: list[Value] = []
    evaluator.spend(len(turns))
    for turn in turns:
        inside = Frame(_scope_of(name, scope), {name: turn}, parent=frame, is_call=False)
        items.append(evaluator.within(inside, lambda: evaluator.value(node.elt, scope)))
    return container(items)


def _scope_of(name: str, scope: Scope) -> Scope:
    at: Scope | None = scope
    while at is not None and name not in at.bindings:
        at = at.parent
    return at or scope


def _keyed_comprehension(evaluator: Evaluator, node: ast.DictComp, scope: Scope) -> Value:
    inner = join([evaluator.value(node.key, scope), evaluator.value(node.value, scope)])
    return Value(taint=inner.taint, inner=inner, variables=inner.variables)


def _turns(over: Value) -> list[Value] | None:
    """All that a loop goes through, in order, where that is known."""
    if over.items is not None and over.inner is None:
        return list(over.items)
    only = over.only
    if only is None or isinstance(only, int) or len(only) > MOST_ITEMS or over.references:
        return None
    if isinstance(only, str) and UNKNOWN in only:
        return None
    return [constant(each) for each in only]


def part_at(value: Value, place: int) -> Value:
    """The part of a value at a place, where its parts are known, else any part of it."""
    if value.items is not None and place < len(value.items):
        return value.items[place]
    return value.element()


def with_held(value: Value, held: list[tuple[Value, bool]]) -> Value:
    """A container with things put into it; of those that are marked, all parts were."""
    is_exact = value.items is not None and value.inner is None and not value.references
    if is_exact and all(each.items is not None or not spreads for each, spreads in held):
        added = [part for each, spreads in held for part in ((each.items or ()) if spreads else (each,))]
        return container([*(value.items or ()), *added])
    taint = value.taint
    variables = dict.fromkeys(value.variables)
    for each, _ in held:
        taint |= each.taint & ~HIDDEN
        variables.update(dict.fromkeys(each.variables))
    parts = [each.element() if spreads else each for each, spreads in held]
    return Value(
        value.constants,
        value.references,
        value.targets,
        taint,
        inner=join([*(value.items or ()), value.inner or NOTHING, *parts]),
        keyed=value.keyed,
        variables=tuple(variables),
    )


HANDLERS: dict[type[ast.AST], _Handler] = {
    ast.Attribute: _attribute,
    ast.Call: _called,
    ast.BinOp: _operation,
    ast.JoinedStr: _formatted,
    ast.Subscript: _subscript,
    ast.List: _listed,
    ast.Tuple: _listed,
    ast.Set: _listed,
    ast.Dict: _dictionary,
    ast.IfExp: _either,
    ast.BoolOp: _any_of,
    ast.Await: _inner,
    ast.Starred: _inner,
    ast.NamedExpr: _inner,
    ast.UnaryOp: _signed,
    ast.Lambda: _anonymous,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.DictComp: _keyed_comprehension,
}
