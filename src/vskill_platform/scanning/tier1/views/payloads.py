"""Finds encoded payloads in a text: what may be base64, hexadecimal, a list of codes and so on, and decodes it.

Most of what looks encoded is not: paths, digests, keys, pictures. So the patterns ask for what only encoded text has: of four
characters of base64 that stand for ASCII, three can only be some of the sixty-four. What decodes to nothing is dropped
after its first few bytes.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from typing import NamedTuple

from vskill_platform.scanning.tier1.patterns import ROOMY, Pattern
from vskill_platform.scanning.tier1.skill import FileUnderScan
from vskill_platform.scanning.tier1.views import encodings
from vskill_platform.scanning.tier1.views.glance import Sign, signs_in, signs_of
from vskill_platform.scanning.tier1.views.readable import Substance, substance_of
from vskill_platform.scanning.tier1.views.shell_pipes import PIPE, PIPE_HINT, carried_out
from vskill_platform.scanning.tier1.views.view import once_a_file

NEAR = 300
"""Bytes around the word base64 within which short runs are tried too."""
LONG, SAMPLE = 1_200, 240
"""Bytes of a candidate from which on samples are decoded first, and of a sample; it fits all encodings without a rest."""
LINE_REACH = 500
"""Bytes to each side of a word that are turned round or rotated with it."""
ALWAYS = "base64"
"""What is looked for in any case: asking for a hint first would cost as much."""
_B64 = "[A-Za-z0-9+/_-]"
_GROUP = f"[A-Za-f][A-HQ-Xg-nw-z0-3][ABEFIJMNQRUVYZcdghklopstwx014589]{_B64}"
"""Four characters that stand for three bytes of ASCII: the highest bit of each byte is zero."""
_B64_BYTES = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_")
_COMPRESSED = "(?:H4sI|eJ|eN|eF|eA|Qlpo|XQAA|[/_]Td6WFo)"
"""What compressed data begins with in base64."""
_START = "(?:^|[^A-Za-z0-9+])"
_HEX = "[0-9a-fA-F]"
_PAIR = "(?:[2-7][0-9a-fA-F]|0[09aAdD])"
_MAGIC = "(?i:7f454c46|4d5a9000|504b0304|1f8b08|789c|78da|425a68|526172211a07)"
_SPACED = r"\b(?:[2-7][0-9a-fA-F]|0[9aAdD])\b[ \t:]+"
_LISTED = r"\b0[xX](?:[2-7][0-9a-fA-F]|0?[9aAdD])\b\s*,\s*"
_CODE = r"\b(?:9|10|13|3[2-9]|[4-9][0-9]|1[01][0-9]|12[0-6])\b"
_CODE_AND_GAP = rf"{_CODE}[\s,;]+"
_BITS = "0[01][01][01][01][01][01]"
_BITS_AND_GAP = f"{_BITS}[01]?[ ,]*"
_CHR = r"\b(?:chr|char|unichr|chrw)\]?\s*\(?\s*(?:0x[0-9a-f]+|[0-9]+)\s*\)?[\s+&.,|]*\[?"
_CALL = r"(?:fromcharcode|fromcodepoint|bytes|bytearray|array|from)\s*\(\s*\[?\s*(?:(?:0x[0-9a-f]+|[0-9]+)\s*,\s*)"
_WRAP = r"[ \t]*\r?\n[ \t>#*]*"
_BASE64_WORD = r"(?i)base64|b64|\batob\b|-enc\b|-encodedcommand|certutil"
_ROTATED_WORDS = "curl wget import subprocess instructions password ignore upload"
_TURNED_WORDS = (
    r"//:s?ptth|\blruc\b|\btegw\b|\bhsab\b|\btropmi\b|ssecorpbus|snoitcurtsni|drowssap|\berongi\b"
    r"|\(lave\b|\(cexe\b|\(metsys\b"
)

Find = Callable[[bytes], Iterator[tuple[int, int]]]
Decode = Callable[[bytes], bytes]


class Payload(NamedTuple):
    """What was decoded, and where in the text it stands."""

    data: bytes
    start: int
    end: int
    substance: Substance


class _Encoding(NamedTuple):
    """A way to write text. `hint` is in every text that has it; without it nothing is looked for."""

    hint: str
    find: Find
    decode: Decode


def hints_in(data: bytes) -> frozenset[str]:
    """Which encodings may be in the text."""
    return _meant_by(signs_in(data))


@once_a_file
def hints_of(file: FileUnderScan) -> frozenset[str]:
    """The same of a file."""
    return _meant_by(signs_of(file))


def _meant_by(signs: frozenset[Sign]) -> frozenset[str]:
    return _NO_HINTS.union(*(group for sign, group in _MEANT.items() if sign in signs))


def payloads_in(data: bytes, hints: frozenset[str], take_try: Callable[[], bool]) -> Iterator[Payload]:
    """Everything in the text that decodes to something. Each candidate costs one try, as long as there are any."""
    for name in sorted(hints):
        _, find, decode = _ENCODINGS[name]
        for start, end in find(data):
            if not take_try():
                return
            yield from _opened(data, start, end, decode)


def _opened(data: bytes, start: int, end: int, decode: Decode) -> Iterator[Payload]:
    if end - start > LONG and not _is_promising(data, start, end, decode):
        return
    try:
        decoded = decode(data[start:end])
    except (ValueError, OverflowError):
        return
    substance = substance_of(decoded)
    if substance is Substance.NOTHING and end - start > LONG:
        substance = Substance.TEXT
    if substance is not Substance.NOTHING:
        yield Payload(decoded, start, end, substance)


def _is_promising(data: bytes, start: int, end: int, decode: Decode) -> bool:
    """Whether the beginning, the middle or the end of a candidate decodes to something: what comes first may be a decoy."""
    middle = start + (end - start) // 2
    samples = [start, *range(middle, middle + 4), *range(end - SAMPLE - 8, end - SAMPLE - 4)]
    return any(_decodes(data[at : at + SAMPLE], decode) for at in samples)


def _decodes(sample: bytes, decode: Decode) -> bool:
    try:
        return substance_of(decode(sample)) is not Substance.NOTHING
    except (ValueError, OverflowError):
        return False


def _all(source: str) -> Find:
    return Pattern(source).spans


def _base64_runs(source: str) -> Find:
    """The runs without what stands before them."""
    pattern = Pattern(source, memory=ROOMY)

    def find(data: bytes) -> Iterator[tuple[int, int]]:
        for start, end in pattern.spans(data):
            yield start + (data[start] not in _B64_BYTES), end

    return find


def _near(hint: str, run: str) -> Find:
    """The runs near a hint that are not cut off by the end of what is near."""
    hints, runs = Pattern(hint), Pattern(run)

    def find(data: bytes) -> Iterator[tuple[int, int]]:
        done = 0
        for start, end in hints.spans(data):
            if end <= done:
                continue
            begin, done = max(done, start - NEAR), min(len(data), end + NEAR)
            for first, last in runs.spans(data[begin:done]):
                if (first > 0 or begin == 0) and (begin + last < done or done == len(data)):
                    yield begin + first, begin + last

    return find


def _lines_with(words: str) -> Find:
    """The lines that have one of these words in them, as far as they are near."""
    pattern = Pattern(words)

    def find(data: bytes) -> Iterator[tuple[int, int]]:
        done = 0
        for start, end in pattern.spans(data):
            if start < done:
                continue
            reach = max(0, start - LINE_REACH)
            begin = max(done, data.rfind(b"\n", reach, start) + 1 or reach)
            stop = data.find(b"\n", end, end + LINE_REACH)
            done = min(len(data), end + LINE_REACH) if stop < 0 else stop
            yield begin, done

    return find


def _rotated_addresses() -> str:
    """How `http://` and `https://` look when every letter is moved by as many places as another."""
    moved = [encodings.rotated(b"https", by=places).decode() for places in range(1, 26)]
    return rf"(?i)\b(?:{'|'.join(word + '?' for word in moved)})://"


def _rotated_words() -> str:
    return rf"(?i)\b(?:{'|'.join(codecs.encode(word, 'rot13') for word in _ROTATED_WORDS.split())})\b"


_ENCODINGS = {
    ALWAYS: _Encoding(
        "",
        _base64_runs(
            rf"(?m)(?:{_START}(?:{_GROUP}){{4,}}{_B64}*|{_START}{_COMPRESSED}{_B64}{{20,}}|{_B64}{{60,}})"
            rf"(?:{_WRAP}{_B64}{{16,}})*(?:{_WRAP}{_B64}{{1,15}}(?:={{1,2}}|[ \t]*$))?={{0,2}}"
            rf"|{_START}(?:{_GROUP}){{2,}}(?:{_B64}{{2}}==|{_B64}{{3}}=)"
        ),
        encodings.from_base64,
    ),
    "near base64": _Encoding(
        _BASE64_WORD, _near(_BASE64_WORD, rf"(?:{_GROUP}){{2,}}{_B64}{{0,3}}={{0,2}}"), encodings.from_base64
    ),
    "backward base64": _Encoding(f"==?{_B64 * 16}", _all(f"==?{_B64}{{16,}}"), encodings.from_backward_base64),
    "hex": _Encoding(
        f"(?:^|[^0-9a-fA-F]){_PAIR * 10}|{_MAGIC}{_HEX * 16}",
        _all(f"(?:{_PAIR}{{10,}}|{_MAGIC}{_HEX}{{16}}){_HEX}*(?:{_WRAP}{_HEX}{{8,}})*"),
        encodings.from_hex,
    ),
    "spaced hex": _Encoding(
        f"{_SPACED * 7}|{_LISTED * 4}",
        _all(rf"(?:{_SPACED}){{7,}}{_HEX}{{2}}|(?:{_LISTED}){{4,}}0[xX]{_HEX}+"),
        encodings.from_hex,
    ),
    "numbers": _Encoding(f"{_CODE_AND_GAP * 7}", _all(f"(?:{_CODE_AND_GAP}){{7,}}{_CODE}"), encodings.from_numbers),
    "bits": _Encoding(
        f"{_BITS_AND_GAP * 4}",
        _all(rf"(?:{_BITS}[01]?[ \t\r\n,]+){{3,}}{_BITS}[01]?|(?:{_BITS}[01]){{4,}}"),
        encodings.from_bits,
    ),
    "characters": _Encoding(
        rf"(?i){_CHR * 3}|{_CALL * 1}",
        _all(rf"(?i)(?:{_CHR}){{3,}}|{_CALL}{{2,}}(?:0x[0-9a-f]+|[0-9]+)"),
        encodings.from_numbers,
    ),
    "base32": _Encoding("[A-Z2-7]" * 24, _all("[A-Z2-7]{24,}={0,6}"), encodings.from_base32),
    "base85": _Encoding(
        r"(?i)base85|b85(?:decode|encode)|z85",
        _all(r"[0-9A-Za-z!#$%&()*+;<=>?@^_\x60{|}~-]{20,}"),
        encodings.from_base85,
    ),
    "ascii85": _Encoding(
        r"(?i)a85(?:decode|encode)|ascii85|<~[!-u]",
        _all(r"<~[!-uz\s]{10,}~>|[\"'][!-uz]{15,}[\"']"),
        encodings.from_ascii85,
    ),
    "pipes": _Encoding(PIPE_HINT, _all(PIPE), carried_out),
    "rotated addresses": _Encoding(_rotated_addresses(), _lines_with(_rotated_addresses()), encodings.rotated_back),
    "rot13": _Encoding(_rotated_words(), _lines_with(_rotated_words()), encodings.rotated),
    "turned round": _Encoding(_TURNED_WORDS, _lines_with(_TURNED_WORDS), encodings.reversed_text),
}
_GROUPS = (
    ("hex", "spaced hex", "numbers", "bits", "characters"),
    ("base32", "backward base64"),
    ("near base64",),
    ("base85", "ascii85"),
    ("pipes",),
    ("rotated addresses", "rot13", "turned round"),
)
"""Encodings that are tried together where a text has the hint of one of them."""
_MEANT = {Sign("|".join(f"(?:{_ENCODINGS[name].hint})" for name in group)): group for group in _GROUPS}
_NO_HINTS = frozenset([ALWAYS])
