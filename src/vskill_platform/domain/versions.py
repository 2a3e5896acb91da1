"""Versions of a skill: which number comes next."""

from __future__ import annotations

import re
from collections.abc import Collection

from vskill_platform.domain.errors import InvalidVersion

FIRST_VERSION = "1.0.0"
MAX_VERSION_CHARS = 64
MAX_NUMBER = 999_999_999
_NUMBER = r"(0|[1-9][0-9]{0,8})"
_IDENTIFIERS = r"[0-9A-Za-z-]{1,32}(?:\.[0-9A-Za-z-]{1,32}){0,7}"
_SEMVER = re.compile(rf"v?{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-({_IDENTIFIERS}))?(?:\+{_IDENTIFIERS})?")
_SHORT = re.compile(rf"v?{_NUMBER}(?:\.{_NUMBER})?")

Order = tuple[int, int, int, bool, tuple[tuple[bool, int, str], ...]]


def read_version(text: str) -> str | None:
    """A version as authors write it (`1`, `1.2`, `v1.2.3`) in its full form without build data, or None."""
    if len(text) > MAX_VERSION_CHARS:
        return None
    if short := _SHORT.fullmatch(text):
        return f"{short[1]}.{short[2] or 0}.0"
    found = _SEMVER.fullmatch(text)
    if found is None:
        return None
    core = f"{found[1]}.{found[2]}.{found[3]}"
    return f"{core}-{found[4]}" if found[4] else core


def version_order(version: str) -> Order:
    """What a full version is ordered by, as Semantic Versioning says: a pre-release comes before its release."""
    found = _SEMVER.fullmatch(version)
    if found is None:
        raise InvalidVersion(f"'{version[:60]}' is no semantic version such as 1.2.3.", version=version[:60])
    parts = found[4].split(".") if found[4] else []
    before = tuple((not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts)
    return int(found[1]), int(found[2]), int(found[3]), not parts, before


def next_version(current: str | None, *, declared: str | None, taken: Collection[str] = ()) -> str:
    """The version of new bytes: what the skill declares if that is higher than everything before, else a patch more."""
    wanted = None if declared is None else read_version(declared)
    floor = FIRST_VERSION if current is None else current
    is_higher = wanted is not None and (version_order(wanted) > version_order(floor))
    if wanted is not None and is_higher and wanted not in taken:
        return wanted
    return FIRST_VERSION if current is None and FIRST_VERSION not in taken else _bump_patch(floor, taken)


def _bump_patch(version: str, taken: Collection[str]) -> str:
    major, minor, patch, is_release, _ = version_order(version)
    numbers = _one_more(major, minor, patch) if is_release else (major, minor, patch)
    while ".".join(map(str, numbers)) in taken:
        numbers = _one_more(*numbers)
    return ".".join(map(str, numbers))


def _one_more(major: int, minor: int, patch: int) -> tuple[int, int, int]:
    """The next release; a number that is as high as it may be carries over."""
    if patch < MAX_NUMBER:
        return major, minor, patch + 1
    return (major, minor + 1, 0) if minor < MAX_NUMBER else (major + 1, 0, 0)
