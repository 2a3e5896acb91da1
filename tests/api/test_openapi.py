"""The OpenAPI document: made from the routes, whole, and held to by them."""

from __future__ import annotations

from typing import Any

import httpx
import msgspec
import pytest
from jsonschema import Draft202012Validator
from litestar import Litestar, Router, get
from litestar.params import FromQuery
from litestar.routes import HTTPRoute

from vskill_platform.web.api.admin.routes import ADMIN_ROUTES
from vskill_platform.web.api.openapi import PREFIX, TAGS, api_document, make_document
from vskill_platform.web.api.reference import shown_groups
from vskill_platform.web.api.routes import API_ROUTES

DOCUMENT: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(api_document()))
OPERATIONS = [(path, method) for path, item in DOCUMENT["paths"].items() for method in item]


def resolve(part: Any) -> Any:
    """The part with what it refers to."""
    while "$ref" in part:
        node: Any = DOCUMENT
        for step in part["$ref"].removeprefix("#/").split("/"):
            node = node[step]
        part = node
    return part


def missing_of(document: dict[str, Any], path: str, method: str) -> list[str]:
    """What an operation lacks."""
    text = document["paths"][path][method]
    good = [answer for status, answer in text["responses"].items() if status.startswith("2")]
    contents = [content for answer in good for content in answer.get("content", {}).values()]
    problems = [answer for status, answer in text["responses"].items() if status >= "400"]
    parts = {
        "a summary": bool(text.get("summary")),
        "a description": bool(text.get("description")),
        "a tag that is known": bool(text.get("tags")) and set(text["tags"]) <= set(TAGS),
        "an example of the answer": bool(contents) and all(content.get("examples") for content in contents),
        "an example of the body": "requestBody" not in text
        or all(content.get("examples") for content in text["requestBody"]["content"].values()),
        "problem documents": all(list(answer["content"]) == ["application/problem+json"] for answer in problems),
        "the errors that any route has": {"400", "414", "429", "503"} <= set(text["responses"]),
        "304": method != "get" or "304" in text["responses"],
        "words for every parameter": all(parameter.get("description") for parameter in text["parameters"]),
    }
    return [name for name, is_there in parts.items() if not is_there]


def test_document_has_every_route_of_the_api__but_pages() -> None:
    app = Litestar([Router("/", route_handlers=[*API_ROUTES, *ADMIN_ROUTES])], openapi_config=None)
    routes = {
        (route.path_format, str(method).lower())
        for route in app.routes
        if isinstance(route, HTTPRoute) and route.path.startswith(PREFIX)
        for handler in route.route_handlers
        if handler.resolve_include_in_schema()
        for method in handler.http_methods
        if method != "OPTIONS"
    }
    assert routes == set(OPERATIONS)
    assert DOCUMENT["openapi"].startswith("3.1")


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_operation_says_all_of_itself(path: str, method: str) -> None:
    assert missing_of(DOCUMENT, path, method) == []


def test_route_that_says_nothing_of_itself_is_found_out() -> None:
    @get("/api/v1/mute")
    async def mute(word: FromQuery[str] = "") -> dict[str, str]:
        return {"word": word}

    missing = missing_of(make_document([mute]), "/api/v1/mute", "get")
    assert {"a description", "a tag that is known", "an example of the answer", "words for every parameter"} <= set(
        missing
    )


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_examples_are_what_the_schemas_say(path: str, method: str) -> None:
    text = DOCUMENT["paths"][path][method]
    parts = [*text["responses"].values(), *([text["requestBody"]] if "requestBody" in text else [])]
    for part in parts:
        for kind, content in part.get("content", {}).items():
            schema = {**content["schema"], "components": DOCUMENT["components"]}
            for example in content["examples"].values() if "json" in kind else ():
                Draft202012Validator(schema).validate(example["value"])


def test_parameters_are_in_camel_case__and_never_null() -> None:
    for path, method in OPERATIONS:
        for parameter in DOCUMENT["paths"][path][method]["parameters"]:
            assert "_" not in parameter["name"], (path, parameter["name"])
            assert "null" not in msgspec.json.encode(resolve(parameter["schema"])).decode(), (path, parameter["name"])


async def test_document_and_page_are_served__with_tags(client: httpx.AsyncClient) -> None:
    served = await client.get("/api/v1/openapi.json")
    assert (served.status_code, served.headers["Content-Type"], served.json()) == (200, "application/json", DOCUMENT)
    again = await client.get("/api/v1/openapi.json", headers={"If-None-Match": served.headers["ETag"]})
    assert again.status_code == 304
    page = await client.get("/api/v1/docs")
    assert (page.status_code, page.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    shown = [operation for group in shown_groups() for operation in group.operations]
    assert len(shown) == len(OPERATIONS)
    for operation in shown:
        assert f'id="{operation.anchor}"' in page.text
    assert "script-src 'self'" in page.headers["Content-Security-Policy"]
