"""What methods of texts and containers give."""

from __future__ import annotations

import ast

from vskill_platform.scanning.tier1.code.python import folding
from vskill_platform.scanning.tier1.code.python.evaluation import Evaluator
from vskill_platform.scanning.tier1.code.python.expressions import part_of
from vskill_platform.scanning.tier1.code.python.model import Site
from vskill_platform.scanning.tier1.code.python.operators import text_of
from vskill_platform.scanning.tier1.code.python.values import (
    DECODED,
    FOLDED,
    HIDDEN,
    MOST_CONSTANTS,
    MOST_ITEMS,
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
)

_HIDING_CODINGS = frozenset(["rot13", "rot_13", "hex", "base64", "zlib", "bz2"])


def of_text(evaluator: Evaluator, site: Site) -> Value | None:
    """What a method of a text or of a container gives; None where it is none of those."""
    func = site.node.func
    if not isinstance(func, ast.Attribute):
        return None
    holder = evaluator.value(func.value, site.scope)
    if func.attr == "join":
        return _joined(holder, evaluator.argument(site, 0))
    if func.attr in {"get", "__getitem__", "pop"} and (
        holder.keyed or holder.items or holder.taint & (OWN_SECRET | SETTINGS | PARSED)
    ):
        return join([part_of(evaluator, holder, evaluator.argument(site, 0)), evaluator.argument(site, 1)])
    if func.attr in {"values", "copy", "elements"} and (holder.inner or holder.items):
        return holder
    if func.attr == "items" and holder.inner is not None:
        pair = Value(taint=holder.inner.taint, items=(Value(tuple(holder.keyed or ())), holder.inner))
        return Value(taint=holder.taint, inner=pair, variables=holder.variables)
    return _of_constant(evaluator, site, func.attr, holder) if holder.constants else None


def _of_constant(evaluator: Evaluator, site: Site, name: str, holder: Value) -> Value | None:
    given = evaluator.arguments(site)
    taint = holder.taint & ~HIDDEN
    for each in given:
        taint |= each.taint & ~HIDDEN
    variables = (*holder.variables, *(name for each in given for name in each.variables))
    if name == "format":
        return Value(_filled(evaluator, site, holder), taint=taint | FOLDED, variables=variables)
    if name == "translate":
        return _translated(holder, given, taint)
    if name == "splitlines" and isinstance(holder.constants[0], str):
        return container([constant(part, FOLDED) for part in holder.constants[0].splitlines()[:MOST_ITEMS]])
    if name in {"split", "rsplit"}:
        parts = folding.split(holder.constants[0], given[0].only if given else None)
        return container([constant(part, FOLDED) for part in parts]) if parts is not None else None
    arguments = [each.only for each in given]
    known = [each for each in arguments if each is not None]
    if len(known) < len(arguments):
        return None
    results = [folding.method(each, name, known) for each in holder.constants]
    folded = tuple(each for each in results if each is not None)
    is_decoded = name in {"decode", "encode"} and bool(known) and str(known[0]).replace("-", "") in _HIDING_CODINGS
    return Value(folded, taint=taint | FOLDED | (DECODED if is_decoded else 0), variables=variables) if folded else None


def _translated(holder: Value, given: list[Value], taint: int) -> Value:
    """A text with letters in place of others; whoever does that has something to hide."""
    table = {key: value.texts[0] for key, value in (given[0].keyed or {}).items() if value.texts} if given else {}
    texts = tuple(folding.translated(text, table) for text in holder.texts) if table else ()
    return Value(texts, taint=taint | FOLDED | DECODED)


def _filled(evaluator: Evaluator, site: Site, holder: Value) -> tuple[Constant, ...]:
    """A text with `{}`, with its places filled."""
    values = [text_of(evaluator.value(each, site.scope)) for each in site.node.args]
    named = {each.arg: text_of(evaluator.value(each.value, site.scope)) for each in site.node.keywords if each.arg}
    return tuple(folding.braces(text, values, named) for text in holder.texts[:MOST_CONSTANTS])


def _joined(holder: Value, given: Value) -> Value:
    taint = given.taint & ~HIDDEN
    if given.items is None or len(holder.constants) != 1:
        taint |= given.element().taint & ~HIDDEN
        return Value((UNKNOWN,), taint=taint, variables=given.variables)
    separator, parts = holder.constants[0], [each.only for each in given.items]
    if isinstance(separator, bytes):
        data = [each for each in parts if isinstance(each, bytes)]
        return constant(separator.join(data), taint) if len(data) == len(parts) else Value(taint=taint)
    if not isinstance(separator, str):
        return NOTHING
    texts = [each.texts[0] if len(each.texts) == 1 else UNKNOWN for each in given.items]
    return Value((separator.join(texts)[: folding.LONGEST_TEXT],), taint=taint | FOLDED, variables=given.variables)
