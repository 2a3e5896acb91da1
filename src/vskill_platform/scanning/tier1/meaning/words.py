"""What of a text is words: the path of an address says nothing to the reader, nor does the name of a hook of git."""

from __future__ import annotations

import re

from vskill_platform.scanning.tier1.code.hosts import LOOPBACK

IN_ADDRESSES = frozenset(["address", "outside", "interest", "instructions", "program", "authenticates"])
"""Concepts that addresses are places of, or may name: `/prompt.txt` holds instructions."""
_REST = rb"[!#-&*-;=?-Z\\^_a-{}~]"
"""What an address goes on with. In letters of ASCII: in many languages a sentence goes on right behind an address."""
_NO_WORDS = re.compile(
    rb"(?:https?|ftps?|wss?|sftp|ssh|git)://%b+|\b(?:pre|post)-(?:push|commit|receive|merge|checkout)\b" % _REST
)
_HOSTS_HERE = tuple((f"[{host}]" if ":" in host else host).encode() for host in sorted(LOOPBACK))
_ON_THIS_MACHINE = re.compile(
    rb"(?:https?|wss?)://(?:%b)(?::\d{1,5})?(?:[/?#]%b*|(?![\w.:@-]))" % (b"|".join(map(re.escape, _HOSTS_HERE)), _REST)
)


def without_addresses(data: bytes) -> bytes:
    """A text with dots in place of its addresses and of names that look like something done; all else stays where it is."""
    return _NO_WORDS.sub(_dots, data) if b"://" in data or b"-" in data else data


def without_own_addresses(data: bytes) -> bytes:
    """A text with dots in place of addresses that lead no further than the machine that they are asked on."""
    return _ON_THIS_MACHINE.sub(_dots, data) if any(host in data for host in _HOSTS_HERE) else data


def _dots(found: re.Match[bytes]) -> bytes:
    return b"." * len(found[0])
