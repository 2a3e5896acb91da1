"""Which names a skill's files may have, so that the skill can be installed everywhere and means the same everywhere.

The rules hold for a repository and for a folder on disk alike. Nothing is renamed or repaired: a name that breaks a rule
refuses the skill, because what is scanned must be what is installed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from vskill_platform.domain.errors import UnsafePath
from vskill_platform.ingest.escaping import printable

PART_MAX_BYTES = 255
USTAR_NAME_BYTES = 100
USTAR_PREFIX_BYTES = 155

_NOT_ON_WINDOWS = frozenset('\\:<>"|?*')
_DEVICE = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])\s*(?:\..*)?", re.IGNORECASE | re.DOTALL)
_GIT_NAMES = frozenset({".git", "git~1"})
_UNSEEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# Characters that show as nothing though Unicode counts them among letters, marks and symbols.
_UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_VARIATION_SELECTORS = re.compile("[\ufe00-\ufe0f\u180b-\u180d\u180f]")
_HIDDEN_SELECTORS = range(0xE0100, 0xE01F0)


def check_path(raw: str | bytes) -> str:
    """The path as text. Raises UnsafePath, with the path and the reason, for one that is not safe everywhere."""
    try:
        path = raw.decode("utf-8") if isinstance(raw, bytes) else raw.encode("utf-8").decode("utf-8")
    except UnicodeError:
        raise _unsafe(raw, "is not UTF-8") from None
    reason = _why_unsafe(path)
    if reason is not None:
        raise _unsafe(path, reason)
    return path


def check_folder(raw: bytes) -> str:
    """The path of a folder that a skill was found in. It is shown and never installed, so only what misleads is unsafe."""
    try:
        path = raw.decode("utf-8")
    except UnicodeError:
        raise _unsafe(raw, "is not UTF-8") from None
    reason = next((reason for character in path if (reason := _why_unseen(character)) is not None), None)
    if reason is not None:
        raise _unsafe(path, reason)
    return path


def check_collisions(paths: Iterable[str]) -> None:
    """Raise UnsafePath if two files, or a file and a folder, would be one on a system that folds case or Unicode forms."""
    spelled: dict[str, str] = {}
    files: set[str] = set()
    for path in paths:
        _note_folders(path, spelled, files)
        key = _folded(path)
        if key in spelled:
            raise _collision(spelled[key], path)
        spelled[key] = path
        files.add(key)


def _note_folders(path: str, spelled: dict[str, str], files: set[str]) -> None:
    cut = path.find("/")
    while cut != -1:
        folder = path[:cut]
        key = _folded(folder)
        if key in files or spelled.setdefault(key, folder) != folder:
            raise _collision(spelled[key], path)
        cut = path.find("/", cut + 1)


def _folded(path: str) -> str:
    plain = _VARIATION_SELECTORS.sub("", path)
    if plain.isascii():
        return plain.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", plain).casefold()).casefold()


def _why_unsafe(path: str) -> str | None:
    if path.startswith("/"):
        return "is absolute"
    for part in path.split("/"):
        reason = _why_part_unsafe(part)
        if reason is not None:
            return reason
    if not _fits_ustar(path.encode()):
        return (
            f"is too long for an archive: at most {USTAR_PREFIX_BYTES} bytes of folders, "
            f"then at most {USTAR_NAME_BYTES} bytes"
        )
    return None


def _why_part_unsafe(part: str) -> str | None:
    if part in ("", ".", ".."):
        return "has an empty part" if not part else f"has the part '{part}'"
    if len(part.encode()) > PART_MAX_BYTES:
        return f"has a part of more than {PART_MAX_BYTES} bytes"
    for character in part:
        reason = _why_character_unsafe(character)
        if reason is not None:
            return reason
    if part.endswith((".", " ")) or part[-1].isspace():
        return "has a part that ends in a dot or a space"
    if _DEVICE.fullmatch(part):
        return "has the name of a Windows device"
    if _folded(part).rstrip(". ") in _GIT_NAMES:
        return "has the name of git's own folder"
    return None


def _why_character_unsafe(character: str) -> str | None:
    if character in _NOT_ON_WINDOWS:
        return f"has the character {character}, which Windows does not take"
    return _why_unseen(character)


def _why_unseen(character: str) -> str | None:
    if " " <= character <= "~":
        return None
    point = ord(character)
    if unicodedata.category(character) in _UNSEEN_CATEGORIES or character in _UNSEEN or point in _HIDDEN_SELECTORS:
        return f"has a control or invisible character, U+{point:04X}"
    if point & 0xFFFE == 0xFFFE or 0xFDD0 <= point <= 0xFDEF:
        return f"has U+{point:04X}, which is no character"
    return None


def _fits_ustar(path: bytes) -> bool:
    """Whether a USTAR header can hold the path: a name, or a prefix and a name with a slash between."""
    if len(path) <= USTAR_NAME_BYTES:
        return True
    cut = path.rfind(b"/", 0, USTAR_PREFIX_BYTES + 1)
    return cut > 0 and 0 < len(path) - cut - 1 <= USTAR_NAME_BYTES


def _unsafe(path: str | bytes, reason: str) -> UnsafePath:
    shown = printable(path)
    return UnsafePath(f"The path '{shown}' {reason}. Rename it, then submit again.", path=shown, reason=reason)


def _collision(first: str, second: str) -> UnsafePath:
    return UnsafePath(
        f"'{printable(first)}' and '{printable(second)}' are the same name where case or Unicode forms do not count. "
        "Rename one of them, then submit again.",
        path=printable(second),
        other=printable(first),
        reason="collides",
    )
