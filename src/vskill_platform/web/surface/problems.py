"""Errors as problem documents (RFC 9457): the same code and the same sentence as everywhere else."""

from __future__ import annotations

import math
from enum import Enum
from typing import Literal, NamedTuple, get_args, get_origin

import msgspec
import structlog
from litestar import Request
from litestar.datastructures import State
from litestar.exceptions import HTTPException
from litestar.types import Send

from vskill_platform.domain.errors import (
    AddressTooLong,
    AmbiguousPackage,
    AmbiguousSkillSlug,
    AnswerTooSlow,
    BindingUnavailable,
    BodyTooLarge,
    CommitUnknown,
    Conflict,
    CrossSiteRefused,
    ExternalScanOver,
    IllegalTransition,
    InsecureSignIn,
    InvalidInput,
    InvalidRepositoryUrl,
    LastAdministrator,
    LinkSpent,
    MethodNotAllowed,
    NameTaken,
    NotAllowed,
    NotFound,
    NotSupported,
    ProviderUnreachable,
    PushPending,
    RateLimited,
    RegistryBusy,
    RegistryUnreachable,
    RequestTooSlow,
    ScannerUnavailable,
    SignatureRefused,
    SignInFailed,
    SignInRequired,
    SkillMoved,
    SkillWithdrawn,
    SourceRefused,
    SourceUnreachable,
    StoreUnavailable,
    TooManyStreams,
    UnreadableSkill,
    UnsupportedContentType,
    VersionTaken,
    VersionYanked,
    VskillError,
)
from vskill_platform.domain.redaction import hide_private_path
from vskill_platform.web.surface.headers import Header
from vskill_platform.web.views import Problem

PROBLEM_TYPE = "application/problem+json"
PLAIN_PLACES = ("/clawhub/",)
"""Where the addresses of clients begin that show the body of an error to people."""
ERROR_CODE = b"x-error-code"
_RETRY_S = 5
_log = structlog.get_logger(__name__)

_STATUSES: tuple[tuple[type[VskillError], int], ...] = (
    (RateLimited, 429),
    (SignInRequired, 401),
    (InsecureSignIn, 403),
    (RequestTooSlow, 408),
    (AnswerTooSlow, 503),
    (SignInFailed, 401),
    (LinkSpent, 410),
    (NotAllowed, 403),
    (CrossSiteRefused, 403),
    (SignatureRefused, 403),
    (MethodNotAllowed, 405),
    (BodyTooLarge, 413),
    (AddressTooLong, 414),
    (UnsupportedContentType, 415),
    (InvalidRepositoryUrl, 422),
    (UnreadableSkill, 422),
    (InvalidInput, 400),
    (SkillMoved, 308),
    (SkillWithdrawn, 410),
    (VersionYanked, 410),
    (NotFound, 404),
    (VersionTaken, 409),
    (PushPending, 409),
    (AmbiguousSkillSlug, 409),
    (NotSupported, 422),
    (SourceRefused, 422),
    (SourceUnreachable, 422),
    (Conflict, 409),
    (ExternalScanOver, 409),
    (NameTaken, 409),
    (AmbiguousPackage, 409),
    (LastAdministrator, 409),
    (IllegalTransition, 409),
    (StoreUnavailable, 503),
    (CommitUnknown, 503),
    (TooManyStreams, 503),
    (ScannerUnavailable, 503),
    (RegistryUnreachable, 503),
    (RegistryBusy, 503),
    (ProviderUnreachable, 503),
    (BindingUnavailable, 500),
)
_OF_FRAMEWORK: dict[int, type[VskillError]] = {404: NotFound, 405: MethodNotAllowed, 413: BodyTooLarge}
_WORDS: dict[type[VskillError], str] = {
    NotFound: "There is nothing at this address.",
    BodyTooLarge: "The body is larger than this address takes, which for most is 16 KiB. Send less.",
    MethodNotAllowed: "This address does not take that method. The Allow header names those it takes.",
}


class Reply(NamedTuple):
    """A small answer that no route has made."""

    status: int
    headers: tuple[Header, ...] = ()
    body: bytes = b""

    async def send(self, send: Send) -> None:
        """Send it whole."""
        await send({"type": "http.response.start", "status": self.status, "headers": self.headers})
        await send({"type": "http.response.body", "body": self.body, "more_body": False})


def known_error(request: Request[object, object, State], error: Exception) -> VskillError:
    """The error as one of ours; one that is nobody's fault but ours is logged and not described."""
    if not isinstance(error, VskillError):
        return _as_ours(request, error)
    if status_of(type(error)) >= 500:
        _log.error(
            "request_failed", path=hide_private_path(request.scope["path"]), code=error.code, error=error.message
        )
    return error


def make_problem(error: VskillError) -> Reply:
    """The problem document for an error of ours."""
    status = status_of(type(error))
    title = error.code.replace("_", " ").capitalize()
    body = msgspec.json.encode(Problem(title=title, status=status, code=error.code, detail=error.message))
    return Reply(status, _headers(error, PROBLEM_TYPE, body), body)


def make_reply(error: VskillError, *, path: str) -> Reply:
    """What an error is answered with: a problem document, or plain text where the clients of a protocol show it as it is."""
    return make_plain(error) if is_plain_place(path) else make_problem(error)


def is_plain_place(path: str) -> bool:
    """Whether errors are told in plain text below this address."""
    return path.startswith(PLAIN_PLACES)


def make_plain(error: VskillError) -> Reply:
    """An error as a line of text; one that has a `document` for programs, as that. Its code is in a header."""
    document = error.fields.get("document")
    body = error.message.encode() if document is None else msgspec.json.encode(document)
    kind = "text/plain; charset=utf-8" if document is None else "application/json"
    headers = (*_headers(error, kind, body), (ERROR_CODE, error.code.encode()))
    return Reply(status_of(type(error)), headers, body)


def _headers(error: VskillError, media_type: str, body: bytes) -> tuple[Header, ...]:
    headers: list[Header] = [
        (b"content-type", media_type.encode()),
        (b"content-length", b"%d" % len(body)),
        (b"cache-control", b"no-store"),
    ]
    retry_after_s = retry_after(error)
    if retry_after_s is not None:
        headers.append((b"retry-after", b"%d" % retry_after_s))
    return tuple(headers)


def status_of(error: type[VskillError]) -> int:
    """The status that an error is answered with."""
    return next((status for kind, status in _STATUSES if issubclass(error, kind)), 500)


def _as_ours(request: Request[object, object, State], error: Exception) -> VskillError:
    """An error of the framework, or one that nobody expected, as one of ours."""
    if isinstance(error, HTTPException) and error.status_code < 500:
        kind = _OF_FRAMEWORK.get(error.status_code, InvalidInput)
        return kind(_WORDS.get(kind) or _describe(request, error))
    _log.error("request_failed", path=hide_private_path(request.scope["path"]), exc_info=error)
    return VskillError("Something went wrong here. The operator's log says what.")


def _describe(request: Request[object, object, State], error: HTTPException) -> str:
    details = error.extra if isinstance(error.extra, list) else []
    told = [_tell(request, str(item.get("key", "body")), item["message"]) for item in details if "message" in item]
    return "; ".join(told) or error.detail


def _tell(request: Request[object, object, State], name: str, message: str) -> str:
    """What is wrong with one value: under the name that the client gave it, and with the words that it may have."""
    handler = request.scope.get("route_handler")
    field = handler.parsed_fn_signature.parameters.get(name) if handler is not None else None
    if field is None:
        return f"{name}: {message}"
    own_name = getattr(field.kwarg_definition, "name", None) or name
    words = _allowed_words(field.annotation)
    return f"{own_name}: {message}" + (f". Allowed are: {', '.join(words)}." if words else "")


def _allowed_words(annotation: object) -> list[str]:
    """The words that a value of this type may be, where it is one of a few."""
    for kind in (annotation, *get_args(annotation)):
        if get_origin(kind) is Literal:
            return [str(word) for word in get_args(kind)]
        if isinstance(kind, type) and issubclass(kind, Enum):
            return [str(item.value) for item in kind]
    return []


def retry_after(error: VskillError) -> int | None:
    """After how many seconds it is worth trying again, where it is."""
    if not error.retryable:
        return None
    seconds = error.fields.get("retry_after_s", _RETRY_S)
    return max(1, math.ceil(seconds)) if isinstance(seconds, int | float) else _RETRY_S
