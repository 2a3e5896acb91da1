"""Hosts, by what it means to fetch from them or to send to them.

A whole host counts, or a name below a known domain; never a word somewhere in an address. What a program builds at run
time is written with `UNKNOWN` around the name of the missing piece, and a host that ends in known labels is still known.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from vskill_platform.scanning.tier1.code.installers import INSTALLERS
from vskill_platform.scanning.tier1.code.publishers import PUBLISHERS
from vskill_platform.scanning.tier1.code.registries import REGISTRIES

UNKNOWN = "\0"
"""Stands around the name of a piece of text that only the running program knows."""
LONGEST_ADDRESS = 2_000
KNOWN_HOSTS = 1024
"""Hosts whose reading is kept: a skill names the same few again and again."""
METADATA_HOSTS = frozenset(["169.254.169.254", "metadata.google.internal", "100.100.100.200", "fd00:ec2::254"])
_IDENTITY = re.compile(r"credential|token|identity|user-?data|security", re.IGNORECASE)


class HostKind(StrEnum):
    """What is known of a host."""

    LOCAL = "local"
    """The machine itself, or its own network."""
    VENDOR = "vendor"
    """Known for the installers and packages that it serves."""
    REPOSITORY = "repository"
    """Serves what anybody has published there, under a name, with a history."""
    NAMED = "named"
    """Has a name, and nothing is known of it."""
    THROWAWAY = "throwaway"
    """A bare address, a paste, a short link, a tunnel, a drop: nobody answers for it."""
    UNKNOWN = "unknown"
    """Only the running program knows it."""


LOOPBACK = frozenset(["localhost", "127.0.0.1", "::1", "0.0.0.0"])  # noqa: S104
"""The names that a machine has for itself."""
_REPOSITORIES = (
    "github.com raw.githubusercontent.com objects.githubusercontent.com codeload.github.com api.github.com "
    "gitlab.com bitbucket.org "
    "codeberg.org sr.ht git.sr.ht sourceforge.net huggingface.co hf.co unpkg.com "
    "cdn.jsdelivr.net "
    "cdnjs.cloudflare.com esm.sh "
    ""
    "dl.cloudsmith.io packagecloud.io packages.gitlab.com kernel.org gnu.org apache.org debian.org ubuntu.com "
    "launchpad.net googlesource.com gitlab.gnome.org gitlab.freedesktop.org invent.kde.org "
    "git.savannah.gnu.org storage.googleapis.com quay.io ghcr.io"
)
_THROWAWAY = (
    # Pastes and files for an hour.
    "pastebin.com paste.ee pastes.io paste.rs paste.c-net.org dpaste.com dpaste.org hastebin.com ghostbin.com "
    "controlc.com rentry.co "
    "rentry.org glot.io ix.io sprunge.us termbin.com 0x0.st x0.at transfer.sh file.io gofile.io anonfiles.com "
    "bashupload.com "
    "catbox.moe litterbox.catbox.moe temp.sh tmpfiles.org uguu.se pixeldrain.com mega.nz mediafire.com "
    "wetransfer.com filebin.net "
    "oshi.at keep.sh tmpfile.link telegra.ph justpaste.it privatebin.net ghostbin.co snippet.host cdn.discordapp.com "
    "media.discordapp.net gist.githubusercontent.com gist.github.com "
    # Drops that only record what comes in.
    "webhook.site requestbin.com requestbin.net pipedream.net hookbin.com beeceptor.com requestcatcher.com "
    "burpcollaborator.net "
    "oastify.com oast.fun oast.pro oast.live oast.site oast.online oast.me interact.sh interactsh.com dnslog.cn "
    "ceye.io canarytokens.com "
    "postb.in mockbin.org webhook.cool requestinspector.com typedwebhook.tools pingb.in bxss.me xss.ht eyes.sh "
    # Tunnels.
    "ngrok.io ngrok.app ngrok.dev ngrok-free.app ngrok-free.dev trycloudflare.com loca.lt localtunnel.me "
    "localhost.run serveo.net "
    "pagekite.me bore.pub telebit.io lhr.life pinggy.io pinggy.link playit.gg devtunnels.ms tunnelmole.net zrok.io "
    # Short links.
    "bit.ly tinyurl.com t.ly is.gd v.gd cutt.ly rb.gy ow.ly buff.ly rebrand.ly shorturl.at t.co goo.gl tiny.cc "
    "s.id bl.ink lnkd.in "
    "dub.sh git.io "
    # Names that anybody points anywhere.
    "duckdns.org no-ip.com no-ip.org no-ip.biz noip.me ddns.net dynu.com dynu.net hopto.org zapto.org sytes.net "
    "myftp.org afraid.org "
    "chickenkiller.com mooo.com dyndns.org dynv6.net freeddns.org serveftp.com servehttp.com redirectme.net "
    "bounceme.net gotdns.ch "
    "sslip.io nip.io xip.io onion i2p"
)
_PATHED_VENDORS = tuple(f"{place}/" for place in INSTALLERS if "/" in place)
_OF_DOMAIN = {
    **dict.fromkeys(_THROWAWAY.split(), HostKind.THROWAWAY),
    **dict.fromkeys((*_REPOSITORIES.split(), *REGISTRIES), HostKind.REPOSITORY),
    **dict.fromkeys(PUBLISHERS, HostKind.VENDOR),
    **dict.fromkeys((place for place in INSTALLERS if "/" not in place), HostKind.VENDOR),
    **dict.fromkeys(
        ["localhost", "localdomain", "local", "internal", "intranet", "lan", "corp", "home.arpa"], HostKind.LOCAL
    ),
}
_WHOLE_HOSTS = frozenset([*(place for place in INSTALLERS if "/" not in place), "github.com", "github.io"])
"""Names under these say nothing: anybody may have one, or it is somebody else's."""
INSTALLER_ADDRESS = f"https://(?:www\\.)?(?:{'|'.join(map(re.escape, INSTALLERS))})(?:/|\\b)"
"""The addresses of those who are known for their installers, as a pattern: `{installers}` in a rule's `unless`."""
PUBLIC_ADDRESS = (
    r"(?:(?:[1-9]|1[1-9]|[2-9]\d|1[01]\d|12[0-689]|1[3-6]\d|17[0-13-9]|18\d|19[013-9]|2[0-3]\d)\.\d{1,3}"
    r"|192\.(?:\d\d?|1[0-57-9]\d|16[0-79]|2\d\d)|172\.(?:\d|1[0-5]|3[2-9]|[4-9]\d|[12]\d\d))(?:\.\d{1,3}){2}"
)
"""A bare address that is nobody's own network, as a pattern: `{public_address}` in a rule's `pattern`."""
_KNOWN_AS = {
    "t.me": "telegram",
    "discord.gg": "discord",
    "wa.me": "whatsapp",
    "youtu.be": "youtube",
    "goo.gl": "google",
    "googleapis.com": "google",
    "dropboxapi.com": "dropbox",
    "hubapi.com": "hubspot",
    "microsoftonline.com": "microsoft",
    "zohoapis.com": "zoho",
    "bsky.social": "bluesky",
    "x.com": "twitter",
}
"""Domains of services that go by another name."""
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,20}:/{2,}")
_AUTHORITY = re.compile(r"[^/?#\\\s\"'<>|]*")
_NAME = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?\.?")
_NUMBERS = re.compile(r"(?:0x[0-9a-f]+|\d+)(?:\.(?:0x[0-9a-f]+|\d+)){0,3}\.?")
_NETWORKS = (
    "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 127.0.0.0/8 100.64.0.0/10 169.254.0.0/16 0.0.0.0/8 ::1/128 fc00::/7 "
    "fe80::/10 ::/128"
)
_OWN_NETWORKS = tuple(map(ip_network, _NETWORKS.split()))


def host_of(address: str) -> str:
    """The host of an address in lower case, as a client would reach it; empty where there is none to be known.

    Name and password before an `@` go, as do the port and a dot at the end. Numbers in any notation become an IP address.
    """
    scheme = _SCHEME.match(address)
    rest = address[scheme.end() if scheme else 0 :][:LONGEST_ADDRESS]
    found = _AUTHORITY.match(rest)
    authority = found.group().rpartition("@")[2] if found else ""
    return _plain_host(authority.lower())


def has_scheme(address: str) -> bool:
    """Whether the address says how it is reached, as in `https://`."""
    return _SCHEME.match(address) is not None


def kind_of_address(address: str) -> HostKind:
    """What is known of the host of an address; some repositories are as well known as vendors are."""
    host = host_of(address)
    kind = kind_of_host(host)
    if kind is HostKind.REPOSITORY:
        scheme = _SCHEME.match(address)
        place = address[scheme.end() if scheme else 0 :]
        leads_elsewhere = ".." in place or "%2e" in place.lower()
        if place.startswith(_PATHED_VENDORS) and not leads_elsewhere:
            return HostKind.VENDOR
    return kind


@lru_cache(maxsize=KNOWN_HOSTS)
def kind_of_host(host: str) -> HostKind:
    """What is known of a host, given as `host_of` gives it."""
    if not host:
        return HostKind.UNKNOWN
    number = _ip(host)
    if number is not None:
        return HostKind.LOCAL if any(number in network for network in _OWN_NETWORKS) else HostKind.THROWAWAY
    labels = host.split(".")
    if len(labels) == 1:
        return _OF_DOMAIN.get(host, HostKind.LOCAL)
    return next(filter(None, (_known(labels, start) for start in range(len(labels)))), HostKind.NAMED)


def gives_identity(address: str) -> bool:
    """Whether a machine in a cloud gets its own credentials there."""
    return host_of(address) in METADATA_HOSTS and _IDENTITY.search(address) is not None


def is_hidden_metadata(address: str) -> bool:
    """Whether the address of a cloud's metadata is written so that nobody recognises it."""
    host = host_of(address)
    return host in METADATA_HOSTS and host not in address.lower()


def owner_of(domain: str) -> str:
    """The name that the service at a domain goes by."""
    return _KNOWN_AS.get(domain, domain.partition(".")[0])


def is_named(domain: str, described: str) -> bool:
    """Whether a description names the owner of a domain: as a name or a service, because any word can be a domain too."""
    name = owner_of(domain)
    if domain in described.lower():
        return True
    named = re.finditer(
        rf"(?i)(?<![\w.-]){re.escape(name)}(?![\w-])(?P<service> (?:api|service|server|platform|account)\b)?", described
    )
    return any("-" in name or found["service"] or not found[0].islower() for found in named)


def domain_of(host: str) -> str:
    """The last two labels of a name, or the whole number."""
    labels = host.split(".")
    return host if labels[-1].isdigit() else ".".join(labels[-2:])


def is_same_owner(host: str, domains: tuple[str, ...]) -> bool:
    """Whether a host is one of these domains or a name below one."""
    return any(host == domain or host.endswith(f".{domain}") for domain in domains)


def _known(labels: list[str], start: int) -> HostKind | None:
    domain = ".".join(labels[start:])
    kind = _OF_DOMAIN.get(domain)
    return None if start and domain in _WHOLE_HOSTS else kind


@lru_cache(maxsize=KNOWN_HOSTS)
def _plain_host(authority: str) -> str:
    if authority.startswith("["):
        return _short(authority[1:].partition("]")[0])
    host = authority.partition(":")[0].rstrip(".")
    if UNKNOWN in host:
        known = host.rpartition(UNKNOWN)[2].lstrip(".")
        return known if known.count(".") and _NAME.fullmatch(known) else ""
    if _NUMBERS.fullmatch(host) and (number := _number(host)) is not None:
        return str(number)
    return host if _NAME.fullmatch(host) else ""


def _short(number: str) -> str:
    """An address of the new kind, or the old one that it stands for."""
    found = _ip(number)
    mapped = found.ipv4_mapped if isinstance(found, IPv6Address) else None
    return str(mapped) if mapped is not None else number


def _number(host: str) -> IPv4Address | None:
    """The address behind one to four numbers, each decimal, octal or hexadecimal, as `inet_aton` reads them."""
    parts = [_integer(part) for part in host.rstrip(".").split(".")]
    total = 0
    for place, part in enumerate(parts[:-1]):
        total += min(part, 255) << (24 - 8 * place)
    last = parts[-1]
    if len(parts) == 1 and last < 256:
        return None
    total += last
    return IPv4Address(total) if total < 1 << 32 else None


def _integer(text: str) -> int:
    if len(text) > 16:
        return 1 << 33
    if text.startswith("0x"):
        return int(text, 16)
    is_octal = text.startswith("0") and text.isdigit() and not set(text) & {"8", "9"}
    return int(text, 8) if is_octal else int(text)


def _ip(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host.partition("%")[0])
    except ValueError:
        return None
