"""Hosts, as far as it matters who is asked: this machine, an address without a name, a vendor, a package registry."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

from vskill_platform.scanning.tier1.code.hosts import HostKind, kind_of_address

_LOCAL_NAMES = frozenset(["localhost", "host.docker.internal", "ip6-localhost"])
_PLACEHOLDER = re.compile(
    r"(?i)[<>{}$%*]|^(?:your|my)[-_.]|(?:^|[./-])(?:your-?(?:company|domain|org)|placeholder)(?:\.|$)"
)
_IN_DOCUMENTATION = re.compile(r"(?:^|\.)example\.(?:com|org|net)$")
_HOME_NETWORKS = tuple(map(ip_network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")))
_ADDRESS = re.compile(r"(?i)\b(?:https?|wss?)://[^\s\"'`<>|;)]+")


def _names(pairs: str) -> frozenset[str]:
    """Domains, written as their parts with blanks between: a host is never spelled out here."""
    return frozenset(".".join(pair.split()) for pair in pairs.strip().split("\n"))


_REGISTRIES = _names(
    """pypi org
pythonhosted org
pytorch org
npmjs org
npmjs com
yarnpkg com
npmmirror com
rubygems org
crates io
golang org
anaconda org
anaconda com
nvidia com
pkg dev
maven org
nuget org
deno land
jsr io
pkg github com
pkgs dev azure com
tuna tsinghua edu cn
aliyun com
ustc edu cn
huaweicloud com
douban com
jfrog io
cloudsmith io
gitlab com
huggingface co
prefix dev"""
)
_MODEL_VENDORS = _names(
    """anthropic com
openai com
azure com
googleapis com
openrouter ai
cloudflare com
vercel com
vercel sh
mistral ai
groq com
deepseek com
x ai
together xyz
together ai
fireworks ai
cohere com
cohere ai
databricks com
nvidia com
huggingface co
perplexity ai
moonshot ai
moonshot cn
z ai
bigmodel cn"""
)


def host_of(address: str) -> str:
    """The host of an address in lower case, without a port; empty where there is none."""
    try:
        return (urlsplit(address if "://" in address else f"//{address}").hostname or "").lower()
    except ValueError:
        return ""


def is_local(address: str) -> bool:
    """Whether an address leads to this machine and nowhere else."""
    host = host_of(address)
    return host in _LOCAL_NAMES or host.endswith(".localhost") or host == "::1" or host.startswith(("127.", "0.0.0."))


def is_bare_number(address: str) -> bool:
    """Whether the host of an address is a public number instead of a name."""
    host = host_of(address)
    number = _number(host)
    if number is None:
        return host.isdecimal() and len(host) > 6
    return not (number.is_loopback or number.is_unspecified or _is_at_home(number))


def is_placeholder(address: str) -> bool:
    """Whether somebody is meant to put a host there."""
    host = host_of(address)
    return not host or _PLACEHOLDER.search(host) is not None


def is_in_documentation(address: str) -> bool:
    """Whether the host is one that texts use as an example, and that nobody has."""
    return _IN_DOCUMENTATION.search(host_of(address)) is not None


def is_private(address: str) -> bool:
    """Whether the host is one inside a company or a house, by its name or number."""
    host = host_of(address)
    if host.endswith((".internal", ".local", ".lan", ".corp", ".intranet", ".home.arpa")) or "." not in host:
        return True
    number = _number(host)
    return number is not None and _is_at_home(number)


def _number(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def _is_at_home(number: IPv4Address | IPv6Address) -> bool:
    return any(number in network for network in _HOME_NETWORKS)


def is_registry(address: str) -> bool:
    """Whether an address leads to a package registry that everybody knows."""
    host = host_of(address)
    return _is_one_of(host, _REGISTRIES) or (".codeartifact." in host and host.endswith(".amazonaws.com"))


def is_model_vendor(address: str) -> bool:
    """Whether an address leads to somebody who is known to serve models."""
    host = host_of(address)
    return _is_one_of(host, _MODEL_VENDORS) or (host.startswith("bedrock") and host.endswith(".amazonaws.com"))


def is_vendor_installer(text: str) -> bool:
    """Whether there is an address in the text, and each one is that of a known vendor's installer over https."""
    addresses = _ADDRESS.findall(text)
    return bool(addresses) and all(
        address.lower().startswith("https://") and kind_of_address(address) is HostKind.VENDOR for address in addresses
    )


def _is_one_of(host: str, domains: frozenset[str]) -> bool:
    """Whether the host is one of the domains, or below one."""
    parts = host.split(".")
    return any(".".join(parts[start:]) in domains for start in range(len(parts)))
