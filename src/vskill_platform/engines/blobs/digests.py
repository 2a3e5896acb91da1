"""Digests as names of files and objects."""

from __future__ import annotations

import re

from vskill_platform.domain.errors import InvalidInput
from vskill_platform.domain.ids import Digest

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def is_digest(text: str) -> bool:
    """Whether the text is `sha256:` and 64 hex digits, and nothing more."""
    return _DIGEST.fullmatch(text) is not None


def digest_name(digest: Digest) -> str:
    """The hex digits. Raises InvalidInput for what is no digest, so that no other path can come out."""
    if not is_digest(digest):
        raise InvalidInput(f"'{digest[:80]}' is not a digest: sha256: and 64 hex digits.", digest=digest[:80])
    return digest.removeprefix("sha256:")
