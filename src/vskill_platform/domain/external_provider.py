"""Who is asked for a second opinion, and how a request gets to them: as the operator's settings say."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from vskill_platform.domain.errors import InvalidInput

REMOTE = "remote:"
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
_SECRET_START = "whsec_"
_FEWEST_SECRET_BYTES = 16


class Carrier(StrEnum):
    """How a request gets to whoever scans: a worker of ours runs it, a remote worker fetches it, or it is sent to one."""

    LOCAL = "local"
    PULL = "pull"
    PUSH = "push"


class Provider(NamedTuple):
    """An external scanner by its name. `url` and `secret` are those of one that requests are sent to."""

    name: str
    carrier: Carrier = Carrier.LOCAL
    url: str = ""
    secret: str = ""

    def __repr__(self) -> str:
        """Without the secret: a repr ends up in logs."""
        return f"Provider({self.name!r}, {self.carrier.value})"


def parse_providers(names: str, *, push: str, secrets: str) -> Mapping[str, Provider]:
    """The providers that three settings name, in their order. Raises InvalidInput that says which is wrong, never a secret."""
    urls, kept = _pairs("EXTERNAL_PUSH", push), _pairs("EXTERNAL_PUSH_SECRETS", secrets)
    providers: dict[str, Provider] = {}
    for entry in filter(None, (part.strip() for part in names.split(","))):
        name = _check_name("EXTERNAL_SCANNERS", entry.removeprefix(REMOTE))
        if not entry.startswith(REMOTE):
            providers[name] = Provider(name)
        elif name in urls:
            providers[name] = Provider(name, Carrier.PUSH, urls[name], kept.get(name, ""))
        else:
            providers[name] = Provider(name, Carrier.PULL)
    _check_push(providers, urls, kept)
    return providers


def _check_push(providers: Mapping[str, Provider], urls: Mapping[str, str], secrets: Mapping[str, str]) -> None:
    for name in urls:
        if name not in providers or providers[name].carrier is not Carrier.PUSH:
            raise InvalidInput(f"EXTERNAL_PUSH names '{name}'. List it as {REMOTE}{name} in EXTERNAL_SCANNERS too.")
        if not _is_secret(secrets.get(name, "")):
            raise InvalidInput(
                f"EXTERNAL_PUSH_SECRETS has no good secret for '{name}': write {name}={_SECRET_START} and the base64 of "
                f"{_FEWEST_SECRET_BYTES} random bytes or more."
            )
    unused = sorted(set(secrets) - set(urls))
    if unused:
        raise InvalidInput(f"EXTERNAL_PUSH_SECRETS has a secret for '{unused[0]}', which EXTERNAL_PUSH does not name.")


def _pairs(setting: str, text: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for entry in filter(None, (part.strip() for part in text.split(","))):
        name, sign, value = entry.partition("=")
        if not sign or not value.strip():
            raise InvalidInput(f"{setting} is a list of NAME=value with commas between.")
        pairs[_check_name(setting, name.strip())] = value.strip()
    return pairs


def _check_name(setting: str, name: str) -> str:
    if _NAME.fullmatch(name) is None:
        raise InvalidInput(
            f"{setting} has a name that is none: 1 to 40 small letters, digits, dots, dashes and underscores."
        )
    return name


def _is_secret(text: str) -> bool:
    try:
        return len(base64.b64decode(text.removeprefix(_SECRET_START), validate=True)) >= _FEWEST_SECRET_BYTES
    except (binascii.Error, ValueError):
        return False
