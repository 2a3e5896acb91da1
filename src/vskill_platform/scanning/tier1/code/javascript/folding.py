"""Works out texts that a program puts together from fixed pieces. Everything stays below a bound."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from urllib.parse import unquote

from vskill_platform.scanning.tier1.code import decoding
from vskill_platform.scanning.tier1.code.javascript.values import (
    LONGEST_TEXT,
    NOTHING,
    Origin,
    Source,
    Value,
    all_origins,
    bounded,
    text_of,
)

_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}|([0-7]{1,3})|(\r?\n)|((?s:.)))")
_NAMED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": ""}
_SPELLED = re.compile(r"\\(?:x[2-7]|u00[2-7]|u\{0*[2-7])[0-9a-fA-F]")
_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "-": lambda a, b: a - b,
    "*": lambda a, b: min(a * b, 1 << 40),
    "^": lambda a, b: a ^ b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "%": lambda a, b: a % b if b else 0,
    "/": lambda a, b: a // b if b else 0,
}
_WHOLE_NUMBER = re.compile(r"-?\d{1,9}")
_BASES = {"0x": 16, "0b": 2, "0o": 8}
_PERCENT_U = re.compile(r"%u([0-9a-fA-F]{4})")


def unescape_string(quoted: str) -> str:
    """The text behind a string in quotes or backticks."""
    inside = quoted[1:-1] if len(quoted) > 1 and quoted[-1] == quoted[0] else quoted[1:]
    return _ESCAPE.sub(_unescape, inside) if "\\" in inside else inside


def _unescape(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    if code:
        return chr(min(int(code, 16), 0x10FFFF))
    if found[4]:
        return chr(int(found[4], 8)) if found[4] != "0" else ""
    return "" if found[5] else _NAMED.get(found[6], found[6])


def is_spelled_out(quoted: str) -> bool:
    """Whether visible characters are given by their codes, which no reader can read."""
    return quoted.count("\\x") + quoted.count("\\u") > 3 and len(_SPELLED.findall(quoted)) > 3


def number_text(word: str) -> str:
    """A number as the language would print it, where it is a whole one."""
    plain = word.replace("_", "").rstrip("n").lower()
    base = _BASES.get(plain[:2], 0)
    if not base or len(plain) > 20:
        return plain
    try:
        return str(int(plain[2:], base))
    except ValueError:
        return plain


def as_number(value: Value) -> int | None:
    """A whole number, where the value is one."""
    text = value.text or ""
    return int(text) if _WHOLE_NUMBER.fullmatch(text) else None


def calculated(sign: str, left: Value, right: Value) -> Value | None:
    """What an operator makes of two whole numbers; None where they are none."""
    if sign not in _ARITHMETIC:
        return None
    a, b = as_number(left), as_number(right)
    if a is None or b is None:
        return None
    found = _ARITHMETIC[sign](a, b)
    return Value(str(found), origins=left.origins | right.origins, is_built=True, is_number=True)


def from_codes(arguments: Sequence[Value]) -> Value:
    """`String.fromCharCode(...)`."""
    flat = [item for value in arguments for item in (value.items if value.items is not None else (value,))]
    numbers = [as_number(value) for value in flat]
    if not flat or any(number is None or not 0 <= number < 0x110000 for number in numbers):
        return Value(origins=all_origins(arguments) | {Origin(Source.DECODED, "codes")})
    text = "".join(chr(number) for number in numbers if number is not None)
    is_hidden = len(flat) > 3 or any(value.is_built for value in flat)
    hidden = {Origin(Source.DECODED, "codes")} if is_hidden else set()
    return Value(text, origins=all_origins(arguments) | hidden, is_built=True)


def decoded(value: Value, how: str) -> Value:
    """A value decoded from base64 or hexadecimal digits: its text where it is fixed, and that it was decoded."""
    origins = value.origins | {Origin(Source.DECODED, how)}
    if not value.is_known or value.text is None:
        return Value(origins=origins)
    data = decoding.from_hex(value.text) if how == "hex" else decoding.from_base64(value.text)
    text = decoding.as_text(data) or decoding.as_text(decoding.unpacked(data) if data else None)
    return Value(text, origins=origins, is_built=True)


def percent_decoded(value: Value) -> Value:
    """`unescape` and `decodeURIComponent`."""
    if not value.is_known or value.text is None:
        return value
    text = unquote(_PERCENT_U.sub(lambda found: chr(int(found[1], 16)), value.text), errors="replace")
    hid_letters = text != value.text and any(
        f"%{ord(letter):02x}" in value.text.lower() for letter in "abcdefghijklmnopqrstuvwxyz"
    )
    origins = value.origins | {Origin(Source.DECODED, "percent")} if hid_letters else value.origins
    return Value(text, origins=origins, is_built=text != value.text)


def text_method(base: Value, name: str, arguments: list[Value]) -> Value | None:
    """A method of a text or a list, where the result can be worked out; None where it is another method."""
    if base.items is not None and name in _OF_LISTS:
        return _OF_LISTS[name](base, arguments)
    if base.text is not None and name in _OF_TEXTS:
        return _OF_TEXTS[name](base, arguments)
    return None


def _like(base: Value, text: str, *, is_built: bool = True, how: str = "") -> Value:
    origins = base.origins | {Origin(Source.DECODED, how)} if how else base.origins
    return Value(bounded(text), origins=origins, is_built=is_built or base.is_built)


def _split(base: Value, arguments: list[Value]) -> Value:
    text = base.text or ""
    separator = arguments[0].text if arguments else None
    if separator is None or len(text) > 5_000:
        return Value(origins=base.origins)
    pieces = list(text) if separator == "" else text.split(separator)
    return Value(
        items=tuple(Value(piece, origins=base.origins, is_built=True) for piece in pieces[:5_000]), origins=base.origins
    )


def _join(base: Value, arguments: list[Value]) -> Value:
    separator = arguments[0].text if arguments and arguments[0].text is not None else ","
    items = base.items or ()
    if not any(item.text is not None for item in items):
        return Value(origins=all_origins([base, *items]))
    is_turned = base.name == "reversed"
    text = bounded(separator.join(text_of(item, item.path or "value") for item in items))
    origins = all_origins([base, *items]) | (
        {Origin(Source.DECODED, "reverse")} if is_turned and len(items) > 3 else set()
    )
    return Value(text, origins=origins, is_built=True)


def _reverse(base: Value, _arguments: list[Value]) -> Value:
    return Value(items=tuple(reversed(base.items or ())), origins=base.origins, name="reversed")


def _slice(base: Value, arguments: list[Value]) -> Value:
    start = as_number(arguments[0]) if arguments else 0
    end = as_number(arguments[1]) if len(arguments) > 1 else None
    if start is None or not base.is_known or (len(arguments) > 1 and end is None):
        return Value(origins=base.origins)
    return _like(base, (base.text or "")[start:end])


def _substr(base: Value, arguments: list[Value]) -> Value:
    start = as_number(arguments[0]) if arguments else 0
    length = as_number(arguments[1]) if len(arguments) > 1 else LONGEST_TEXT
    if start is None or length is None or not base.is_known:
        return Value(origins=base.origins)
    return _like(base, (base.text or "")[start:][: max(0, length)])


def _char_at(base: Value, arguments: list[Value]) -> Value:
    at = as_number(arguments[0]) if arguments else 0
    text = base.text or ""
    return _like(base, text[at : at + 1] if at is not None and at >= 0 else "")


def _code_at(base: Value, arguments: list[Value]) -> Value:
    at = as_number(arguments[0]) if arguments else 0
    text = base.text or ""
    if at is None or not 0 <= at < len(text):
        return Value(origins=base.origins)
    return Value(str(ord(text[at])), origins=base.origins, is_built=True, is_number=True)


def _replace(base: Value, arguments: list[Value]) -> Value:
    if len(arguments) > 1 and arguments[0].text and arguments[1].text is not None and base.is_known:
        return _like(base, (base.text or "").replace(arguments[0].text, arguments[1].text))
    return base.having(all_origins(arguments))


def _concat(base: Value, arguments: list[Value]) -> Value:
    if base.items is not None:
        more = [item for value in arguments for item in (value.items or (value,))]
        return Value(items=(*base.items, *more)[:500], origins=all_origins([base, *arguments]))
    text = bounded("".join(text_of(value, "value") for value in (base, *arguments)))
    return Value(text, origins=all_origins([base, *arguments]), is_built=True)


def _repeat(base: Value, arguments: list[Value]) -> Value:
    count = as_number(arguments[0]) if arguments else 0
    text = base.text or ""
    is_small = count is not None and count >= 0 and count * len(text) <= LONGEST_TEXT
    return _like(base, text * count) if is_small and count is not None else Value(origins=base.origins)


def _same_list(base: Value, _arguments: list[Value]) -> Value:
    return Value(items=base.items, origins=base.origins)


def _mapped(base: Value, arguments: list[Value]) -> Value:
    """A list run through a function: what the function gave for the one item that it was read with."""
    function = arguments[0] if arguments else NOTHING
    if function.path == "String.fromCharCode":
        return Value(items=tuple(from_codes([item]) for item in base.items or ()), origins=base.origins)
    result = function.function.result if function.function is not None else None
    origins = base.origins | all_origins(arguments) | (result.origins if result is not None else frozenset())
    return Value(items=(result,) if result is not None else None, origins=origins)


def _matched(base: Value, _arguments: list[Value]) -> Value:
    """What a pattern finds in a text: the address that is in it, if there is one, else nothing that could be known."""
    text = base.text or ""
    at = text.find("://")
    piece = _like(base, text[text.rfind("http", 0, at) if "http" in text[:at] else 0 :]) if at > 0 else None
    return Value(items=(piece,) * 3 if piece else None, origins=base.origins)


_Method = Callable[[Value, list[Value]], Value]
_OF_TEXTS: dict[str, _Method] = {
    "split": _split,
    "slice": _slice,
    "substring": _slice,
    "substr": _substr,
    "charAt": _char_at,
    "charCodeAt": _code_at,
    "codePointAt": _code_at,
    "at": _char_at,
    "replace": _replace,
    "replaceAll": _replace,
    "concat": _concat,
    "repeat": _repeat,
    "match": _matched,
    "matchAll": lambda base, arguments: Value(items=(_matched(base, arguments),), origins=base.origins),
    "toString": lambda base, _arguments: base,
    "valueOf": lambda base, _arguments: base,
    "normalize": lambda base, _arguments: base,
    "trim": lambda base, _arguments: _like(base, (base.text or "").strip(), is_built=False),
    "toLowerCase": lambda base, _arguments: _like(base, (base.text or "").lower()),
    "toUpperCase": lambda base, _arguments: _like(base, (base.text or "").upper()),
}
_OF_LISTS: dict[str, _Method] = {
    **dict.fromkeys(["filter", "sort", "slice", "flat", "toSorted"], _same_list),
    "join": _join,
    "reverse": _reverse,
    "toReversed": _reverse,
    "concat": _concat,
    "map": _mapped,
    "toString": _join,
}
