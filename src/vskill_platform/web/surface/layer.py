"""The layer itself: what a request has to pass before a route sees it, and how its answer leaves."""

from __future__ import annotations

import re
from typing import Any, cast
from uuid import uuid4

import structlog
from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPScope, Receive, Scope, Send

from vskill_platform.domain.errors import NotFound, VskillError
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.web.surface.answers import Answer
from vskill_platform.web.surface.headers import Header
from vskill_platform.web.surface.problems import Reply, make_problem
from vskill_platform.web.surface.rate_limits import RequestLimiter, rate_headers, tell_standing
from vskill_platform.web.surface.sharing import READS, is_preflight, preflight_headers, refuse_other_sites
from vskill_platform.web.surface.targets import address_without_slash, check_content_type, check_target
from vskill_platform.worker_context import request_env_storage

_UNCOUNTED = frozenset({"/healthz", "/readyz"})
"""What balances load asks these all the time, from one address."""
_HEAD = "vskill_platform.head"
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{8,64}")


class Surface:
    """An application with the layer around it, and the env in scope for the whole of each request."""

    def __init__(self, app: ASGIApp, env: WorkerEnv, *, limiter: RequestLimiter | None = None) -> None:
        self._app = app
        self._env = env
        self._limiter = limiter

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != ScopeType.HTTP:
            return
        asked = dict(scope["headers"])
        request_id = _request_id(asked)

        def extra() -> tuple[Header, ...]:
            rates = rate_headers(scope, now_ms=self._env.clock.now_ms())
            return ((b"x-request-id", request_id), *rates)

        answer = Answer(scope, send, asked=asked, extra=extra)
        try:
            reply = self._reply_at_once(scope, asked)
        except VskillError as error:
            reply = make_problem(error)
        if reply is not None:
            await reply.send(answer.send)
            return
        await self._pass_on(scope, receive, answer, request_id=request_id)

    def _reply_at_once(self, scope: HTTPScope, asked: dict[bytes, bytes]) -> Reply | None:
        """What is answered without a route; None where a route is to answer. Raises what the request is refused for."""
        method, path = scope["method"], scope["path"]
        if self._limiter is not None and path not in _UNCOUNTED:
            client = scope["client"]
            tell_standing(scope, self._limiter.take(client[0] if client else ""))
        raw_path, query = scope.get("raw_path") or path.encode(), scope["query_string"]
        check_target(raw_path, query)
        if is_preflight(method, asked):
            return Reply(204, preflight_headers(path, asked))
        place = address_without_slash(raw_path, query)
        if place is not None:
            if method not in READS:
                raise NotFound("There is nothing at an address with a slash at its end. Send this to the one without.")
            return Reply(308, ((b"location", place), (b"content-length", b"0")))
        refuse_other_sites(method, asked)
        check_content_type(method, path, asked)
        return None

    async def _pass_on(self, scope: HTTPScope, receive: Receive, answer: Answer, *, request_id: bytes) -> None:
        inner: Any = scope
        if scope["method"] == "HEAD":
            inner = {**scope, "method": "GET", _HEAD: True}
        hear = answer.hearing(receive) if scope["method"] in READS else receive

        async def run() -> None:
            structlog.contextvars.bind_contextvars(request=request_id.decode())
            await self._app(inner, hear, answer.send)

        try:
            await request_env_storage.run(self._env, run)
        finally:
            if inner is not scope and "path_template" in inner:
                cast("dict[str, Any]", scope)["path_template"] = inner["path_template"]


def is_head(scope: Scope) -> bool:
    """Whether a request that a route takes for a GET wants the headers alone."""
    return bool(cast("dict[str, Any]", scope).get(_HEAD))


def _request_id(asked: dict[bytes, bytes]) -> bytes:
    """The id that a proxy gave the request, where it is one; else one of ours."""
    given = asked.get(b"x-request-id")
    if given is not None and _REQUEST_ID.fullmatch(given):
        return given
    return uuid4().hex.encode()
