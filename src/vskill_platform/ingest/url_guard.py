"""Which addresses a repository may be fetched from, and a webhook sent to: first the words, then what the host resolves to.

An address is taken apart here once and put together again from its checked parts, so that git and the proxy cannot read
it differently. A host is judged by every address it resolves to: one that is not public refuses all of them.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import NamedTuple
from urllib.parse import urlsplit

from vskill_platform.domain.errors import AddressForbidden, SourceUnreachable
from vskill_platform.ingest.escaping import printable
from vskill_platform.ingest.public_addresses import Judge
from vskill_platform.settings import Settings

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Gives every address of a host and port, as text. Raises OSError when it cannot."""

URL_MAX_CHARACTERS = 2048
DEFAULT_PORTS = {"https": 443, "http": 80}
_FIRST_FREE_PORT = 1024
_VISIBLE_ASCII = re.compile(r"[!-~]+")
_NOT_IN_PATH = re.compile(r"%(?:[01][0-9a-f]|7f|$)|[\"'<>\\^`{|}?#]", re.IGNORECASE)
_HOST = re.compile(
    r"(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*"
)
_QUERY = re.compile(r"(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")


class RepositoryAddress(NamedTuple):
    """The checked parts of an address. `host` is lower-case; an IPv6 address has no brackets in it."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """Host and port, as a request names them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The address, put together again. A port that goes without saying is left out."""
        authority = self.authority
        if self.port == DEFAULT_PORTS[self.scheme]:
            authority = authority.rpartition(":")[0]
        return f"{self.scheme}://{authority}{self.path}"


def check_address(repo_url: str, *, settings: Settings) -> RepositoryAddress:
    """The parts of an address that the settings allow. Raises AddressForbidden; looks nothing up."""
    address = _split(repo_url)
    if not address.path.strip("/"):
        raise _forbidden(repo_url, "has no path, as every repository has")
    _check_protocol(address, settings.git_protocols)
    hosts = _words(settings.git_hosts)
    if hosts and address.host not in hosts:
        raise _forbidden(address.url, "is on a host that this registry does not fetch from")
    _check_port(address)
    return address


def check_receiver(url: str, *, protocols: str) -> RepositoryAddress:
    """The parts of an address that webhooks may be sent to; its path has the query. Raises AddressForbidden; looks nothing up."""
    base, mark, query = url.partition("?")
    address = _split(base)
    if mark and not _QUERY.fullmatch(query):
        raise _forbidden(base, "has a query with characters that no query has")
    _check_protocol(address, protocols)
    _check_port(address)
    return address._replace(path=(address.path or "/") + mark + query)


async def resolve_checked(address: RepositoryAddress, *, resolve: Resolve, judge: Judge) -> tuple[str, ...]:
    """Every address of the host, each of which may be connected to.

    Raises AddressForbidden if one of them may not, SourceUnreachable if there is none.
    """
    try:
        found = await resolve(address.host, address.port)
    except (OSError, UnicodeError) as exc:
        raise _unresolvable(address) from exc
    if not found:
        raise _unresolvable(address)
    for text in found:
        reason = judge(ip_address(text))
        if reason is not None:
            raise _forbidden(address.url, f"is on a host with an address that is not public ({reason})")
    return tuple(found)


def _split(repo_url: str) -> RepositoryAddress:
    if len(repo_url) > URL_MAX_CHARACTERS or not _VISIBLE_ASCII.fullmatch(repo_url):
        raise _forbidden(repo_url, "has characters that no address has, or too many of them")
    try:
        parts = urlsplit(repo_url)
        port, host = parts.port, parts.hostname or ""
    except ValueError:
        raise _forbidden(repo_url, "is not a web address") from None
    if "@" in parts.netloc:
        raise AddressForbidden("The address has a user name or password in it. Give it without.")
    if parts.scheme not in DEFAULT_PORTS:
        raise _forbidden(repo_url, "begins with neither https nor http")
    if _NOT_IN_PATH.search(repo_url):
        raise _forbidden(repo_url, "has characters that no path has")
    if port is None:
        port = DEFAULT_PORTS[parts.scheme]
    return RepositoryAddress(parts.scheme, _check_host(host, repo_url), port, parts.path)


def _check_protocol(address: RepositoryAddress, protocols: str) -> None:
    if address.scheme not in _words(protocols):
        raise _forbidden(address.url, f"is reached by {address.scheme}; this registry uses {protocols}")


def _check_port(address: RepositoryAddress) -> None:
    if address.port not in DEFAULT_PORTS.values() and address.port < _FIRST_FREE_PORT:
        raise _forbidden(address.url, f"is on port {address.port}, which belongs to another kind of server")


def _check_host(host: str, repo_url: str) -> str:
    if ":" in host:
        return _check_ipv6(host, repo_url)
    host = host.removesuffix(".")
    if not _HOST.fullmatch(host):
        raise _forbidden(repo_url, "has no host name of letters, digits, dashes and dots")
    if _NUMBER.fullmatch(host.rpartition(".")[2]):
        _check_ipv4(host, repo_url)
    return host


def _check_ipv4(host: str, repo_url: str) -> None:
    """What ends in a number is an IPv4 address to those who resolve it, in whatever way it is spelled: take one way only."""
    try:
        IPv4Address(host)
    except ValueError:
        raise _forbidden(repo_url, "has an IPv4 address in a form that can be mistaken for another") from None


def _check_ipv6(host: str, repo_url: str) -> str:
    try:
        found = IPv6Address(host)
    except ValueError:
        raise _forbidden(repo_url, "has no valid IPv6 address") from None
    if found.scope_id is not None:
        raise _forbidden(repo_url, "has an IPv6 address with a zone")
    return str(found)


def _words(setting: str) -> frozenset[str]:
    return frozenset(word.strip().lower() for word in setting.split(",") if word.strip())


def _forbidden(url: str, reason: str) -> AddressForbidden:
    shown = printable(_without_credentials(url))
    return AddressForbidden(f"The address '{shown}' {reason}. It cannot be used.", url=shown)


def _without_credentials(url: str) -> str:
    return re.sub(r"(?<=//)[^/]*@", "…@", url)


def _unresolvable(address: RepositoryAddress) -> SourceUnreachable:
    return SourceUnreachable(
        f"The host '{printable(address.host)}' has no address at the moment. Check its name, or try again later.",
        url=printable(address.url),
        host=printable(address.host),
    )
