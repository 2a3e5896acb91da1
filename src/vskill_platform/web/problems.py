"""Errors as problem documents (RFC 9457): the same code and the same sentence as everywhere else."""

from __future__ import annotations

import math
from uuid import uuid4

import msgspec
import structlog
from litestar import Request, Response
from litestar.datastructures import State
from litestar.exceptions import HTTPException
from litestar.status_codes import (
    HTTP_400_BAD_REQUEST,
    HTTP_404_NOT_FOUND,
    HTTP_409_CONFLICT,
    HTTP_422_UNPROCESSABLE_ENTITY,
    HTTP_429_TOO_MANY_REQUESTS,
    HTTP_500_INTERNAL_SERVER_ERROR,
    HTTP_503_SERVICE_UNAVAILABLE,
)

from vskill_platform.domain.errors import (
    BindingUnavailable,
    CommitUnknown,
    Conflict,
    IllegalTransition,
    InvalidInput,
    InvalidRepositoryUrl,
    NotFound,
    RateLimited,
    RegistryUnreachable,
    ScannerUnavailable,
    SourceRefused,
    SourceUnreachable,
    StoreUnavailable,
    VskillError,
)
from vskill_platform.web.pages.errors import Told, error_page, wants_page
from vskill_platform.web.views import Problem

PROBLEM_TYPE = "application/problem+json"
_RETRY_S = 5
_log = structlog.get_logger(__name__)

_STATUSES: tuple[tuple[type[VskillError], int], ...] = (
    (RateLimited, HTTP_429_TOO_MANY_REQUESTS),
    (InvalidRepositoryUrl, HTTP_422_UNPROCESSABLE_ENTITY),
    (InvalidInput, HTTP_400_BAD_REQUEST),
    (NotFound, HTTP_404_NOT_FOUND),
    (SourceRefused, HTTP_422_UNPROCESSABLE_ENTITY),
    (Conflict, HTTP_409_CONFLICT),
    (IllegalTransition, HTTP_409_CONFLICT),
    (StoreUnavailable, HTTP_503_SERVICE_UNAVAILABLE),
    (CommitUnknown, HTTP_503_SERVICE_UNAVAILABLE),
    (SourceUnreachable, HTTP_503_SERVICE_UNAVAILABLE),
    (ScannerUnavailable, HTTP_503_SERVICE_UNAVAILABLE),
    (RegistryUnreachable, HTTP_503_SERVICE_UNAVAILABLE),
    (BindingUnavailable, HTTP_500_INTERNAL_SERVER_ERROR),
)


def answer_error(request: Request[object, object, State], error: Exception) -> Response[bytes] | Response[str]:
    """What is told of an error: a page to a person's browser, a problem document to everybody else."""
    told = _tell(request, error)
    headers = {"Cache-Control": "no-store"}
    if told.retry_after_s is not None:
        headers["Retry-After"] = str(told.retry_after_s)
    return error_page(request, told, headers=headers) if wants_page(request) else _answer(told, headers=headers)


def _tell(request: Request[object, object, State], error: Exception) -> Told:
    """What is told of an error; one that is nobody's fault but ours is logged and not described."""
    path = request.scope["path"]
    if isinstance(error, VskillError):
        told = Told(_status_of(error), error.code, error.message, _retry_after(error), near=_near(error))
        if told.status >= HTTP_500_INTERNAL_SERVER_ERROR:
            told = told._replace(request_id=_new_request_id())
            _log.error("request_failed", path=path, request_id=told.request_id, code=error.code, error=error.message)
        return told
    if isinstance(error, HTTPException):
        code = {404: "not_found", 405: "method_not_allowed", 413: "body_too_large"}.get(
            error.status_code, "invalid_input"
        )
        return Told(error.status_code, code, _describe(error))
    identity = _new_request_id()
    _log.error("request_failed", path=path, request_id=identity, exc_info=error)
    detail = f"Something went wrong here. The operator's log says what, under {identity}."
    return Told(HTTP_500_INTERNAL_SERVER_ERROR, "internal_error", detail, request_id=identity)


def _new_request_id() -> str:
    """What ties an answer to the line of the log that says more."""
    return uuid4().hex[:12]


def _near(error: VskillError) -> tuple[object, ...]:
    near = error.fields.get("near", ())
    return near if isinstance(near, tuple) else ()


def _describe(error: HTTPException) -> str:
    details = error.extra if isinstance(error.extra, list) else []
    told = "; ".join(f"{item.get('key', 'body')}: {item['message']}" for item in details if "message" in item)
    return told or error.detail


def _status_of(error: VskillError) -> int:
    return next((status for kind, status in _STATUSES if isinstance(error, kind)), HTTP_500_INTERNAL_SERVER_ERROR)


def _retry_after(error: VskillError) -> int | None:
    if not error.retryable:
        return None
    seconds = error.fields.get("retry_after_s", _RETRY_S)
    return max(1, math.ceil(seconds)) if isinstance(seconds, int | float) else _RETRY_S


def _answer(told: Told, *, headers: dict[str, str]) -> Response[bytes]:
    title = told.code.replace("_", " ").capitalize()
    problem = Problem(title=title, status=told.status, code=told.code, detail=told.detail)
    return Response(msgspec.json.encode(problem), status_code=told.status, media_type=PROBLEM_TYPE, headers=headers)
