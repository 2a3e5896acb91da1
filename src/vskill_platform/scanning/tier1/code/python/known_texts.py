"""What gives texts and data made of others: letters of numbers, decoded bytes, parsed documents."""

from __future__ import annotations

import json

from vskill_platform.scanning.tier1.code.python import catalogue, folding
from vskill_platform.scanning.tier1.code.python.known_calls import Handler, KnownCall
from vskill_platform.scanning.tier1.code.python.model import Function
from vskill_platform.scanning.tier1.code.python.values import (
    DECODED,
    ENCRYPTED,
    FOLDED,
    FROM_USER,
    HIDDEN,
    INPUT,
    MOST_ITEMS,
    NOTHING,
    PARSED,
    UNKNOWN,
    Value,
    constant,
    container,
    join,
)

DEEPEST_JSON = 6
LONGEST_JSON = 100_000
LONGEST_NUMBER = 40
_LAST_LETTER = 0x110000


def decoded(call: KnownCall, kind: str) -> Value:
    """What a function gives that decodes an argument in a way that has a name."""
    given = call.argument(1 if kind == "unicode" else 0, "s", "data", "string")
    taint = given.taint & ~HIDDEN | (0 if kind in catalogue.READABLE_CODINGS else DECODED)
    whole = [each for each in given.constants if not (isinstance(each, str) and UNKNOWN in each)]
    found = [folding.decode(kind, each) for each in whole]
    return Value(tuple(each for each in found if each is not None), taint=taint, variables=given.variables)


def _by_codec(call: KnownCall) -> Value:
    given, encoding = call.argument(0, "obj"), call.argument(1, "encoding").only
    kind = encoding if encoding is not None else "utf-8"
    found = [folding.decode_by_codec(each, kind) for each in given.constants]
    is_plain = str(kind).lower().replace("-", "") in {"utf8", "ascii"}
    return Value(tuple(each for each in found if each is not None), taint=given.taint | (0 if is_plain else DECODED))


def _letter(call: KnownCall) -> Value:
    given = call.argument(0)
    folded = tuple(chr(each) for each in given.constants if isinstance(each, int) and 0 < each < _LAST_LETTER)
    return Value(folded, taint=given.taint | FOLDED | DECODED)


def _number_of_letter(call: KnownCall) -> Value:
    given = call.argument(0)
    only = given.only
    return constant(ord(only)) if isinstance(only, str | bytes) and len(only) == 1 else Value(taint=given.taint)


def _number(call: KnownCall) -> Value:
    given, base = call.argument(0), call.argument(1, "base").only
    only = given.only
    if isinstance(only, str) and len(only) < LONGEST_NUMBER:
        try:
            return constant(int(only, base if isinstance(base, int) else 10))
        except ValueError:
            return NOTHING
    return constant(only) if isinstance(only, int) else Value(taint=given.taint & DECODED)


def _bytes(call: KnownCall) -> Value:
    given = call.argument(0)
    numbers = [each.only for each in given.items or ()]
    small = [each for each in numbers if isinstance(each, int) and 0 <= each < 256]
    if numbers and len(small) == len(numbers):
        return constant(bytes(small), given.taint | FOLDED | DECODED)
    if isinstance(given.only, str):
        return constant(given.only.encode("utf-8", "replace"), given.taint)
    return Value(taint=given.taint & ~HIDDEN | DECODED, variables=given.variables)


def _mapped(call: KnownCall) -> Value | None:
    """What `map` gives over something known, turn by turn."""
    function, over = call.argument(0), call.argument(1)
    items = list(over.items) if over.items is not None and over.inner is None else None
    if items is None and isinstance(over.only, str | bytes) and len(over.only) <= MOST_ITEMS:
        items = [constant(each) for each in over.only]
    if items is None:
        return None
    call.evaluator.spend(len(items))
    if "chr" in function.references:
        numbers = [each.only for each in items]
        folded = [chr(each) if isinstance(each, int) and 0 < each < _LAST_LETTER else UNKNOWN for each in numbers]
        return container([constant(each, FOLDED | DECODED) for each in folded])
    own = next((each for each in function.targets if isinstance(each, Function)), None)
    return container([call.evaluator.functions.given_one(own, each) for each in items]) if own is not None else None


def _reversed(call: KnownCall) -> Value | None:
    given = call.argument(0)
    if given.items is not None:
        return container(list(reversed(given.items)))
    if isinstance(given.only, str) and len(given.only) <= MOST_ITEMS:
        return container([constant(each, FOLDED) for each in reversed(given.only)])
    return None


def _source(call: KnownCall) -> Value:
    return call.argument(0, "source")


def _parsed(call: KnownCall) -> Value:
    """What stands in JSON, where the text is known; else data of unknown shape."""
    given = call.argument(0, "s")
    taint = given.taint & ~HIDDEN | PARSED
    if isinstance(given.only, str | bytes) and len(given.only) < LONGEST_JSON:
        try:
            return _of_json(json.loads(given.only), DEEPEST_JSON).tainted(taint)
        except (ValueError, RecursionError):
            return Value(taint=taint)
    return Value(taint=taint, variables=given.variables)


def _of_json(data: object, depth: int) -> Value:
    if isinstance(data, str | int) and not isinstance(data, bool):
        return constant(data)
    if isinstance(data, list) and depth:
        return container([_of_json(each, depth - 1) for each in data[:MOST_ITEMS]])
    if isinstance(data, dict) and depth:
        keyed = {key: _of_json(each, depth - 1) for key, each in list(data.items())[:MOST_ITEMS]}
        return Value(inner=join(keyed.values()), keyed=dict(keyed))
    return NOTHING


def _letters_for_letters(call: KnownCall) -> Value | None:
    """The table that `str.maketrans` makes."""
    old, new = call.argument(0), call.argument(1)
    if old.keyed:
        return Value(keyed=old.keyed, inner=old.inner, taint=old.taint)
    if not isinstance(old.only, str) or not isinstance(new.only, str) or len(old.only) > MOST_ITEMS:
        return None
    return Value(keyed={letter: constant(other) for letter, other in zip(old.only, new.only, strict=False)})


def _arguments_of_program(call: KnownCall) -> Value:
    del call
    return Value(taint=INPUT)


def _changed(taint: int) -> Handler:
    """What gives its arguments made unreadable, or readable again."""

    def changed(call: KnownCall) -> Value:
        found = taint | call.callee.taint
        for each in call.evaluator.arguments(call.site):
            found |= each.taint
        return Value(taint=found & ~(HIDDEN | FROM_USER))

    return changed


def _empty_table(call: KnownCall) -> Value:
    """A dictionary that makes what it has not."""
    return Value(inner=NOTHING, keyed={}) if len(call.site.node.args) < 2 else NOTHING


TEXTS: dict[str, Handler] = {
    "collections.defaultdict": _empty_table,
    "chr": _letter,
    "ord": _number_of_letter,
    "int": _number,
    "bytes": _bytes,
    "bytearray": _bytes,
    "map": _mapped,
    "reversed": _reversed,
    "codecs.decode": _by_codec,
    "codecs.encode": _by_codec,
    "compile": _source,
    "json.loads": _parsed,
    "str.maketrans": _letters_for_letters,
}
"""Functions by their full names."""
TEXT_METHODS: dict[str, Handler] = {
    "parse_args": _arguments_of_program,
    "parse_known_args": _arguments_of_program,
    "decrypt": _changed(DECODED),
    "encrypt": _changed(ENCRYPTED),
    "encrypt_and_digest": _changed(ENCRYPTED),
}
"""Methods by their last word."""
