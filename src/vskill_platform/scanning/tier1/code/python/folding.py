"""What becomes of constants: joined, sliced, replaced, decoded, as the program would, and never more than a bound of it.

Each function returns None for what it does not know or will not do. Nothing here calls anything that a skill names: the
operations are listed, and each is ours.
"""

from __future__ import annotations

import base64
import binascii
import bz2
import codecs
import html
import lzma
import unicodedata
import zlib
from collections.abc import Callable
from urllib.parse import unquote

from vskill_platform.scanning.tier1.code.python.values import UNKNOWN, Constant
from vskill_platform.scanning.tier1.code.python.vocabulary import words

LONGEST_TEXT = 256_000
LONGEST_DECODED = 256_000
LARGEST_NUMBER = 1 << 64
_Failures = (ValueError, TypeError, OverflowError, LookupError, EOFError, zlib.error, lzma.LZMAError, OSError)

_CODECS = words(
    "utf8 utf_8 ascii latin1 latin_1 iso8859_1 iso_8859_1 cp1252 utf_16 utf16 utf_16_le utf_16_be utf_7 utf7 "
    "unicode_escape raw_unicode_escape punycode"
)
_PLAIN_METHODS = words("strip lstrip rstrip lower upper swapcase title capitalize casefold removeprefix removesuffix")
_TEXT_CODECS = frozenset(["rot13", "rot_13"])
_BYTE_CODECS = words("base64 base64_codec base_64 hex hex_codec quopri uu")


def add(left: Constant, right: Constant) -> Constant | None:
    """The sum of two constants of one kind."""
    if isinstance(left, int) and isinstance(right, int):
        return _small(left + right)
    if isinstance(left, str) and isinstance(right, str):
        return left + right if len(left) + len(right) <= LONGEST_TEXT else None
    if isinstance(left, bytes) and isinstance(right, bytes):
        return left + right if len(left) + len(right) <= LONGEST_TEXT else None
    return None


def multiply(left: Constant, right: Constant) -> Constant | None:
    """The product of numbers, or a text repeated."""
    if isinstance(left, int) and isinstance(right, int):
        return _small(left * right)
    text, times = (right, left) if isinstance(left, int) else (left, right)
    if isinstance(text, int) or not isinstance(times, int) or len(text) * max(0, times) > LONGEST_TEXT:
        return None
    return text * times


_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "Sub": lambda a, b: a - b,
    "BitXor": lambda a, b: a ^ b,
    "BitAnd": lambda a, b: a & b,
    "BitOr": lambda a, b: a | b,
    "FloorDiv": lambda a, b: a // b,
    "Mod": lambda a, b: a % b,
    "LShift": lambda a, b: a << b if 0 <= b < 64 else 0,
    "RShift": lambda a, b: a >> b if 0 <= b < 64 else 0,
    "Pow": lambda a, b: int(a**b) if abs(a) <= 1024 and 0 <= b <= 12 else 0,
}


def arithmetic(operator: str, left: Constant, right: Constant) -> Constant | None:
    """A calculation with whole numbers."""
    calculate = _ARITHMETIC.get(operator)
    if calculate is None or not isinstance(left, int) or not isinstance(right, int):
        return None
    try:
        return _small(calculate(left, right))
    except (ArithmeticError, ValueError):
        return None


def _small(number: int) -> int | None:
    return number if abs(number) < LARGEST_NUMBER else None


def percent(text: str, values: list[str]) -> str:
    """A text with `%`, with its places filled; what is missing stays unknown."""
    parts = text.replace("%%", "\1").split("%")
    out = [parts[0]]
    for number, part in enumerate(parts[1:]):
        value = values[number] if number < len(values) else UNKNOWN
        rest = part.partition(")")[2] if part.startswith("(") else part
        directive = next((at for at, sign in enumerate(rest) if sign.isalpha()), -1)
        out.append(value + rest[directive + 1 :] if directive >= 0 else UNKNOWN + rest)
    return "".join(out).replace("\1", "%")[:LONGEST_TEXT]


def braces(text: str, values: list[str], named: dict[str, str]) -> str:
    """A text with `{}`, with its places filled; what is missing stays unknown."""
    out, count = list[str](), 0
    for part in text.replace("{{", "\1").replace("}}", "\2").split("{"):
        name, closed, rest = part.partition("}")
        if not closed:
            out.append(part)
            continue
        plain = name.partition("!")[0].partition(":")[0]
        number = count if not plain else int(plain) if plain.isdecimal() and len(plain) < 4 else -1
        count += not plain
        given = values[number] if 0 <= number < len(values) else named.get(plain, UNKNOWN)
        out.append(given + rest)
    return "".join(out).replace("\1", "{").replace("\2", "}")[:LONGEST_TEXT]


def slice_of(value: Constant, start: int | None, stop: int | None, step: int | None) -> Constant | None:
    """A part of a text, or the whole of it backwards."""
    if isinstance(value, int) or step == 0:
        return None
    return value[start:stop:step]


def item_of(value: Constant, index: Constant) -> Constant | None:
    """One character or byte."""
    if isinstance(value, int) or not isinstance(index, int) or not -len(value) <= index < len(value):
        return None
    return value[index]


def method(value: Constant, name: str, arguments: list[Constant]) -> Constant | None:
    """What a method of a text gives."""
    if isinstance(value, int):
        return _method_of_number(value, name, arguments)
    known = _METHODS.get(name)
    if known is None:
        return None
    try:
        result = known(value, *arguments)
    except _Failures:
        return None
    return result if isinstance(result, str | bytes) and len(result) <= LONGEST_TEXT else None


def _method_of_number(value: int, name: str, arguments: list[Constant]) -> Constant | None:
    if name == "bit_length":
        return value.bit_length()
    length = arguments[0] if arguments else None
    if name != "to_bytes" or not isinstance(length, int) or not 0 < length < LONGEST_TEXT or value < 0:
        return None
    try:
        return value.to_bytes(length, "little" if arguments[1:] == ["little"] else "big")
    except OverflowError:
        return None


def translated(value: str, table: dict[Constant, str]) -> str:
    """A text with letters in place of others."""
    letters = {
        ord(old) if isinstance(old, str) else old: new
        for old, new in table.items()
        if not isinstance(old, bytes) and (isinstance(old, int) or len(old) == 1)
    }
    return value[:LONGEST_DECODED].translate(letters)[:LONGEST_TEXT]


def split(value: Constant, separator: Constant | None) -> list[str] | None:
    """The parts of a text."""
    if not isinstance(value, str) or (separator is not None and not isinstance(separator, str)) or separator == "":
        return None
    parts = value.split(separator)
    return parts if len(parts) <= 4096 else None


def _decoded(value: str | bytes, encoding: object = "utf-8", errors: object = "") -> str | bytes | None:
    del errors
    name = str(encoding).lower().replace("-", "_").replace(" ", "_")
    if name in _TEXT_CODECS and isinstance(value, str):
        return codecs.encode(value[:LONGEST_DECODED], "rot13")
    if name in _BYTE_CODECS:
        data: object = codecs.decode(_as_bytes(value)[:LONGEST_DECODED], name)
        return data if isinstance(data, bytes) else None
    if name in {"zlib", "zip", "zlib_codec", "bz2", "bz2_codec"}:
        return decompress("zlib" if name.startswith("z") else "bz2", value)
    if name not in _CODECS:
        return None
    return value.decode(name, "replace") if isinstance(value, bytes) else value


def _encoded(value: str | bytes, encoding: object = "utf-8", errors: object = "") -> str | bytes | None:
    del errors
    name = str(encoding).lower().replace("-", "_")
    if name in _TEXT_CODECS and isinstance(value, str):
        return codecs.encode(value[:LONGEST_DECODED], "rot13")
    return value.encode(name if name in _CODECS else "utf-8", "replace") if isinstance(value, str) else value


def _replaced(value: str | bytes, old: object, new: object, count: object = -1) -> str | bytes | None:
    times = count if isinstance(count, int) else -1
    if isinstance(value, str) and isinstance(old, str) and isinstance(new, str):
        return value.replace(old, new, times) if len(new) <= 64 and len(value) <= LONGEST_DECODED else None
    if isinstance(value, bytes) and isinstance(old, bytes) and isinstance(new, bytes):
        return value.replace(old, new, times) if len(new) <= 64 and len(value) <= LONGEST_DECODED else None
    return None


def _plain(name: str) -> Callable[..., object]:
    """A method that both kinds of text have, called on ours."""
    return lambda value, *arguments: getattr(value, name)(*arguments)


_METHODS: dict[str, Callable[..., object]] = {
    **{name: _plain(name) for name in sorted(_PLAIN_METHODS)},
    "replace": _replaced,
    "decode": _decoded,
    "encode": _encoded,
    "hex": lambda value: value.hex() if isinstance(value, bytes) else None,
}


def _as_bytes(value: Constant) -> bytes:
    if isinstance(value, int):
        raise TypeError
    return value.encode("latin-1", "replace") if isinstance(value, str) else value


def decompress(kind: str, value: Constant) -> bytes | None:
    """What was compressed, up to a bound."""
    data = _as_bytes(value)
    if kind == "bz2":
        return bz2.BZ2Decompressor().decompress(data, LONGEST_DECODED)
    if kind == "lzma":
        return lzma.LZMADecompressor(memlimit=64_000_000).decompress(data, LONGEST_DECODED)
    for window in (47, -15):
        try:
            return zlib.decompressobj(window).decompress(data, LONGEST_DECODED)
        except zlib.error:
            continue
    return None


def _base(decode: Callable[[bytes], bytes]) -> Callable[[Constant], bytes]:
    def decode_bounded(value: Constant) -> bytes:
        return decode(_as_bytes(value)[: 2 * LONGEST_DECODED])

    return decode_bounded


def _padded(data: bytes) -> bytes:
    return base64.b64decode(data + b"=" * (-len(data) % 4))


_DECODERS: dict[str, Callable[[Constant], Constant | None]] = {
    "base64": _base(_padded),
    "base64url": _base(lambda data: base64.urlsafe_b64decode(data + b"=" * (-len(data) % 4))),
    "base32": _base(base64.b32decode),
    "base16": _base(base64.b16decode),
    "base85": _base(base64.b85decode),
    "ascii85": _base(base64.a85decode),
    "hex": _base(binascii.unhexlify),
    "zlib": lambda value: decompress("zlib", value),
    "bz2": lambda value: decompress("bz2", value),
    "lzma": lambda value: decompress("lzma", value),
    "unicode": lambda value: unicodedata.normalize("NFKC", value[:LONGEST_DECODED]) if isinstance(value, str) else None,
    "url": lambda value: unquote(value[:LONGEST_DECODED]) if isinstance(value, str) else None,
    "html": lambda value: html.unescape(value[:LONGEST_DECODED]) if isinstance(value, str) else None,
}


def decode(kind: str, value: Constant) -> Constant | None:
    """What was encoded in one of the ways that have a name here."""
    decoder = _DECODERS.get(kind)
    try:
        return decoder(value) if decoder is not None else None
    except _Failures:
        return None


def decode_by_codec(value: Constant, encoding: Constant) -> Constant | None:
    """What `codecs.decode` gives."""
    try:
        return None if isinstance(value, int) else _decoded(value, encoding)
    except _Failures:
        return None
