"""Where a value in a program came from, whatever the language."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Source(StrEnum):
    """Where something came from. Behind each stands what an origin's `detail` is."""

    NETWORK = "network"
    """The address."""
    SOCKET = "socket"
    """The address, of a connection whose other side decides at every moment what comes."""
    DECODED = "decoded"
    """How it was decoded."""
    SECRET = "secret"
    """The path or the store."""
    ENVIRONMENT = "environment"
    """What printed all variables."""
    MACHINE = "machine"
    """What was asked: `date`, `hostname`, `whoami`."""
    HOME = "home"
    """The whole home folder."""
    FILE = "file"
    """The path of a file whose content is not known to have come from elsewhere."""
    VARIABLE = "variable"
    """The name of an environment variable that nothing in the text has set."""
    ARGUMENT = "argument"
    """The number of a script's argument."""
    ENCODED = "encoded"
    """How it was encoded, so that nobody sees what it is."""
    UNPACKED = "unpacked"
    """The address of the archive that it came out of."""


class Origin(NamedTuple):
    """One place that a value came from."""

    source: Source
    detail: str


NOWHERE: frozenset[Origin] = frozenset()
