"""Parts of the OpenAPI document that are the same for every route."""

from __future__ import annotations

from typing import Any

from vskill_platform.domain.errors import VskillError
from vskill_platform.web.surface.problems import PROBLEM_TYPE

PRINTABLE = r"^[^\u0000-\u001f\u007f-\u009f]*$"
"""What the address of a request may hold: `surface/targets.py` refuses anything else."""

PATH_PARTS = {
    "account": "Id or login name of an account.",
    "alias": "A slug of one part, as there were once.",
    "identity": "The id.",
    "name": "The name.",
    "owner": "First part of the slug.",
    "path": "Path of the file in the skill, with slashes.",
    "provider": "Name of an external scanner.",
    "repo": "Second part of the slug.",
    "session": "Id of a session, as `ses_` and 24 digits.",
    "skill": "Last part of the slug.",
    "token": "Id of a token, as `tok_` and 24 digits.",
    "version": "A version, as 1.0.0.",
}
"""What the parts of a path mean where a route does not say."""

PROBLEM_SCHEMA: dict[str, Any] = {
    "type": "object",
    "title": "ProblemDocument",
    "description": "What went wrong, as RFC 9457 has it. `code` is stable; `detail` is for people.",
    "required": ["type", "title", "status", "code", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer", "minimum": 300, "maximum": 599},
        "code": {"type": "string", "pattern": "^[a-z0-9_]+$"},
        "detail": {"type": "string"},
    },
}
HEADERS: tuple[tuple[str, str, str], ...] = (
    ("ETag", "string", "What If-None-Match is asked with."),
    ("X-Request-Id", "string", "What the operator's log knows the request by."),
    ("RateLimit-Policy", "string", "The limit that counts here, as the draft of the IETF has it."),
    ("RateLimit", "string", "How many are left of it, and in how many seconds all are back."),
    ("X-RateLimit-Limit", "integer", "How many there are."),
    ("X-RateLimit-Remaining", "integer", "How many are left."),
    ("X-RateLimit-Reset", "integer", "When all are back, in seconds since 1970."),
    ("Retry-After", "integer", "In how many seconds to try again."),
)
NOT_MODIFIED: dict[str, Any] = {
    "description": "The client has it already, by its If-None-Match.",
    "headers": {name: {"$ref": f"#/components/headers/{name}"} for name in ("ETag", "X-Request-Id")},
}


def problem_answer(status: int, errors: list[type[VskillError]]) -> dict[str, Any]:
    """The answer for errors that share a status."""
    codes = " or ".join(f"`{error.code}`" for error in errors)
    first = errors[0]
    example = {
        "type": "about:blank",
        "title": first.code.replace("_", " ").capitalize(),
        "status": status,
        "code": first.code,
        "detail": (first.__doc__ or "").strip().splitlines()[0],
    }
    headers = ["X-Request-Id", *(["Retry-After"] if any(error.retryable for error in errors) and status != 422 else [])]
    return {
        "description": f"{codes}: {example['detail']}",
        "headers": {name: {"$ref": f"#/components/headers/{name}"} for name in headers},
        "content": {
            PROBLEM_TYPE: {
                "schema": {"$ref": "#/components/schemas/ProblemDocument"},
                "examples": {"example": {"value": example}},
            }
        },
    }


def tidy_parameter(parameter: dict[str, Any]) -> dict[str, Any]:
    """A parameter as clients can send it: no null in an address, whole numbers as bounds, printable text."""
    schema = dict(parameter["schema"])
    choices = [choice for choice in schema.pop("oneOf", []) if choice.get("type") != "null"]
    if len(choices) == 1:
        schema = {**choices[0], **schema} if "$ref" not in choices[0] else {"allOf": choices, **schema}
    elif choices:
        schema["oneOf"] = choices
    if isinstance(schema.get("type"), list):
        schema["type"] = next(kind for kind in schema["type"] if kind != "null")
    if "enum" in schema:
        schema["enum"] = [word for word in schema["enum"] if word is not None]
    for bound in ("minimum", "maximum"):
        if bound in schema:
            schema[bound] = int(schema[bound])
    if schema.get("type") == "string" and "pattern" not in schema and "enum" not in schema:
        schema["pattern"] = PRINTABLE
    schema.pop("description", None)
    names = ("name", "in", "description", "required", "examples")
    kept: dict[str, Any] = {name: parameter[name] for name in names if name in parameter}
    kept.setdefault("description", PATH_PARTS.get(parameter["name"], ""))
    return {**kept, "schema": schema}
