"""Branches and tags of a repository, and which of them an address such as `tree/feature/x/skills/a` means.

Only names are looked up. A commit id in an address is not taken: on shared hosts a commit of anybody's fork can be had
under the original's address, and would pass for the original's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from vskill_platform.domain.content import SKILL_FILE_NAMES

HEAD = "HEAD"
_KINDS = ("refs/heads/", "refs/tags/")
_LINE = re.compile(rb"([0-9a-f]{40}|[0-9a-f]{64})\t([!-\xff]+)")
_NOT_IN_NAME = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(?:/|$)|\.(?:/|$)|^[./@-]|/$")


class Ref(NamedTuple):
    """A branch or tag by its full name, the commit (or what it says is one), and the rest of the address: a folder."""

    name: str
    commit: str
    folder: str


def parse_refs(listing: Iterable[bytes]) -> Iterator[tuple[str, str]]:
    """Name and id of each line that lists a branch or tag; a line that does not look like one is passed over."""
    for line in listing:
        found = _LINE.fullmatch(line.rstrip(b"\n"))
        if found:
            yield found[2].decode("utf-8", "surrogateescape"), found[1].decode()


def wanted_refs(tree_path: str) -> dict[str, tuple[str, str]]:
    """Every ref that an address can mean, best first, each with its short name and the folder that is left over.

    The longest name wins, because git keeps no branch below another; a branch wins over a tag.
    """
    parts = [part for part in tree_path.split("/") if part]
    wanted: dict[str, tuple[str, str]] = {}
    for count in range(len(parts), 0, -1):
        name = "/".join(parts[:count])
        if not _NOT_IN_NAME.search(name):
            folder = _folder(parts[count:])
            wanted.update({f"{kind}{name}": (name, folder) for kind in _KINDS})
    return wanted


def choose_ref(refs: Iterable[tuple[str, str]], tree_path: str) -> Ref | None:
    """The branch or tag that an address means, or None. Reads `refs` once and keeps only what the address can mean."""
    wanted = wanted_refs(tree_path)
    found = {name: id for name, id in refs if name.removesuffix("^{}") in wanted}
    for name, (_, folder) in wanted.items():
        if name in found:
            return Ref(name, found.get(f"{name}^{{}}", found[name]), folder)
    return None


def head_of(refs: Iterable[tuple[str, str]]) -> str | None:
    """The commit that the default branch stands at, or None."""
    return next((id for name, id in refs if name == HEAD), None)


def _folder(parts: list[str]) -> str:
    if parts and parts[-1] in SKILL_FILE_NAMES:
        parts = parts[:-1]
    return "/".join(parts)
