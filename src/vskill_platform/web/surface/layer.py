"""The layer itself: what a request has to pass before a route sees it, and how its answer leaves."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from secrets import token_hex
from time import perf_counter
from typing import Any, NamedTuple, cast

import structlog
from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPScope, Receive, Scope, Send

from vskill_platform.domain.errors import NotFound, VskillError
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.web.surface.answers import Answer, Whole
from vskill_platform.web.surface.compression import Compressor
from vskill_platform.web.surface.headers import Header
from vskill_platform.web.surface.kept_answers import KEPT, WAIT_LIMIT_S, Address, KeptAnswer, KeptAnswers
from vskill_platform.web.surface.personal import is_personal_place, prepare_marks, shows_credential
from vskill_platform.web.surface.problems import Reply, make_reply
from vskill_platform.web.surface.rate_limits import RequestLimiter, rate_headers, tell_standing
from vskill_platform.web.surface.request_metrics import count_request
from vskill_platform.web.surface.sharing import READS, is_preflight, preflight_headers, refuse_other_sites
from vskill_platform.web.surface.targets import address_without_slash, check_content_type, check_target
from vskill_platform.web.surface.time_limits import answer_too_slow, arriving_in_time
from vskill_platform.worker_context import request_env_storage

_UNCOUNTED = frozenset({"/healthz", "/readyz"})
"""What balances load asks these all the time, from one address."""
_HEAD = "vskill_platform.head"
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{8,64}")
_log = structlog.get_logger(__name__)


class _Making(NamedTuple):
    """An answer that is to be kept. `made` is there where others may wait for it."""

    address: Address
    sequence: int
    made: asyncio.Event | None


class Surface:
    """An application with the layer around it, and the env in scope for the whole of each request.

    With a limiter it is the public one: callers are counted, and so are requests, for the metrics.
    """

    def __init__(self, app: ASGIApp, env: WorkerEnv, *, limiter: RequestLimiter | None = None) -> None:
        self.app = app
        self._env = env
        self._limiter = limiter
        self._compressor = Compressor()
        self._kept = KeptAnswers()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != ScopeType.HTTP:
            return
        began = perf_counter()
        asked = dict(scope["headers"])
        prepare_marks(scope)
        request_id = _request_id(asked)

        def more_headers() -> tuple[Header, ...]:
            return ((b"x-request-id", request_id), *rate_headers(scope, now_ms=self._env.clock.now_ms()))

        answer = Answer(scope, send, asked=asked, compressor=self._compressor, more_headers=more_headers)
        try:
            await self._answer(scope, receive, answer, asked=asked, request_id=request_id)
        finally:
            if self._limiter is not None:
                count_request(scope, status=answer.status, began=began)

    async def _answer(
        self, scope: HTTPScope, receive: Receive, answer: Answer, *, asked: dict[bytes, bytes], request_id: bytes
    ) -> None:
        address = (asked.get(b"host", b""), scope["scheme"], scope.get("raw_path") or b"", scope["query_string"])
        sequence: int | None = None
        may_keep = scope["method"] in READS and not shows_credential(asked) and not is_personal_place(scope["path"])
        try:
            reply = self._reply_at_once(scope, asked)
            if reply is None and may_keep and self._kept.is_expected(address):
                sequence = await self._env.events.last_sequence()
        except VskillError as error:
            reply = make_reply(error, path=scope["path"])
        if reply is not None:
            await reply.send(answer.send)
        elif sequence is None:
            await self._pass_on(scope, receive, answer, request_id=request_id)
            if may_keep and answer.whole is not None and scope["route_handler"].opt.get(KEPT):
                self._kept.expect(address, route=scope.get("path_template") or "")
        else:
            await self._answer_kept(scope, receive, answer, address, sequence=sequence, request_id=request_id)

    async def _answer_kept(
        self, scope: HTTPScope, receive: Receive, answer: Answer, address: Address, *, sequence: int, request_id: bytes
    ) -> None:
        """Send what is kept or what another is just making; where there is neither, have the route make it."""
        making = None
        try:
            async with asyncio.timeout(WAIT_LIMIT_S):
                while (kept := self._find_kept(address, sequence)) is None and self._kept.is_expected(address):
                    making = self._kept.begin(address)
                    if making is not None:
                        break
                    await self._kept.wait(address)
        except TimeoutError:
            kept = None
        if kept is None:
            await self._make_kept(scope, receive, answer, _Making(address, sequence, making), request_id=request_id)
        else:
            cast("dict[str, Any]", scope)["path_template"] = self._kept.route(address)
            await answer.send_again(kept.whole)

    def _find_kept(self, address: Address, sequence: int) -> KeptAnswer | None:
        return self._kept.find(address, sequence=sequence, now_ms=self._env.clock.now_ms())

    async def _make_kept(
        self, scope: HTTPScope, receive: Receive, answer: Answer, making: _Making, *, request_id: bytes
    ) -> None:
        """Have a route answer, and keep the answer once it is made, before it is sent."""
        made_ms = self._env.clock.now_ms()

        def keep(whole: Whole) -> None:
            self._kept.keep(making.address, KeptAnswer(making.sequence, made_ms, whole))
            self._end(making)

        answer.when_whole = keep
        try:
            await self._pass_on(scope, receive, answer, request_id=request_id)
        finally:
            self._end(making)

    def _end(self, making: _Making) -> None:
        if making.made is not None:
            self._kept.end(making.address, making.made)

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
        refuse_other_sites(method, asked, scheme=scope["scheme"])
        check_content_type(method, path, asked)
        return None

    async def _pass_on(self, scope: HTTPScope, receive: Receive, answer: Answer, *, request_id: bytes) -> None:
        inner: Any = scope
        if scope["method"] == "HEAD":
            inner = {**scope, "method": "GET", _HEAD: True}

        settings = self._env.settings
        arriving = arriving_in_time(receive, limit_s=settings.arrival_time_limit_s)

        async def run() -> None:
            structlog.contextvars.bind_contextvars(request=request_id.decode())
            await self.app(inner, arriving, answer.send)

        try:
            limit_s = None if self._limiter is None else settings.answer_time_limit_s
            await self._run_in_time(run, answer, path=scope["path"], limit_s=limit_s)
        finally:
            if inner is not scope and "route_handler" in inner:
                cast("dict[str, Any]", scope).update({name: inner[name] for name in ("path_template", "route_handler")})

    async def _run_in_time(
        self, run: Callable[[], Awaitable[None]], answer: Answer, *, path: str, limit_s: float | None
    ) -> None:
        """Have the application answer; in the place of an answer that does not begin in time, say so."""
        try:
            async with asyncio.timeout(limit_s) as limit:
                answer.when_begun = lambda: limit.reschedule(None)
                await request_env_storage.run(self._env, run)
        except TimeoutError:
            if limit_s is None or not limit.expired():
                raise
            answer.when_begun = None
            _log.error("answer_too_slow", limit_s=limit_s)
            await make_reply(answer_too_slow(limit_s), path=path).send(answer.send)


def is_head(scope: Scope) -> bool:
    """Whether a request that a route takes for a GET wants the headers alone."""
    return bool(cast("dict[str, Any]", scope).get(_HEAD))


def _request_id(asked: dict[bytes, bytes]) -> bytes:
    """The id that a proxy gave the request, where it is one; else one of ours."""
    given = asked.get(b"x-request-id")
    if given is not None and _REQUEST_ID.fullmatch(given):
        return given
    return token_hex(16).encode()
