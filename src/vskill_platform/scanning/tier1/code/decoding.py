"""Undoes what hides a text from a reader. Everything is bounded: what would grow beyond a limit is not decoded."""

from __future__ import annotations

import base64
import binascii
import codecs
import re
import zlib

LONGEST_DECODED = 64 * 1024
_NO_BASE64 = re.compile(r"[^A-Za-z0-9+/]")
_NO_HEX = re.compile(r"[^0-9A-Fa-f]")
_WHITESPACE = re.compile(r"\s+")


def from_base64(text: str) -> bytes | None:
    """The bytes behind base64 in its usual and in its URL alphabet; None where it is something else."""
    if len(text) > 2 * LONGEST_DECODED:
        return None
    plain = _WHITESPACE.sub("", text).rstrip("=").replace("-", "+").replace("_", "/")
    if not plain or _NO_BASE64.search(plain):
        return None
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4))
    except (binascii.Error, ValueError):
        return None


def from_base32(text: str) -> bytes | None:
    """The bytes behind base32."""
    if len(text) > 2 * LONGEST_DECODED:
        return None
    plain = _WHITESPACE.sub("", text).rstrip("=").upper()
    try:
        return base64.b32decode(plain + "=" * (-len(plain) % 8)) if plain else None
    except (binascii.Error, ValueError):
        return None


def from_hex(text: str) -> bytes | None:
    """The bytes behind pairs of hexadecimal digits, whatever stands between them."""
    if len(text) > 4 * LONGEST_DECODED:
        return None
    plain = _NO_HEX.sub("", text.replace("\\x", "").replace("0x", ""))
    return bytes.fromhex(plain) if plain and len(plain) % 2 == 0 else None


def unpacked(data: bytes) -> bytes | None:
    """The bytes behind gzip, zlib or raw deflate, as far as the limit goes; None where it is none of them."""
    for window in (zlib.MAX_WBITS | 32, -zlib.MAX_WBITS):
        try:
            found = zlib.decompressobj(window).decompress(data, LONGEST_DECODED)
        except zlib.error:
            continue
        if found:
            return found
    return None


def rotated(text: str) -> str:
    """The text with its letters turned by thirteen places."""
    return codecs.encode(text, "rot13")


def as_text(data: bytes | None) -> str | None:
    """The bytes as text, where they are one that people or shells could read."""
    if data is None:
        return None
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return text if "\0" not in text else None
