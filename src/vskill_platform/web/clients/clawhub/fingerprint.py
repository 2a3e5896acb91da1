"""What clients know the files of a version by: a hash over the paths and hashes of all files that are not hidden.

Files are put in the order of JavaScript's `localeCompare`, which is that of dictionaries and not of bytes: signs, digits, then
letters whatever their case, and the case last.
"""

from __future__ import annotations

import hashlib
import unicodedata

from vskill_platform.domain.skill import SkillVersion

_SIGNS = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$"
_RANKS = {sign: rank for rank, sign in enumerate(_SIGNS + "0123456789abcdefghijklmnopqrstuvwxyz")}

_Key = tuple[list[int], str, list[bool]]


def fingerprint(version: SkillVersion) -> str:
    """The hash that `resolve` is asked about."""
    visible = [file for file in version.files if not any(part.startswith(".") for part in file.path.split("/"))]
    ordered = sorted(visible, key=lambda file: collation_key(file.path))
    lines = "\n".join(f"{file.path}:{file.sha256}" for file in ordered)
    return hashlib.sha256(lines.encode()).hexdigest()


def collation_key(path: str) -> _Key:
    """What a path is ordered by: its letters without accents and case, then the accents, then lower case first."""
    whole = unicodedata.normalize("NFD", path)
    plain = [letter for letter in whole if not unicodedata.combining(letter)]
    ranks = [_RANKS.get(letter.lower(), len(_RANKS) + ord(letter.lower()[0])) for letter in plain]
    accents = "".join(letter for letter in whole if unicodedata.combining(letter))
    return ranks, accents, [letter.isupper() for letter in plain]
