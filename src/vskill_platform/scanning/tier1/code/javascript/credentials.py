"""Credentials by name: what a program logs in with at one host must not turn up in what it sends to another."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vskill_platform.scanning.tier1.code.hosts import domain_of
from vskill_platform.scanning.tier1.code.origins import Origin, Source
from vskill_platform.scanning.tier1.code.sending import Channel

_SECRET_WORD = re.compile(r"(?:^|_|[a-z])(?:token|apikey|api_key|secret|password|credentials?)$", re.IGNORECASE)
_SENDING = frozenset([Channel.BODY, Channel.ADDRESS, Channel.FIELD, Channel.LABEL])


def is_credential(name: str) -> bool:
    """Whether a name is one that people give to what they log in with."""
    return len(name) < 40 and _SECRET_WORD.search(name) is not None


def credential_origin(name: str) -> frozenset[Origin]:
    """The origin of a value by its name, if that says so."""
    return frozenset([Origin(Source.VARIABLE, name)]) if is_credential(name) else frozenset()


class Credentials:
    """Where a program sends its credentials, and where it logs in with them."""

    def __init__(self) -> None:
        self._logins: dict[str, set[str]] = {}
        self._sent: dict[tuple[str, str], int] = {}

    def use(self, names: list[str], host: str, channel: Channel, at: int) -> None:
        """Notes that values of these names go to a host; an empty one is known only to the running program."""
        for name in filter(is_credential, names):
            if channel is Channel.HEADER:
                self._logins.setdefault(name, set()).add(domain_of(host))
            elif channel in _SENDING and host:
                self._sent.setdefault((name, domain_of(host)), at)

    def strays(self) -> Iterator[int]:
        """Where something is sent to one site that serves to log in at others."""
        for (name, site), at in self._sent.items():
            if name in self._logins and site not in self._logins[name]:
                yield at
