"""What operators and formats make of values: texts put together, with gaps where only the program knows."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from itertools import product

from vskill_platform.scanning.tier1.code.python import folding
from vskill_platform.scanning.tier1.code.python.values import (
    DECODED,
    FOLDED,
    HIDDEN,
    MOST_CONSTANTS,
    NOTHING,
    UNKNOWN,
    Constant,
    Value,
    container,
    join,
)

FEW = 8
"""So many pieces are put together one by one, with all that each of them may be."""


def concatenated(left: Value, right: Value) -> Value:
    """Two texts or two lists, one behind the other; what is not known of one leaves a gap."""
    if left is NOTHING:
        return right
    taint, variables = (left.taint | right.taint) & ~HIDDEN, (*left.variables, *right.variables)
    if left.items is not None and right.items is not None:
        return container([*left.items, *right.items])
    if left.items is not None or right.items is not None or left.inner or right.inner:
        return Value(taint=taint, inner=join([left.element(), right.element()]), variables=variables)
    folded = combined(folding.add, left.constants, right.constants)
    if not folded and (left.texts or right.texts):
        folded = _with_gap(left.texts or [UNKNOWN], right.texts or [UNKNOWN])
    return Value(folded, taint=taint | (FOLDED if folded else 0), variables=variables)


def concatenated_all(values: list[Value]) -> Value:
    """Many texts or lists, one behind the other, put together at once where each of them is known."""
    texts = [each.texts[0] if len(each.texts) == 1 else UNKNOWN for each in values if each is not NOTHING]
    if len(values) <= FEW or any(each.items is not None or each.inner is not None for each in values):
        result = values[0]
        for each in values[1:]:
            result = concatenated(result, each)
        return result
    taint = FOLDED
    variables: dict[str, None] = {}
    for each in values:
        taint |= each.taint & ~HIDDEN
        variables.update(dict.fromkeys(each.variables))
    is_text = any(text != UNKNOWN for text in texts)
    return Value(("".join(texts)[: folding.LONGEST_TEXT],) if is_text else (), taint=taint, variables=tuple(variables))


def calculated(operator: ast.operator, left: Value, right: Value) -> Value:
    """What an operator other than `+`, `/` and `%` makes of two values."""
    taint, variables = left.taint | right.taint, (*left.variables, *right.variables)
    if isinstance(operator, ast.Mult):
        if left.items is not None or right.items is not None:
            return left if left.items is not None else right
        return Value(combined(folding.multiply, left.constants, right.constants), taint=taint, variables=variables)
    name = operator.__class__.__name__
    folded = combined(lambda a, b: folding.arithmetic(name, a, b), left.constants, right.constants)
    if not folded and isinstance(operator, ast.BitOr):
        return join([left, right])
    if not folded and isinstance(operator, ast.BitXor):
        taint |= DECODED
    return Value(folded, taint=taint, variables=variables)


def percented(left: Value, right: Value) -> Value:
    """A text with `%`, filled in."""
    values = [text_of(part) for part in (right.items if right.items is not None else [right])]
    folded = tuple(folding.percent(text, values) for text in left.texts[:MOST_CONSTANTS])
    return Value(folded, taint=(left.taint | right.taint) & ~HIDDEN | FOLDED, variables=right.variables)


def text_of(value: Value) -> str:
    """The text of a value where it has one, else a gap."""
    only = value.only
    if only is None or isinstance(only, bytes):
        return value.texts[0] if len(value.texts) == 1 else UNKNOWN
    return str(only)


def in_format(value: Value, spec: ast.expr) -> str:
    """A number in the form that a format asks for; wide formats stay unknown."""
    only = value.only
    parts = spec.values if isinstance(spec, ast.JoinedStr) else []
    wanted = "".join(str(part.value) for part in parts if isinstance(part, ast.Constant))
    if isinstance(only, int) and wanted in {"c", "d", "x", "X", "o", "b", "02x", "02d"}:
        try:
            return format(only, wanted)
        except (ValueError, OverflowError):
            return UNKNOWN
    return only if isinstance(only, str) and wanted in {"", "s"} else UNKNOWN


def combined(
    operation: Callable[[Constant, Constant], Constant | None], left: Iterable[Constant], right: Iterable[Constant]
) -> tuple[Constant, ...]:
    """What an operation gives for every pair of constants, up to a bound."""
    pairs = list(product(left, right))[:MOST_CONSTANTS]
    return tuple(dict.fromkeys(result for a, b in pairs if (result := operation(a, b)) is not None))


def _with_gap(left: list[str], right: list[str]) -> tuple[Constant, ...]:
    pairs = list(product(left, right))[:MOST_CONSTANTS]
    return tuple(dict.fromkeys(a + b for a, b in pairs if len(a) + len(b) <= folding.LONGEST_TEXT))
