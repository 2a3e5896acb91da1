"""Decoders: from a run of characters to the bytes it stands for. Each raises ValueError where it stands for nothing."""

from __future__ import annotations

import base64
import binascii
import re

from vskill_platform.scanning.tier1.views.readable import Substance, substance_of

_URLSAFE = bytes.maketrans(b"-_", b"+/")
_BLANKS = b" \t\r\n>#*"
_NUMBER = re.compile(rb"0[xX][0-9a-fA-F]+|\d+")
_NOT_HEX = re.compile(rb"0[xX]|[^0-9a-fA-F]")
_BASE32_RESTS = {0: 0, 1: 0, 2: 2, 3: 2, 4: 4, 5: 5, 6: 5, 7: 7}
_ADDRESS = re.compile(rb"([a-zA-Z])[a-zA-Z]{3,4}://")
_LETTERS = b"abcdefghijklmnopqrstuvwxyz"
SHORTEST_NUMBERS = 4


def from_base64(encoded: bytes) -> bytes:
    """Base64 of both alphabets, wrapped or not, with or without its padding. A slash before it may belong to a path."""
    if encoded[:1] in (b"/", b"-", b"_"):
        decoded = _base64(encoded[1:])
        if substance_of(decoded) is not Substance.NOTHING:
            return decoded
    return _base64(encoded)


def _base64(encoded: bytes) -> bytes:
    plain = encoded.translate(_URLSAFE, _BLANKS).strip(b"=")
    plain = plain[: len(plain) - 1] if len(plain) % 4 == 1 else plain
    return binascii.a2b_base64(plain + b"=" * (-len(plain) % 4))


def from_backward_base64(encoded: bytes) -> bytes:
    """Base64 that was turned round, so that its padding comes first."""
    return from_base64(encoded[::-1])


def from_hex(encoded: bytes) -> bytes:
    """Hexadecimal digits, whatever stands between them."""
    digits = _NOT_HEX.sub(b"", encoded)
    return binascii.unhexlify(digits[: len(digits) // 2 * 2])


def from_numbers(encoded: bytes) -> bytes:
    """Numbers of characters, decimal or hexadecimal, whatever stands between them."""
    numbers = [int(number, 16 if number[:2] in (b"0x", b"0X") else 10) for number in _NUMBER.findall(encoded)]
    if len(numbers) < SHORTEST_NUMBERS:
        raise ValueError("too few numbers to be a text")
    return bytes(numbers) if max(numbers) < 256 else "".join(map(chr, numbers)).encode()


def from_bits(encoded: bytes) -> bytes:
    """Groups of seven or eight bits, or bits without any gap."""
    groups = encoded.replace(b",", b" ").split()
    if len(groups) == 1:
        groups = [encoded[at : at + 8] for at in range(0, len(encoded) // 8 * 8, 8)]
    return bytes(int(group, 2) for group in groups)


def from_base32(encoded: bytes) -> bytes:
    """Base32 with or without its padding."""
    plain = encoded.rstrip(b"=")
    plain = plain[: len(plain) // 8 * 8 + _BASE32_RESTS[len(plain) % 8]]
    return base64.b32decode(plain + b"=" * (-len(plain) % 8))


def from_ascii85(encoded: bytes) -> bytes:
    """Ascii85, in its brackets or in the quotes of a program."""
    return base64.a85decode(encoded.strip(b"\"'"), adobe=encoded.startswith(b"<~"))


def from_base85(encoded: bytes) -> bytes:
    """Base85 as Python writes it."""
    return base64.b85decode(encoded)


def reversed_text(encoded: bytes) -> bytes:
    """The text from its end to its beginning."""
    return encoded.decode(errors="replace")[::-1].encode()


def rotated(encoded: bytes, *, by: int = 13) -> bytes:
    """The text with every letter so many places further in the alphabet."""
    turned = _LETTERS[by:] + _LETTERS[:by]
    return encoded.translate(bytes.maketrans(_LETTERS + _LETTERS.upper(), turned + turned.upper()))


def rotated_back(encoded: bytes) -> bytes:
    """The text turned by as many places as make an address of what looks like one."""
    found = _ADDRESS.search(encoded)
    return rotated(encoded, by=(ord("h") - ord(found[1].lower())) % 26) if found else rotated(encoded)
