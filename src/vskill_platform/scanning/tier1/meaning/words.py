"""What of a text is words: the path of an address says nothing to the reader, nor does the name of a hook of git."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from vskill_platform.scanning.tier1.code.hosts import LOOPBACK

IN_ADDRESSES = frozenset(["address", "outside", "interest", "instructions", "program", "authenticates"])
"""Concepts that addresses are places of, or may name: `/prompt.txt` holds instructions."""
_REST = rb"[!#-&*-;=?-Z\\^_a-{}~]"
"""What an address goes on with. In letters of ASCII: in many languages a sentence goes on right behind an address."""
_SCHEMES = (b"https", b"http", b"sftp", b"ftps", b"ftp", b"wss", b"ws", b"ssh", b"git")
_ADDRESS = re.compile(rb"://%b+" % _REST)
_HOOK = re.compile(rb"-(?:push|commit|receive|merge|checkout)\b")
_BEFORE_HOOK = re.compile(rb"\b(?:pre|post)\Z")
_HOSTS_HERE = tuple((f"[{host}]" if ":" in host else host).encode() for host in sorted(LOOPBACK))
_ON_THIS_MACHINE = re.compile(
    rb"(?:https?|wss?)://(?:%b)(?::\d{1,5})?(?:[/?#]%b*|(?![\w.:@-]))" % (b"|".join(map(re.escape, _HOSTS_HERE)), _REST)
)


def without_addresses(data: bytes) -> bytes:
    """A text with dots in place of its addresses and of names that look like something done; all else stays where it is."""
    places = [*_addresses(data), *_hooks(data)]
    return _dotted(data, places) if places else data


def without_own_addresses(data: bytes) -> bytes:
    """A text with dots in place of addresses that lead no further than the machine that they are asked on."""
    if not any(host in data for host in _HOSTS_HERE):
        return data
    return _dotted(data, [found.span() for found in _ON_THIS_MACHINE.finditer(data)])


def _addresses(data: bytes) -> Iterator[tuple[int, int]]:
    """Where addresses are. Their middle is looked for and not their beginning, which many other words begin like."""
    at = 0
    while found := _ADDRESS.search(data, at):
        middle, at = found.start(), found.start() + len(b"://")
        scheme = next((scheme for scheme in _SCHEMES if data.endswith(scheme, 0, middle)), None)
        if scheme is not None:
            at = found.end()
            yield middle - len(scheme), at


def _hooks(data: bytes) -> Iterator[tuple[int, int]]:
    for found in _HOOK.finditer(data):
        before = _BEFORE_HOOK.search(data, max(0, found.start() - 5), found.start())
        if before is not None:
            yield before.start(), found.end()


def _dotted(data: bytes, places: Iterable[tuple[int, int]]) -> bytes:
    masked = bytearray(data)
    for start, end in places:
        masked[start:end] = b"." * (end - start)
    return bytes(masked)
