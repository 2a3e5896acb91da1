"""What belongs to one person: answers that nobody keeps and that no page of another origin may read.

A route that asks for a permission is personal, and so are the places that have only such routes, whatever answers there. An
answer to somebody who shows a session or a token may be about them, wherever it comes from: only their own browser keeps it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from litestar.types import Scope

_PLACES = ("/account", "/admin", "/login", "/logout", "/p", "/setup", "/api/v1/account", "/api/v1/admin")
_MARKS = "vskill_platform.marks"
_PERSONAL = "personal"
_SECRET_COOKIE = b"__Host-"
"""How the names of cookies begin that say who somebody is, whole or half signed in."""


def is_personal_place(path: str) -> bool:
    """Whether all that an address could answer with is personal."""
    return path.startswith(_PLACES) and any(path == place or path.startswith(f"{place}/") for place in _PLACES)


def shows_credential(headers: Mapping[bytes, bytes]) -> bool:
    """Whether a request says who makes it, true or not."""
    return b"authorization" in headers or has_session(headers)


def has_session(headers: Mapping[bytes, bytes]) -> bool:
    """Whether a request carries the cookie of a session, or of one that is half opened."""
    return _SECRET_COOKIE in headers.get(b"cookie", b"")


def prepare_marks(scope: Scope) -> None:
    """Give a request the place for its marks, before copies of it are made."""
    cast("dict[str, Any]", scope)[_MARKS] = set()


def mark_personal(scope: Scope) -> None:
    """Note that the answer to this request is personal."""
    cast("dict[str, Any]", scope).get(_MARKS, set()).add(_PERSONAL)


def is_marked_personal(scope: Scope) -> bool:
    """Whether somebody has noted that."""
    return _PERSONAL in cast("dict[str, Any]", scope).get(_MARKS, ())
