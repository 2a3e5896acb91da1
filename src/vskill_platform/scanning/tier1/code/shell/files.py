"""The files of the machine that a script runs on: what the script has put there, what the skill brings, what lies "
"there."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cached_property

from vskill_platform.scanning.tier1.code.budget import Budget
from vskill_platform.scanning.tier1.code.hosts import UNKNOWN
from vskill_platform.scanning.tier1.code.places import is_home, is_personal, plain_path, secret_at
from vskill_platform.scanning.tier1.code.shell.values import (
    LONGEST_TEXT,
    NOWHERE,
    Origin,
    Source,
    Value,
    joined,
    unknown,
)

CHEAP = 20
"""So many files are held against a pattern in one step."""
_ABOVE = re.compile(r"^/*(?:\.\.?/+)*")
"""The way up out of a folder that nobody knows."""
SOCKETS = ("/dev/tcp/", "/dev/udp/")


class Files:
    """Contents by path. `own` has the texts of the skill's own files."""

    def __init__(self, own: Mapping[str, str], budget: Budget) -> None:
        self._own = own
        self._budget = budget
        self._written: dict[str, Value] = {}
        self._by_name: dict[str, Value] = {}
        self.has_downloads = False

    @cached_property
    def _own_by_name(self) -> dict[str, str]:
        return {name.rpartition("/")[2]: name for name in reversed(list(self._own))}

    def write(self, path: str, content: Value, *, is_added: bool = False) -> None:
        """Puts content into a file."""
        plain = plain_path(path)
        self.has_downloads |= content.comes_from(Source.NETWORK)
        if is_added and plain in self._written:
            content = joined((self._written[plain], content))
        self._written[plain] = content
        self._by_name[posixpath.basename(plain)] = content

    def written(self, path: str) -> Value | None:
        """What the script has put there; by name alone where one of the two paths is relative to a folder nobody "
        "knows."""
        plain = plain_path(path)
        if plain in self._written:
            return self._written[plain]
        if "*" in plain:
            self._budget.spend(len(self._written) // CHEAP)
            return next((content for each, content in self._written.items() if fnmatchcase(each, plain)), None)
        name = posixpath.basename(plain)
        return self._by_name.get(name) if name and not plain.startswith(("/usr/", "/bin/")) else None

    def all_origins(self) -> frozenset[Origin]:
        """The origins of everything that the script has put into files, for a command that takes a whole folder."""
        self._budget.spend(len(self._written) // CHEAP)
        return NOWHERE.union(*(content.origins for content in self._written.values()))

    def exactly(self, path: str) -> Value | None:
        """What the script has put at exactly this path."""
        return self._written.get(path)

    def read(self, path: str) -> Value:
        """What a file holds, as far as that is known, and where it comes from."""
        written = self.written(path)
        if written is not None:
            return written
        if path.startswith(SOCKETS):
            return unknown("socket", origins=[Origin(Source.SOCKET, socket_address(path))])
        if (secret := secret_at(path)) is not None:
            return unknown(secret.path, origins=[Origin(Source.SECRET, secret.path)])
        if is_home(path) or is_personal(path):
            return unknown("home", origins=[Origin(Source.HOME, plain_path(path))])
        own = self.own(path)
        origins = [Origin(Source.FILE, plain_path(path))]
        return Value(own, frozenset(origins)) if own is not None else unknown(path, origins=origins)

    def origins(self, path: str) -> frozenset[Origin]:
        """Where a file comes from, if that says something of it: not that it is a file."""
        written = self.written(path)
        if written is not None:
            return written.origins
        secret = secret_at(path) if "." in path or "/" in path else None
        return frozenset([Origin(Source.SECRET, secret.path)]) if secret else NOWHERE

    def own(self, path: str) -> str | None:
        """The text of a file that the skill brings, where it is not too long."""
        found = self._brought(path)
        return found if found is not None and len(found) <= LONGEST_TEXT else None

    def brings(self, path: str) -> bool:
        """Whether the skill brings a file, however long."""
        return self._brought(path) is not None

    def _brought(self, path: str) -> str | None:
        """A file that the skill brings, found by its path or, below unknown folders, by its end."""
        plain = _ABOVE.sub("", plain_path(path).rpartition(UNKNOWN)[2])
        found = self._own.get(plain)
        if found is None and plain:
            known = self._own_by_name.get(plain.rpartition("/")[2], "")
            found = self._own[known] if known.endswith(f"/{plain}") else None
        return found


def socket_address(path: str) -> str:
    """Host and port of a path such as `/dev/tcp/host/443`, as an address."""
    host, _, port = path.partition("/dev/")[2].partition("/")[2].partition("/")
    return f"{host}:{port}"
