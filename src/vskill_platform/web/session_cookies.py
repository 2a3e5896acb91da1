"""The cookies of a session: the secret, out of reach of scripts and bound to this site, and a hint that there is one.

The hint says nothing of who somebody is. A page is the same for everybody, so that it can be kept; its script sees the hint and
asks for the account's menu.
"""

from __future__ import annotations

from litestar.datastructures import Cookie

from vskill_platform.accounts.signing_in import HALF_S, Browser
from vskill_platform.web.pages.rendering import PageRequest
from vskill_platform.web.secure_sessions import SESSION_COOKIE
from vskill_platform.web.surface.rate_limits import household
from vskill_platform.worker_context import current_env

HALF_COOKIE = "__Host-half"
HINT_COOKIE = "signed-in"


def browser_of(request: PageRequest) -> Browser:
    """What a request tells of the browser that signs in."""
    client = request.client
    return Browser(
        address=household(client.host if client else ""),
        user_agent=request.headers.get("user-agent", ""),
        previous=request.cookies.get(SESSION_COOKIE),
    )


def session_cookies(secret: str) -> list[Cookie]:
    """The cookies of a session that was opened; a half session is over."""
    lasts_s = int(current_env("settings").settings.session_longest_s)
    hint = Cookie(key=HINT_COOKIE, value="1", path="/", max_age=lasts_s, samesite="lax")
    return [secret_cookie(SESSION_COOKIE, secret, lasts_s=lasts_s), hint, secret_cookie(HALF_COOKIE, "", lasts_s=0)]


def half_cookie(secret: str) -> Cookie:
    """The cookie of a half session."""
    return secret_cookie(HALF_COOKIE, secret, lasts_s=int(HALF_S))


def ended_cookies() -> list[Cookie]:
    """What removes the cookies of a session."""
    hint = Cookie(key=HINT_COOKIE, value="", path="/", max_age=0, samesite="lax")
    return [secret_cookie(SESSION_COOKIE, "", lasts_s=0), hint]


def secret_cookie(name: str, secret: str, *, lasts_s: int) -> Cookie:
    """Always secure, as `__Host-` wants it: browsers take it over HTTPS, and on the machine itself."""
    return Cookie(key=name, value=secret, path="/", max_age=lasts_s, httponly=True, samesite="lax", secure=True)
