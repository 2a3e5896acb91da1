"""Visitors without an account: known by a random secret in a cookie of their own, and only by its hash to us."""

from __future__ import annotations

import re
import secrets
from typing import Any

from litestar import Request
from litestar.datastructures import Cookie, State

COOKIE = "visitor"
_AGE_S = 365 * 24 * 3600
_SECRET = re.compile(r"[A-Za-z0-9_-]{43}")


def visitor_of(request: Request[Any, Any, State]) -> str | None:
    """The visitor's secret, or None where the browser has sent none that could be ours."""
    given = request.cookies.get(COOKIE, "")
    return given if _SECRET.fullmatch(given) else None


def new_visitor() -> str:
    """A secret for a visitor who has none."""
    return secrets.token_urlsafe(32)


def visitor_cookie(request: Request[Any, Any, State], visitor: str) -> Cookie:
    """The cookie that keeps the secret: for this site alone, out of reach of scripts, and secure where the site is."""
    is_secure = request.scope["scheme"] == "https"
    return Cookie(key=COOKIE, value=visitor, path="/", max_age=_AGE_S, httponly=True, samesite="lax", secure=is_secure)
