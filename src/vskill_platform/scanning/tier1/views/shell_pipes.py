"""Pipelines that decode a constant, carried out: `echo ... | base64 -d`, `printf ... | rev`, `tr ... <<< ...`.

Nothing is run. The few filters that can turn a constant into another one are computed here.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Sequence

from vskill_platform.scanning.tier1.views.readable import inflate
from vskill_platform.scanning.tier1.views.shell_values import ansi_c

LONGEST_PIPELINE = 20_000
_QUOTED = rb"\$?'[^']*'|\"[^\"]*\"|[^\s|;&<>()\"'\x60]+"
_WORD = re.compile(rb"(?:" + _QUOTED + rb")+")
_PART = re.compile(_QUOTED)
_STAGES = re.compile(rb"((?:'[^']*'|\"[^\"]*\"|\\.|[^|'\"\\])+)\|?")
_HERE = re.compile(rb"(.*?)<<<\s*(.+)", re.DOTALL)
_RANGE = re.compile(rb"(.)-(.)", re.DOTALL)
_CLASSES = {
    b"[:upper:]": b"ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    b"[:lower:]": b"abcdefghijklmnopqrstuvwxyz",
    b"[:space:]": b" \t\n\r\v\f",
    b"[:digit:]": b"0123456789",
}
_FILTER_NAMES = "base64|base32|openssl|xxd|rev|tr|sed|gunzip|gzip|zcat|bunzip2|xz"
_CONSTANT = r"'[^'\n]*'|\"[^\"\n]*\""
PIPE_HINT = rf"\|[ \t]*(?:/usr)?(?:/bin/)?(?:{_FILTER_NAMES})\b|\b(?:{_FILTER_NAMES})\b[^<\n;|&]*<<<"
PIPE = (
    rf"\b(?:echo|printf)[ \t](?:{_CONSTANT}|[^|\n'\"])*"
    rf"(?:\|[ \t]*(?:/usr)?(?:/bin/)?(?:{_FILTER_NAMES})\b(?:{_CONSTANT}|[^|\n'\";)\x60&])*)+"
    rf"|\b(?:{_FILTER_NAMES})\b(?:{_CONSTANT}|[^<\n;|&'\"])*<<<[ \t]*(?:\$?'[^'\n]*'|\"[^\"\n]*\"|[^\s]+)"
)
"""Where a pipeline stands that may be carried out."""


class _Unknown(ValueError):
    """The pipeline has something in it that is not computed here."""


def carried_out(pipeline: bytes) -> bytes:
    """What comes out behind the last filter that is known. Raises ValueError where not even the first is."""
    stages = _STAGES.findall(pipeline[:LONGEST_PIPELINE])
    if here := _HERE.fullmatch(stages[0] if stages else b""):
        value, stages = b" ".join(words_of(here[2])[:1]), [here[1], *stages[1:]]
    else:
        value, stages = said(words_of(stages[0]) if stages else []), stages[1:]
    is_changed = False
    for stage in stages:
        try:
            value = _filtered(value, words_of(stage))
        except _Unknown:
            break
        is_changed = True
    if not is_changed:
        raise ValueError("no filter of the pipeline is known")
    return value


def words_of(command: bytes) -> list[bytes]:
    """The words of a command without their quotes."""
    return [b"".join(_unquoted(part) for part in _PART.findall(word)) for word in _WORD.findall(command)]


def _unquoted(part: bytes) -> bytes:
    if part[:2] == b"$'":
        return ansi_c(part[2:-1])
    return part[1:-1] if part[:1] in (b"'", b'"') else part.replace(b"\\", b"")


def said(words: Sequence[bytes]) -> bytes:
    """What `echo` or `printf` with these words prints. Raises ValueError for anything else."""
    program, rest = (words[0], list(words[1:])) if words else (b"", [])
    flags = b""
    while rest and re.fullmatch(rb"-[neE]+|--", rest[0]):
        flags += rest.pop(0)
    if program == b"printf":
        return _formatted(rest[0], rest[1:]) if rest else b""
    if program != b"echo" or not rest:
        raise ValueError("the pipeline does not begin with a constant")
    text = b" ".join(rest)
    return ansi_c(text) if b"e" in flags or b"\\x" in text or b"\\0" in text else text


def _formatted(template: bytes, words: Sequence[bytes]) -> bytes:
    """What `printf` prints: escapes, and `%s` and `%b` in turn."""
    left = list(words)
    parts = re.split(rb"(%[-0-9]*[sbd]|%%)", template)
    slots = sum(part[-1:] in b"sbd" for part in parts[1::2]) if len(parts) > 1 else 0
    out = b""
    while True:
        for number, part in enumerate(parts):
            out += ansi_c(part) if number % 2 == 0 else b"%" if part == b"%%" else _slot(part, left)
        if not left or not slots:
            return out


def _slot(part: bytes, left: list[bytes]) -> bytes:
    word = left.pop(0) if left else b""
    return ansi_c(word) if part.endswith(b"b") else word


def _filtered(value: bytes, words: Sequence[bytes]) -> bytes:
    program = words[0].rpartition(b"/")[2] if words else b""
    flags = b" ".join(words[1:])
    compute = _FILTERS.get(program)
    if compute is None:
        raise _Unknown
    return compute(value, flags, words[1:])


def _decode_base64(value: bytes, flags: bytes, _words: Sequence[bytes]) -> bytes:
    if not re.search(rb"(?:^|\s)(?:-\w*[dD]\w*|--decode)(?:\s|$)", flags):
        raise _Unknown
    plain = b"".join(value.split()).rstrip(b"=")
    return binascii.a2b_base64(plain + b"=" * (-len(plain) % 4))


def _decode_base32(value: bytes, _flags: bytes, _words: Sequence[bytes]) -> bytes:
    return base64.b32decode(b"".join(value.split()))


def _decode_openssl(value: bytes, flags: bytes, words: Sequence[bytes]) -> bytes:
    if b"base64" not in flags and b" -a" not in flags:
        raise _Unknown
    return _decode_base64(value, flags, words)


def _decode_hex(value: bytes, flags: bytes, _words: Sequence[bytes]) -> bytes:
    if b"r" not in flags:
        raise _Unknown
    return binascii.unhexlify(re.sub(rb"[^0-9a-fA-F]", b"", value))


def _reverse(value: bytes, _flags: bytes, _words: Sequence[bytes]) -> bytes:
    return b"\n".join(line[::-1] for line in value.split(b"\n"))


def _inflate(value: bytes, _flags: bytes, _words: Sequence[bytes]) -> bytes:
    got = inflate(value)
    if got is None:
        raise _Unknown
    return got.data


def _pass_on(value: bytes, _flags: bytes, _words: Sequence[bytes]) -> bytes:
    return value


def _translate(value: bytes, _flags: bytes, words: Sequence[bytes]) -> bytes:
    sets = [_letters(word) for word in words if not re.fullmatch(rb"-[a-zA-Z]+", word)]
    options = b"".join(word for word in words if re.fullmatch(rb"-[a-zA-Z]+", word))
    if b"d" in options and sets:
        return value.translate(None, sets[0])
    if len(sets) != 2 or not sets[0] or not sets[1]:
        raise _Unknown
    old, new = sets[0], (sets[1] + sets[1][-1:] * len(sets[0]))[: len(sets[0])]
    return value.translate(bytes.maketrans(old, new))


def _letters(given: bytes) -> bytes:
    """The letters of a set of `tr`."""
    for name, letters in _CLASSES.items():
        given = given.replace(name, letters)
    return _RANGE.sub(lambda found: bytes(range(found[1][0], found[2][0] + 1)), ansi_c(given))[:512]


def _edit(value: bytes, _flags: bytes, words: Sequence[bytes]) -> bytes:
    """`sed` with plain replacements and nothing else."""
    script = next((word for word in words if not word.startswith(b"-")), b"")
    for command in script.split(b";"):
        mark = command[1:2]
        parts = command.split(mark) if mark and command[:1] in (b"s", b"y") else []
        if len(parts) != 4 or re.search(rb"[.*\[\]^$\\]", parts[1]) or not parts[1]:
            raise _Unknown
        if command[:1] == b"y":
            value = value.translate(bytes.maketrans(parts[1], parts[2]))
        else:
            value = value.replace(parts[1], parts[2], -1 if b"g" in parts[3] else 1)[:LONGEST_PIPELINE]
    return value


_FILTERS: dict[bytes, Callable[[bytes, bytes, Sequence[bytes]], bytes]] = {
    b"base64": _decode_base64,
    b"base32": _decode_base32,
    b"openssl": _decode_openssl,
    b"xxd": _decode_hex,
    b"rev": _reverse,
    b"tr": _translate,
    b"sed": _edit,
    b"gunzip": _inflate,
    b"gzip": _inflate,
    b"zcat": _inflate,
    b"bunzip2": _inflate,
    b"xz": _inflate,
    b"cat": _pass_on,
    b"tee": _pass_on,
}
