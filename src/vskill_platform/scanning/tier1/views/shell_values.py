"""Values of shell expressions, as far as they are constant: escapes, parameters, braces, globs of well-known programs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase

LONGEST_VALUE = 500
MOST_BRANCHES = 64
MOST_BRACE_BYTES = 20_000
"""Bytes that are looked at to take one word with braces apart."""
DEEPEST_BRACES = 6
LONGEST_GLOB = 60
_ESCAPE = re.compile(
    rb"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|0?([0-7]{1,3})|([abefnrtv\\'\"?])|c)"
)
_NAMED = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"\\": b"\\", b"'": b"'", b'"': b'"', b"?": b"?"}
_PARAMETER = re.compile(rb"(!?)([A-Za-z_][A-Za-z0-9_]*)(.*)", re.DOTALL)
_SLICE = re.compile(rb":\s*(-?\d{1,4})(?:\s*:\s*(-?\d{1,4}))?\Z")
_GLOB = re.compile(rb"[?*\[]")
_PLACES = {
    b"PATH": b"/usr/local/bin:/usr/bin:/bin",
    b"HOME": b"/home/user",
    b"PWD": b"/home/user",
    b"SHELL": b"/bin/bash",
}
"""What well-known variables begin with on nearly every machine; only asked for single letters."""
_WELL_KNOWN = (
    "curl wget bash sh zsh dash nc ncat netcat socat python python3 perl ruby node php base64 openssl cat ssh scp tar dd rm "
    "chmod crontab telnet ftp xxd"
)
_PROGRAMS = tuple(_WELL_KNOWN.split())
_FOLDERS = ("/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/")


def ansi_c(text: bytes) -> bytes:
    """What stands between `$'` and `'`, or behind `printf` and `echo -e`, with its escapes carried out."""
    return _ESCAPE.sub(_escaped, text)


def _escaped(found: re.Match[bytes]) -> bytes:
    byte, short, long, octal, named = found.groups()
    if byte or octal:
        return bytes([int(byte or octal, 16 if byte else 8) & 0xFF])
    if short or long:
        number = int(short or long, 16)
        return chr(number).encode(errors="replace") if number <= 0x10FFFF else b""
    return _NAMED.get(named or b"", b"")


def parameter(inside: bytes, constants: Mapping[bytes, bytes]) -> bytes | None:
    """The value of `${inside}`, or None where it is not known."""
    found = _PARAMETER.fullmatch(inside)
    if found is None:
        return None
    is_indirect, name, rest = found[1], found[2], found[3]
    if is_indirect:
        name = constants.get(name, b"")
    if name == b"IFS" and b"IFS" not in constants:
        return b" "
    value = constants.get(name)
    if value is None and (sliced := _SLICE.fullmatch(rest)):
        return _sliced(_PLACES[name], sliced) if name in _PLACES else None
    return _default(rest) if value is None else _operated(value, rest)


def _default(rest: bytes) -> bytes | None:
    """What `${name:-value}` gives where the name is not set."""
    found = rest.removeprefix(b":")
    return found[1:] if found[:1] in (b"-", b"=") and len(found) > 1 and b"$" not in found else None


def _operated(value: bytes, rest: bytes) -> bytes | None:
    if not rest or rest.lstrip(b":")[:1] in (b"-", b"=", b"?"):
        return value
    if sliced := _SLICE.fullmatch(rest):
        return _sliced(value, sliced)
    if rest in (b",,", b"^^"):
        return value.lower() if rest == b",," else value.upper()
    if rest[:1] == b"/":
        old, _, new = rest.lstrip(b"/").partition(b"/")
        return value.replace(old, new, -1 if rest[:2] == b"//" else 1)[:LONGEST_VALUE] if old else value
    if rest[:1] == b"#":
        return value.removeprefix(rest.lstrip(b"#"))
    return value.removesuffix(rest.lstrip(b"%")) if rest[:1] == b"%" else None


def _sliced(value: bytes, found: re.Match[bytes]) -> bytes:
    start = int(found[1])
    start = max(0, len(value) + start) if start < 0 else start
    if found[2] is None:
        return value[start:]
    length = int(found[2])
    return value[start : start + length if length >= 0 else length]


def braces(word: bytes) -> list[bytes]:
    """The words that a word with braces stands for, `{a,b}c` for `ac` and `bc`; itself where it has none."""
    done, waiting, left = list[bytes](), [(word, 0)], MOST_BRACE_BYTES
    while waiting and len(done) < MOST_BRANCHES and left > 0:
        text, depth = waiting.pop()
        left -= len(text)
        span = _first_braces(text) if depth < DEEPEST_BRACES * 2 else None
        if span is None:
            done.append(text)
        else:
            branches = list(_branches(text[span[0] + 1 : span[1]]))[:MOST_BRANCHES]
            expanded = [(text[: span[0]] + branch + text[span[1] + 1 :], depth + 1) for branch in branches]
            waiting.extend(reversed(expanded))
    return done


def _first_braces(text: bytes) -> tuple[int, int] | None:
    """Where the first pair of braces with a comma directly inside begins and ends."""
    opened: list[tuple[int, bool]] = []
    best: tuple[int, int] | None = None
    for at, sign in enumerate(text):
        if sign == ord("{"):
            opened.append((at, False))
        elif sign == ord(",") and opened:
            opened[-1] = (opened[-1][0], True)
        elif sign == ord("}") and opened:
            start, has_comma = opened.pop()
            if has_comma and (best is None or start < best[0]):
                best = (start, at)
            if best is not None and not opened:
                return best
    return best


def _branches(inside: bytes) -> Iterator[bytes]:
    depth, start = 0, 0
    for at, sign in enumerate(inside):
        depth += (sign == ord("{")) - (sign == ord("}"))
        if sign == ord(",") and depth == 0:
            yield inside[start:at]
            start = at + 1
    yield inside[start:]


def program_of_glob(word: bytes) -> bytes | None:
    """The program that a path such as `/b?n/c*l` is sure to find."""
    if not word.startswith(b"/") or len(word) > LONGEST_GLOB or not _GLOB.search(word):
        return None
    folder, _, name = word.decode(errors="replace").rpartition("/")
    if not any(fnmatchcase(known, folder + "/") for known in _FOLDERS):
        return None
    return next((program.encode() for program in _PROGRAMS if fnmatchcase(program, name)), None)
