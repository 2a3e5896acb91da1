"""Requests, counted by method, route and status. Labels hold routes and never paths, so that nobody can make more of them."""

from __future__ import annotations

from functools import lru_cache
from time import perf_counter

from litestar.types import HTTPScope
from prometheus_client import Counter, Histogram

from vskill_platform import metrics

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_NO_ROUTE = "none"


def count_request(scope: HTTPScope, *, status: int, began: float) -> None:
    """Count one request that has been answered; `began` is when, by `perf_counter`."""
    method = str(scope["method"])
    route = scope.get("path_template") or _NO_ROUTE
    requests, seconds = _children(method if method in _METHODS else "other", str(route), status)
    requests.inc()
    seconds.observe(perf_counter() - began)


@lru_cache(4096)
def _children(method: str, route: str, status: int) -> tuple[Counter, Histogram]:
    """The counters of these labels: looking them up by label is what costs."""
    return metrics.HTTP_REQUESTS.labels(method, route, str(status)), metrics.HTTP_SECONDS.labels(method)
