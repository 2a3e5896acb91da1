"""Escapes of shells: `$'...'`, `echo -e` and `printf`, as the shell would print them."""

from __future__ import annotations

import re

_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|0?([0-7]{1,3})|c([@-_a-z])|([abefnrtvE\\'\"?]))"
)
_DIRECTIVE = re.compile(r"%(?:%|[-+ 0#']*(?:\d+|\*)?(?:\.(?:\d+|\*))?([a-zA-Z]))")
_NAMED = {
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "?": "?",
}
MOST_ROUNDS = 1_000
"""How often a format is used again for further arguments."""


def decode_escapes(text: str) -> str:
    """The text with its backslash escapes replaced."""
    return _ESCAPE.sub(_decoded, text) if "\\" in text else text


def is_spelled_out(text: str) -> bool:
    """Whether visible characters are given by their codes, which no reader can read."""
    return any(
        _decoded(found).isprintable() and (found[1] or found[2] or found[3] or found[4])
        for found in _ESCAPE.finditer(text)
    )


def format_printf(pattern: str, arguments: list[str]) -> str:
    """What `printf` prints; directives without an argument print nothing."""
    left = list(reversed(arguments))

    def directive(found: re.Match[str]) -> str:
        if found[1] is None:
            return "%"
        given = left.pop() if left else ""
        return decode_escapes(given) if found[1] == "b" else given

    plain = decode_escapes(pattern)
    printed = _DIRECTIVE.sub(directive, plain)
    for _ in range(MOST_ROUNDS):
        before = len(left)
        if not left:
            break
        printed += _DIRECTIVE.sub(directive, plain)
        if len(left) == before:
            break
    return printed


def _decoded(found: re.Match[str]) -> str:
    for number, base in ((1, 16), (2, 16), (3, 16), (4, 8)):
        if found[number]:
            code = int(found[number], base)
            return chr(code) if code < 0x110000 else ""
    if found[5]:
        return chr(ord(found[5].upper()) & 0x1F)
    return _NAMED[found[6]]
