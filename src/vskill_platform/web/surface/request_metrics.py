"""Requests, counted by method, route and status."""

from __future__ import annotations

from time import perf_counter

from litestar.enums import ScopeType
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from vskill_platform import metrics

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_NO_ROUTE = "none"


def with_request_metrics(app: ASGIApp) -> ASGIApp:
    """The application, with every answer counted. Labels hold routes and never paths, so that nobody can make more of them."""

    async def counted(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != ScopeType.HTTP:
            await app(scope, receive, send)
            return
        started, status = perf_counter(), 500

        async def watch(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await app(scope, receive, watch)
        finally:
            given = str(scope.get("method", ""))
            method = given if given in _METHODS else "other"
            route = str(scope.get("path_template") or _NO_ROUTE)
            metrics.HTTP_REQUESTS.labels(method, route, str(status)).inc()
            metrics.HTTP_SECONDS.labels(method).observe(perf_counter() - started)

    return counted
