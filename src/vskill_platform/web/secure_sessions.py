"""Where a session's cookie can be kept: for this host alone, over a connection that nobody listens to.

Browsers keep a `__Host-` cookie only where it is `Secure`, has the path `/` and no domain, and they take `Secure` cookies over
HTTPS and from the machine itself. So a neighbour on another subdomain cannot plant one, and signing in over plain HTTP from
elsewhere could not work: it is refused with the reason rather than lost without one. `Lax` and not `Strict`, because whoever
comes back from an OpenID provider comes from another site; what changes anything is held by its origin instead.
"""

from __future__ import annotations

from ipaddress import ip_address
from typing import Any

from litestar import Request
from litestar.datastructures import State

from vskill_platform.domain.errors import InsecureSignIn

SESSION_COOKIE = "__Host-session"


def require_secure(request: Request[Any, Any, State]) -> None:
    """Raise InsecureSignIn where a browser would not keep the cookie, before anybody types a password."""
    if request.scope["scheme"] != "https" and not _is_this_machine(request.url.hostname or ""):
        raise InsecureSignIn(
            "Signing in needs HTTPS: over plain HTTP a password could be read on its way, and browsers keep no session. "
            "Open the registry by its https:// address. If you do, the proxy in front of it is not believed: name it "
            "in the setting `trusted_proxies` and have it send X-Forwarded-Proto."
        )


def _is_this_machine(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
