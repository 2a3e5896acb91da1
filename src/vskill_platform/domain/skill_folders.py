"""What the skills of a repository are called: by their folder, and by as much of its path as tells two apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

_GENERIC = frozenset({"skills", "skill", "plugins", "packages", "src", ".claude", ".agents", ".github", ".cursor"})
"""Folders that hold skills and say nothing about them."""


class NamedFolder(NamedTuple):
    """A folder with a skill, and the name that the skill has in its repository."""

    name: str
    path: str
    tree: str


def name_skill_folders(folders: Sequence[tuple[str, str]], *, repository: str) -> list[NamedFolder]:
    """Name the skills in these folders (path, tree), each name once.

    A folder's own name is the skill's; the root's is the repository's. Copies (the same tree under the same name, as
    repositories keep for several agents) count once, under the plainest path. Others that share a name get the folders
    above them in front of it.
    """
    plain_first = sorted(folders, key=lambda folder: (_hidden(folder[0]), folder[0].count("/"), folder[0]))
    unique = {(_own_name(path, repository), tree): path for path, tree in reversed(plain_first)}
    shared = Counter(name for name, _ in unique)
    named: dict[str, NamedFolder] = {}
    for (own, tree), path in sorted(unique.items(), key=lambda item: item[1]):
        name = own if shared[own] == 1 else _qualified_name(path, repository)
        while name in named:
            name = f"{name}-{tree[:7]}"
        named[name] = NamedFolder(name, path, tree)
    return list(named.values())


def _own_name(path: str, repository: str) -> str:
    return path.rsplit("/", 1)[-1] if path else repository


def _qualified_name(path: str, repository: str) -> str:
    parts = [part for part in path.split("/")[:-1] if part not in _GENERIC]
    return "-".join([*parts, _own_name(path, repository)])


def _hidden(path: str) -> bool:
    return any(part.startswith(".") for part in path.split("/"))
