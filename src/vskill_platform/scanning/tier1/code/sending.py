"""Whether what leaves the machine is a secret, and whether the one who gets it has a right to it. The same for all languages."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from enum import StrEnum

from vskill_platform.scanning.tier1.code.hosts import UNKNOWN, HostKind, is_same_owner, kind_of_host
from vskill_platform.scanning.tier1.code.origins import Origin, Source
from vskill_platform.scanning.tier1.code.places import SecretKind, secret_at
from vskill_platform.scanning.tier1.code.printers import PRINTED
from vskill_platform.scanning.tier1.code.registries import NPM, PYPI


class Channel(StrEnum):
    """How something leaves."""

    BODY = "body"
    ADDRESS = "address"
    HEADER = "header"
    """Where clients put what they log in with."""
    FIELD = "field"
    """Where a service asks for its own key in an address or a body."""
    LABEL = "label"
    """Any other header."""
    COPY = "copy"
    """As a file, to another machine or a bucket: what people also do with their own."""
    NAME = "name"
    """In a name that is looked up."""


class Leak(StrEnum):
    """What leaves that should not."""

    SECRET = "secret"
    ENVIRONMENT = "environment"
    COPY = "copy"
    """A secret that is copied as a file, or to a host that only the running program knows."""
    KEY = "key"
    """The key of a well-known service, to another host."""
    MACHINE = "machine"
    HOME = "home"
    NAME = "name"
    """Anything of this, in a name that is looked up."""


LONGEST_FIELDS, LONGEST_NAME = 8_000, 60
SHORTEST_SERVICE = 3
"""Letters beyond which the name of a service in that of a host is not there by chance."""
_KEY_OWNERS: dict[str, tuple[str, ...]] = {
    "NPM_TOKEN": NPM,
    "PYPI_TOKEN": PYPI,
    "SSH_PRIVATE_KEY": (),
    "DATABASE_URL": (),
}
"""Keys that are not named after the service whose they are, or that log in at any server of their kind, and who issued them."""
_OWN = {
    "OPENAI": "openai.com azure.com openrouter.ai",
    "ANTHROPIC": "anthropic.com claude.ai openrouter.ai amazonaws.com",
    "CLAUDE": "anthropic.com claude.ai",
    "AWS": "amazonaws.com aws.amazon.com",
    "GITHUB": "github.com githubusercontent.com ghcr.io githubcopilot.com azure.com",
    "GH": "github.com githubusercontent.com ghcr.io githubcopilot.com azure.com",
    "GITLAB": "gitlab.com",
    "GOOGLE": "googleapis.com google.com",
    "GEMINI": "googleapis.com google.com",
    "GCP": "googleapis.com google.com",
    "AZURE": "azure.com microsoft.com windows.net microsoftonline.com",
    "STRIPE": "stripe.com",
    "SLACK": "slack.com",
    "DISCORD": "discord.com discordapp.com",
    "TELEGRAM": "telegram.org",
    "NOTION": "notion.com notion.so",
    "HF": "huggingface.co hf.co",
    "HUGGINGFACE": "huggingface.co hf.co",
    "SENDGRID": "sendgrid.com",
    "TWILIO": "twilio.com",
    "CLOUDFLARE": "cloudflare.com",
    "VERCEL": "vercel.com",
    "DIGITALOCEAN": "digitalocean.com",
    "SENTRY": "sentry.io",
    "LINEAR": "linear.app",
    "MISTRAL": "mistral.ai",
    "GROQ": "groq.com",
    "DEEPSEEK": "deepseek.com",
    "DATADOG": "datadoghq.com datadoghq.eu",
    "DD": "datadoghq.com datadoghq.eu",
    "REPLICATE": "replicate.com",
    "BINANCE": "binance.com binance.us",
    "COINBASE": "coinbase.com",
}
_OWN_DOMAINS = {word: tuple(domains.split()) for word, domains in _OWN.items()}
"""Services by the first word of the variables that their keys are kept in."""
_STORES = {"browser storage": SecretKind.LOGIN, "cookies": SecretKind.LOGIN}
"""What is no file. A page sends its own cookies to where it came from."""
_SECRET_NAME = re.compile(
    r"(?:TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|(?:PRIVATE|SECRET|ACCESS|ADMIN|MASTER|SERVICE|ROLE|DEPLOY)_KEY|CREDENTIAL|_PAT)S?$",
    re.IGNORECASE,
)
_DETAILS = frozenset(["host", "user", "system", "network"])
_GENERAL_WORDS = (
    "ACCESS API APP AUTH BASIC BEARER BOT CLIENT CONSUMER ID KEY LOGIN MY OAUTH PASSWORD PRIVATE PUBLIC REFRESH SECRET SERVICE "
    "SESSION TOKEN USER WEBHOOK"
)
_OF_ANYBODY = frozenset(_GENERAL_WORDS.split())
"""First words of variables that say what a key is for, and not whose it is."""
_WORDS_OF_KEYS = "token|key|auth|appid|secret|passw|pwd|credential|signature"
_NAME_OF_KEY = re.compile(_WORDS_OF_KEYS, re.IGNORECASE)
_FIELD = re.compile(
    rf"(?i)(?:^|[?&{{,\s\"'])[\w.-]{{0,20}}(?:{_WORDS_OF_KEYS})[\w.-]{{0,20}}[\"']?\s?[=:]\s?[\"']?(?:\w{{1,12}} )?{UNKNOWN}"
)
"""A name of a key, and behind it what only the running program knows: in an address, a body, or a line of a head."""
_SELF_HOSTED = {"GITLAB": "gitlab", "GITHUB": "github", "GH": "github", "SENTRY": "sentry"}
"""Services that companies run themselves, and what they call the machine."""


def has_field_of_key(text: str) -> bool:
    """Whether a text that leaves has a field in which a service asks for its own key."""
    return _FIELD.search(text[:LONGEST_FIELDS]) is not None


def is_field_of_key(name: str) -> bool:
    """Whether a field is named like one for a key."""
    return _NAME_OF_KEY.search(name[:LONGEST_NAME]) is not None


def goes_astray(variable: str, host: str) -> bool:
    """Whether a key that is named after a known service goes to a host of somebody else."""
    first, *others = variable.upper().split("_")
    domains = _OWN_DOMAINS.get(first)
    if domains is None or is_same_owner(host, domains):
        return False
    return not any(is_same_owner(host, _OWN_DOMAINS.get(word, ())) for word in others)


def is_service(word: str) -> bool:
    """Whether keys that are named so are those of a known service."""
    return word in _OWN_DOMAINS and len(word) > SHORTEST_SERVICE


def owner_named(variable: str) -> str:
    """Whose key a variable has, as its name says; empty where it only says what the key is for."""
    word = _first_word(variable)
    return "" if word in _OF_ANYBODY else word


def _first_word(variable: str) -> str:
    return variable.upper().partition("_")[0]


def leaks(origins: Collection[Origin], host: str, channel: Channel) -> Iterator[Leak]:
    """What should not leave for this host. An empty host is one that only the running program knows."""
    kind = kind_of_host(host)
    if kind is HostKind.LOCAL:
        return
    details = set[str]()
    is_encoded = any(source is Source.ENCODED for source, _ in origins)
    for source, detail in origins:
        if source is Source.SECRET:
            yield from _secret(detail, host, channel)
        elif source is Source.ENVIRONMENT:
            yield Leak.NAME if channel is Channel.NAME else Leak.ENVIRONMENT
        elif source is Source.HOME and channel is not Channel.COPY:
            yield Leak.HOME
        elif source is Source.VARIABLE and host:
            yield from _key(detail, host, channel, is_encoded=is_encoded)
        elif source is Source.MACHINE and detail in _DETAILS:
            details.add(detail)
    if (
        len(details) > (kind is not HostKind.THROWAWAY)
        and channel in {Channel.BODY, Channel.ADDRESS, Channel.FIELD, Channel.NAME}
        and host
    ):
        yield Leak.MACHINE


def _key(variable: str, host: str, channel: Channel, *, is_encoded: bool) -> Iterator[Leak]:
    """A key that goes to somebody else than whom it is named after: to log in with it there, only they can."""
    is_secret = _SECRET_NAME.search(variable) is not None
    owners = _KEY_OWNERS.get(variable)
    is_known = channel not in {Channel.LABEL, Channel.HEADER} and owners is not None
    is_hidden = channel is not Channel.HEADER and is_encoded and is_secret
    is_elsewhere = (is_hidden or is_known) and not is_same_owner(host, owners or ())
    is_own_server = channel is Channel.HEADER and _SELF_HOSTED.get(_first_word(variable)) in host.split(".")
    if is_elsewhere or (is_secret and not is_own_server and goes_astray(variable, host)):
        yield Leak.KEY


def _secret(path: str, host: str, channel: Channel) -> Iterator[Leak]:
    secret, printed = secret_at(path), PRINTED.get(path)
    kind = secret.kind if secret else _STORES.get(path, SecretKind.LOGIN if printed else SecretKind.KEY)
    owners = secret.owners if secret else printed.owners if printed else ()
    if is_same_owner(host, owners):
        return
    if channel is Channel.FIELD and kind is SecretKind.LOGIN and not owners:
        return
    is_strict = printed is not None and printed.is_theirs_alone and "git" not in host
    is_login = kind is not SecretKind.KEY if channel is Channel.HEADER else kind is SecretKind.LOGIN
    if channel in {Channel.HEADER, Channel.LABEL} and is_login and not (is_strict and host):
        # One's own token in the header of a request is how clients log in.
        return
    if channel is Channel.NAME:
        yield Leak.NAME
    elif channel is not Channel.COPY and host:
        yield Leak.SECRET
    elif host or kind is SecretKind.KEY:
        # To a host that the user fills in, only what never leaves a machine is worth a word.
        yield Leak.COPY
