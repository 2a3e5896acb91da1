"""Errors as problem documents (RFC 9457): the same code and the same sentence as everywhere else."""

from __future__ import annotations

import math

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
    TooManyStreams,
    VskillError,
)
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
    (TooManyStreams, HTTP_503_SERVICE_UNAVAILABLE),
    (SourceUnreachable, HTTP_503_SERVICE_UNAVAILABLE),
    (ScannerUnavailable, HTTP_503_SERVICE_UNAVAILABLE),
    (RegistryUnreachable, HTTP_503_SERVICE_UNAVAILABLE),
    (BindingUnavailable, HTTP_500_INTERNAL_SERVER_ERROR),
)


def answer_error(request: Request[object, object, State], error: Exception) -> Response[bytes]:
    """The problem document for an error; one that is nobody's fault but ours is logged and not described."""
    if isinstance(error, VskillError):
        status = _status_of(error)
        if status >= HTTP_500_INTERNAL_SERVER_ERROR:
            _log.error("request_failed", path=request.scope["path"], code=error.code, error=error.message)
        return _answer(status, error.code, error.message, retry_after_s=_retry_after(error))
    if isinstance(error, HTTPException):
        code = {404: "not_found", 405: "method_not_allowed", 413: "body_too_large"}.get(
            error.status_code, "invalid_input"
        )
        return _answer(error.status_code, code, _describe(error))
    _log.error("request_failed", path=request.scope["path"], exc_info=error)
    return _answer(
        HTTP_500_INTERNAL_SERVER_ERROR, "internal_error", "Something went wrong here. The operator's log says what."
    )


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


def _answer(status: int, code: str, detail: str, *, retry_after_s: int | None = None) -> Response[bytes]:
    problem = Problem(title=code.replace("_", " ").capitalize(), status=status, code=code, detail=detail)
    headers = {"Cache-Control": "no-store"}
    if retry_after_s is not None:
        headers["Retry-After"] = str(retry_after_s)
    return Response(msgspec.json.encode(problem), status_code=status, media_type=PROBLEM_TYPE, headers=headers)
