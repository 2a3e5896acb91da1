"""Errors as pages: what happened, and where to go from here. Machines get problem documents instead (web/surface/problems.py)."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import unquote

from litestar import Response
from litestar.status_codes import HTTP_404_NOT_FOUND, HTTP_410_GONE, HTTP_500_INTERNAL_SERVER_ERROR

from vskill_platform.web.pages.rendering import PageRequest, page

_MACHINES = ("/api/", "/static/", "/feeds/", "/git/")
_TITLES = {
    400: "That cannot be asked like this",
    401: "Sign in first",
    403: "That is not for you",
    404: "There is nothing at this address",
    405: "This page only takes what it offers",
    410: "This is no longer published",
    413: "That is more than this page takes",
    422: "That cannot be taken as it is",
    429: "That was too often",
    500: "Something went wrong here",
    503: "The registry cannot answer right now",
}
_SEARCHING = (HTTP_404_NOT_FOUND, HTTP_410_GONE)
_LONGEST_GUESS = 100


class Told(NamedTuple):
    """What is told of an error: to machines as a problem document, to people as a page."""

    status: int
    code: str
    detail: str
    retry_after_s: int | None = None
    request_id: str = ""
    near: tuple[object, ...] = ()


def wants_page(request: PageRequest) -> bool:
    """Whether an error is shown to a person: a browser asks for HTML, and not under an address for machines."""
    path = request.scope["path"]
    return "text/html" in request.headers.get("accept", "") and not path.startswith(_MACHINES)


def error_page(request: PageRequest, told: Told, *, headers: dict[str, str]) -> Response[str]:
    """The page for an error."""
    return page(
        request,
        "error.html",
        status_code=told.status,
        headers=headers,
        title=_TITLES.get(told.status, _TITLES[HTTP_500_INTERNAL_SERVER_ERROR if told.status >= 500 else 400]),
        status=told.status,
        code=told.code,
        detail=told.detail,
        retry_after_s=told.retry_after_s,
        request_id=told.request_id,
        near=told.near,
        offers_search=told.status in _SEARCHING,
        guess=_guess(request.scope["path"]),
    )


def _guess(path: str) -> str:
    """What somebody who came to a path may have looked for: the words of its last part."""
    last = unquote(path.rstrip("/").rpartition("/")[2])
    return " ".join(last.replace("-", " ").replace("_", " ").split())[:_LONGEST_GUESS]
