"""The words for what is found when a container is opened, and how much may be taken out of all of them together."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple, Protocol

from vskill_platform.scanning.tier1.excerpts import show_invisible

MOST_BYTES = 24 * 1024 * 1024
"""Bytes that all containers of one skill may hold together, at all depths."""
MOST_MEMBERS = 2_000
DEEPEST = 3
"""Containers inside containers that are opened."""
HIGHEST_RATIO = 200
"""How many times its size something may grow by being unpacked. Text grows tenfold, a bomb a thousandfold."""
ALWAYS_ALLOWED = 1024 * 1024
"""Bytes that anything may grow to, whatever its ratio."""
LONGEST_NAME = 200


class Flaw(StrEnum):
    """What is wrong with a container, or kept it from being read. The value is the end of the name of a check."""

    ENCRYPTED = "encrypted"
    UNREADABLE = "unreadable"
    DAMAGED = "damaged"
    BOMB = "bomb"
    TOO_MUCH = "too_much"
    TOO_DEEP = "too_deep"
    ESCAPES = "escapes"
    LINK = "link"
    TWO_NAMES = "two_names"
    UNNAMED_BYTES = "unnamed_bytes"
    COLLISION = "collision"


UNSEEN = frozenset({Flaw.ENCRYPTED, Flaw.UNREADABLE, Flaw.DAMAGED, Flaw.TWO_NAMES, Flaw.UNNAMED_BYTES})
"""Flaws that mean that some of the container has not been seen."""
OVER_A_LIMIT = frozenset({Flaw.BOMB, Flaw.TOO_MUCH, Flaw.TOO_DEEP})


class Member(NamedTuple):
    """A file of a container."""

    name: str
    content: bytes
    executable: bool = False


class Flawed(NamedTuple):
    """Something that is wrong with a container. `detail` is for people, such as the name of a member."""

    flaw: Flaw
    detail: str = ""


Found = Member | Flawed


class Allowance:
    """What may still be taken out of containers in this scan."""

    def __init__(self, *, most_bytes: int = MOST_BYTES, most_members: int = MOST_MEMBERS) -> None:
        self.bytes_left = most_bytes
        self.members_left = most_members

    def take(self, size: int) -> None:
        """Note that this many bytes came out as one file."""
        self.bytes_left -= size
        self.members_left -= 1

    def most_from(self, packed: int) -> int:
        """How many bytes may come out of this many packed ones."""
        return max(0, min(self.bytes_left, max(ALWAYS_ALLOWED, HIGHEST_RATIO * packed)))


class Decompressor(Protocol):
    """A decompressor of the standard library, given all of its input at once."""

    def decompress(self, data: bytes, max_length: int = ..., /) -> bytes: ...
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...


class Unpacked(NamedTuple):
    """What came out of a compressed stream, and what stood behind its end."""

    content: bytes
    rest: bytes


def unpack(
    data: bytes, make: Callable[[], Decompressor], *, allowance: Allowance, failures: tuple[type[Exception], ...]
) -> Unpacked | Flaw:
    """The stream's content, never more than is allowed; a flaw where it is more, broken off or not a stream."""
    most = allowance.most_from(len(data))
    decompressor = make()
    try:
        content = decompressor.decompress(data, most + 1)
    except failures:
        return Flaw.DAMAGED
    if len(content) > most:
        return Flaw.TOO_MUCH if most == allowance.bytes_left else Flaw.BOMB
    return Unpacked(content, decompressor.unused_data) if decompressor.eof else Flaw.DAMAGED


def escapes(name: str) -> bool:
    """Whether a member's path leads out of the folder that it is unpacked into, on any system."""
    plain = name.replace("\\", "/")
    if plain.startswith(("/", "~/")) or plain[1:2] == ":" or "\0" in name:
        return True
    landing = posixpath.normpath(plain)
    return landing == ".." or landing.startswith("../") or ".." in plain.split("/")


def shown_name(name: str) -> str:
    """A member's name as part of a path in a report, with nothing in it that a screen would hide or obey."""
    plain = show_invisible(name.replace("\\", "/").strip("/"))
    return plain if len(plain) <= LONGEST_NAME else f"{plain[:LONGEST_NAME]}…"
