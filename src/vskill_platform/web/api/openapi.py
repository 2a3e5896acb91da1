"""The OpenAPI document, made from the routes themselves.

Litestar reads parameters and types from the handlers. What it cannot know is added here: that errors are problem documents,
which of them each route has, what headers answers carry, and the examples that routes give (`describing.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import msgspec
from litestar import Litestar, Router
from litestar.handlers import HTTPRouteHandler
from litestar.openapi.config import OpenAPIConfig
from litestar.openapi.spec import Tag
from litestar.routes import HTTPRoute
from litestar.types import ControllerRouterHandler

from vskill_platform import __version__
from vskill_platform.domain.errors import (
    AddressTooLong,
    BodyTooLarge,
    CrossSiteRefused,
    InvalidInput,
    RateLimited,
    StoreUnavailable,
    UnsupportedContentType,
    VskillError,
)
from vskill_platform.web.api.describing import DESCRIBED, Description
from vskill_platform.web.api.document_parts import HEADERS, NOT_MODIFIED, PROBLEM_SCHEMA, problem_answer, tidy_parameter
from vskill_platform.web.api.skill_descriptions import SKILL_DESCRIPTIONS
from vskill_platform.web.surface.problems import status_of

PREFIX = "/api/v1"
TAGS = {
    "submissions": "Handing in repositories, and what became of them.",
    "skills": "Published skills, their versions, files and reports.",
    "publishers": "Who has published skills, and what its members do with them.",
    "collections": "Lists of skills that publishers keep, public or behind a private path.",
    "account": "What belongs to whoever is signed in. Changing the account itself needs a session: no token does.",
    "reports": "Telling the operator what is wrong, and appealing decisions.",
    "trust": "What was blocked or turned down, and why.",
    "stats": "Figures.",
    "queue": "How the queue stands.",
    "live": "What happens, as it happens.",
    "external scans": "For programs that scan skills elsewhere: taking up scans, and saying what came of them.",
    "admin": "What people with a role do. Sign in, or send an API token as `Authorization: Bearer`.",
    "reference": "This document.",
}
_ANY = (InvalidInput, AddressTooLong, RateLimited, StoreUnavailable)
_WRITES = (CrossSiteRefused, BodyTooLarge, UnsupportedContentType)
_ABOUT = (
    "Reading needs no login, and pages of any origin may read. Every answer has `X-Request-Id` and says how the caller stands "
    "against its rate limit, as `RateLimit` and as `X-RateLimit-*`, where `Reset` is in seconds since 1970. Answers to GET have "
    "an `ETag`: send it as `If-None-Match`, and an answer that has not changed is 304. Every GET can be asked as HEAD. "
    "Errors are problem documents (RFC 9457) with a stable `code`."
)


class Operation(NamedTuple):
    """One route and method, its handler, and its part of the document."""

    path: str
    method: str
    handler: HTTPRouteHandler
    text: dict[str, Any]


@cache
def api_document() -> dict[str, Any]:
    """The document of the public API."""
    from vskill_platform.web.api.admin.routes import ADMIN_ROUTES
    from vskill_platform.web.api.routes import API_ROUTES

    return make_document([*API_ROUTES, *ADMIN_ROUTES])


def make_document(routes: list[ControllerRouterHandler]) -> dict[str, Any]:
    """The document of these routes."""
    config = OpenAPIConfig(
        title="vskill-platform",
        version=__version__,
        description=_ABOUT,
        create_examples=False,
        use_handler_docstrings=True,
        tags=[Tag(name, description) for name, description in TAGS.items()],
    )
    app = Litestar([Router("/", route_handlers=routes)], openapi_config=config, logging_config=None)
    document: dict[str, Any] = app.openapi_schema.to_schema()
    document["components"]["schemas"]["ProblemDocument"] = PROBLEM_SCHEMA
    document["components"]["headers"] = {
        name: {"description": told, "schema": {"type": kind}} for name, kind, told in HEADERS
    }
    document["paths"] = {path: item for path, item in document["paths"].items() if path.startswith(PREFIX)}
    for operation in operations_of(app, document):
        _correct(operation)
    return document


def operations_of(app: Litestar, document: dict[str, Any]) -> Iterator[Operation]:
    """Every operation of the document, with its handler."""
    for route in app.routes:
        if not isinstance(route, HTTPRoute) or not route.path.startswith(PREFIX):
            continue
        for handler in route.route_handlers:
            for method in handler.http_methods:
                text = document["paths"].get(route.path_format, {}).get(method.lower())
                if text is not None:
                    yield Operation(route.path_format, str(method), handler, text)


def _correct(operation: Operation) -> None:
    text = operation.text
    description = operation.handler.opt.get(DESCRIBED) or SKILL_DESCRIPTIONS.get(operation.handler.fn.__name__)
    answers = {status: answer for status, answer in text["responses"].items() if status.startswith("2")}
    for status in description.also if description else ():
        answers[str(status)] = dict(next(iter(answers.values())))
    for answer in answers.values():
        _complete(answer, description, is_read=operation.method == "GET")
    if operation.method == "GET":
        answers["304"] = NOT_MODIFIED
    text["responses"] = {**answers, **dict(_errors(operation, description))}
    text["parameters"] = [tidy_parameter(parameter) for parameter in text.get("parameters", [])]
    if description and description.body is not None:
        _add_example(text["requestBody"], description.body)


def _complete(answer: dict[str, Any], description: Description | None, *, is_read: bool) -> None:
    wanted = [name for name, _, _ in HEADERS if name != "Retry-After" and (is_read or name != "ETag")]
    answer["headers"] = {name: {"$ref": f"#/components/headers/{name}"} for name in wanted} | answer.get("headers", {})
    answer["description"] = "Done." if not is_read else "What was asked for."
    if description and description.types:
        answer["content"] = {kind: {"schema": {}} for kind in description.types}
    if description:
        _add_example(answer, description.example)


def _add_example(part: dict[str, Any], example: object) -> None:
    for content in part.get("content", {}).values():
        content["examples"] = {"example": {"value": msgspec.to_builtins(example)}}


def _errors(operation: Operation, description: Description | None) -> Iterator[tuple[str, dict[str, Any]]]:
    own = description.errors if description else ()
    general = _ANY if operation.method == "GET" else (*_ANY, *_WRITES)
    by_status: dict[int, list[type[VskillError]]] = {}
    for error in dict.fromkeys([*own, *general]):
        by_status.setdefault(status_of(error), []).append(error)
    for status, errors in sorted(by_status.items()):
        yield str(status), problem_answer(status, errors)
