"""The API about itself: the OpenAPI document, and a page to read it on."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import msgspec
from litestar import Response, get

from vskill_platform.web.api.describing import described
from vskill_platform.web.api.openapi import TAGS, api_document
from vskill_platform.web.pages.rendering import PageRequest, page


class ShownParameter(NamedTuple):
    """A parameter of an operation, in words."""

    name: str
    place: str
    takes: str
    told: str
    is_required: bool


class ShownError(NamedTuple):
    """An answer that is a problem."""

    status: str
    told: str


class ShownOperation(NamedTuple):
    """One operation, as the page shows it."""

    anchor: str
    method: str
    path: str
    summary: str
    told: str
    parameters: list[ShownParameter]
    body: str
    answer: str
    errors: list[ShownError]


class ShownGroup(NamedTuple):
    """The operations about one thing."""

    name: str
    told: str
    operations: list[ShownOperation]


@get(
    "/api/v1/openapi.json",
    summary="Show the OpenAPI document",
    tags=["reference"],
    opt=described({"openapi": "3.1.0", "info": {"title": "vskill-platform", "version": "0.1.0"}}),
)
async def show_openapi() -> dict[str, Any]:
    """This document."""
    return api_document()


@get("/api/v1/docs", include_in_schema=False)
async def show_api_page(request: PageRequest) -> Response[str]:
    """The same document for people."""
    return page(request, "api.html", about=api_document()["info"]["description"], groups=shown_groups())


@cache
def shown_groups() -> list[ShownGroup]:
    """The document in the order that people read it: by what operations are about."""
    shown: dict[str, list[ShownOperation]] = {name: [] for name in TAGS}
    for path, item in api_document()["paths"].items():
        for method, text in item.items():
            shown.setdefault(text["tags"][0], []).append(_show(path, method.upper(), text))
    return [ShownGroup(name, TAGS.get(name, ""), operations) for name, operations in shown.items() if operations]


def _show(path: str, method: str, text: dict[str, Any]) -> ShownOperation:
    answers = text["responses"]
    good = next(answer for status, answer in answers.items() if status.startswith("2"))
    return ShownOperation(
        anchor=f"{method.lower()}{path.replace('/', '-').replace('{', '').replace('}', '')}",
        method=method,
        path=path,
        summary=text.get("summary", ""),
        told=text.get("description", ""),
        parameters=[_show_parameter(parameter) for parameter in text.get("parameters", [])],
        body=_example_of(text.get("requestBody", {})),
        answer=_example_of(good),
        errors=[ShownError(status, answer["description"]) for status, answer in answers.items() if status >= "400"],
    )


def _show_parameter(parameter: dict[str, Any]) -> ShownParameter:
    return ShownParameter(
        name=parameter["name"],
        place=parameter["in"],
        takes=_takes(parameter["schema"]),
        told=parameter.get("description", ""),
        is_required=bool(parameter.get("required")),
    )


def _takes(schema: dict[str, Any]) -> str:
    """What a schema allows, in words."""
    for part in (schema, *schema.get("allOf", ())):
        if "$ref" in part:
            known = api_document()["components"]["schemas"][part["$ref"].rsplit("/", 1)[-1]]
            return ", ".join(map(str, known.get("enum", ()))) or _takes(known)
    if "enum" in schema:
        return ", ".join(map(str, schema["enum"]))
    if "minimum" in schema or "maximum" in schema:
        return (
            f"{schema.get('minimum', 0):,} to {schema['maximum']:,}"
            if "maximum" in schema
            else f"from {schema['minimum']:,}"
        )
    if "maxLength" in schema:
        return f"text, up to {schema['maxLength']:,} characters"
    return str(schema.get("type", "text"))


def _example_of(part: dict[str, Any]) -> str:
    for content in part.get("content", {}).values():
        for example in content.get("examples", {}).values():
            value = example["value"]
            return (
                value if isinstance(value, str) else msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
            )
    return ""
