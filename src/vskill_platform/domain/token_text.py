"""The text of an API token: `vsk_`, 36 random letters and digits, and a checksum of 6.

Whoever looks for leaked secrets knows one by its form and its checksum, and a text that was mistyped or made up is refused
without asking the store.
"""

from __future__ import annotations

import re
import string
import zlib

TOKEN_MARK = "vsk_"
RANDOM_CHARS = 36
CHECKSUM_CHARS = 6
BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase
_FORM = re.compile(rf"{TOKEN_MARK}[0-9A-Za-z]{{{RANDOM_CHARS + CHECKSUM_CHARS}}}", re.ASCII)


def compose_token(random: str) -> str:
    """The token with this random part."""
    return f"{TOKEN_MARK}{random}{_checksum(random)}"


def is_token_text(text: str) -> bool:
    """Whether a text has the form of a token and its checksum is right."""
    if not _FORM.fullmatch(text):
        return False
    random, checksum = text[len(TOKEN_MARK) : -CHECKSUM_CHARS], text[-CHECKSUM_CHARS:]
    return checksum == _checksum(random)


def _checksum(random: str) -> str:
    rest, digits = zlib.crc32(random.encode()), ""
    for _ in range(CHECKSUM_CHARS):
        rest, digit = divmod(rest, len(BASE62))
        digits = BASE62[digit] + digits
    return digits
