"""Addresses as they may be printed: without the passwords and secrets in them."""

from __future__ import annotations

import re

HIDDEN = "***"
_LOGIN = re.compile(r"(?<=://)([^:@/]*):.*@", re.DOTALL)
_PARAMETER = re.compile(r"([?&][^=&]*(?:password|passwd|secret|token)[^=&]*=)[^&]*", re.IGNORECASE)
_PRIVATE_PATH = re.compile(r"^/p/[^/]+")


def hide_private_path(path: str) -> str:
    """The path of a request with the secret hidden by which a private path is found."""
    return _PRIVATE_PATH.sub(f"/p/{HIDDEN}", path)


def hide_password(url: str) -> str:
    """The address with every password in it hidden.

    It goes by signs and not by taking the address apart, since a password with `/`, `#` or `@` in it makes an address that
    does not come apart where it should. Rather too much is hidden than too little.
    """
    return _PARAMETER.sub(rf"\1{HIDDEN}", _LOGIN.sub(rf"\1:{HIDDEN}@", url))
