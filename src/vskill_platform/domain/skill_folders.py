"""What the skills of a repository are called: by their folder, and by as much of its path as tells two apart."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

_GENERIC = frozenset({"skills", "skill", "plugins", "packages", "src", ".claude", ".agents", ".github", ".cursor"})
"""Folders that hold skills and say nothing about them."""


class NamedFolder(NamedTuple):
    """A folder with a skill, and the name that the skill has in its repository."""

    name: str
    path: str
    tree: str


def name_skill_folders(
    folders: Sequence[tuple[str, str]], *, repository: str, holders: Mapping[str, str] = MappingProxyType({})
) -> list[NamedFolder]:
    """Name the skills in these folders (path, tree), each name once, whatever its case.

    A folder's own name is the skill's; the root's is the repository's. Copies (the same tree under the same name, as
    repositories keep for several agents) count once, under the plainest path. Others that share a name get the folders
    above them in front of it, but for the one that `holders` (name in lower case, path) says had it before.
    """
    plain_first = sorted(folders, key=lambda folder: (_hidden(folder[0]), folder[0].count("/"), folder[0]))
    unique = {(own_name(path, repository).casefold(), tree): path for path, tree in reversed(plain_first)}
    there = set(folders)
    unique |= {key: holders[key[0]] for key in unique if (holders.get(key[0]), key[1]) in there}
    shared = Counter(name for name, _ in unique)
    named: dict[str, NamedFolder] = {}
    for (own, tree), path in sorted(unique.items(), key=lambda item: (holders.get(item[0][0]) != item[1], item[1])):
        keeps = shared[own] == 1 or holders.get(own) == path
        name = own_name(path, repository) if keeps else _qualified_name(path, repository)
        if name.casefold() in named:
            name = f"{name}-{hashlib.sha256(path.encode()).hexdigest()[:7]}"
        named[name.casefold()] = NamedFolder(name, path, tree)
    return sorted(named.values(), key=lambda folder: folder.path)


def shared_names(folders: Sequence[tuple[str, str]], *, repository: str) -> list[str]:
    """The names, in lower case, that more than one folder goes by."""
    names = Counter(own_name(path, repository).casefold() for path, _ in folders)
    return sorted(name for name, count in names.items() if count > 1)


def is_below(path: str, folder: str) -> bool:
    """Whether a folder is this one or lies below it; everything lies below the root."""
    return not folder or path == folder or path.startswith(f"{folder}/")


def own_name(path: str, repository: str) -> str:
    """The name of a folder itself; the root has the repository's."""
    return path.rsplit("/", 1)[-1] if path else repository


def _qualified_name(path: str, repository: str) -> str:
    parts = [part for part in path.split("/")[:-1] if part not in _GENERIC]
    return "-".join([*parts, own_name(path, repository)])


def _hidden(path: str) -> bool:
    return any(part.startswith(".") for part in path.split("/"))
