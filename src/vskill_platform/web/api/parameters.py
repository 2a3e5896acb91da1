"""What a request's parameters may be: stated once, told in the OpenAPI document, and held by the same words.

A parameter that a route does not have is refused with the names of those it has: a filter that is misspelled and ignored looks
like an answer. One that is given twice is refused as well, unless the route takes several.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from typing import Annotated, Any, NamedTuple

from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler
from litestar.params import PathParameter, QueryParameter
from litestar.typing import FieldDefinition

from vskill_platform.domain.errors import InvalidInput
from vskill_platform.ports.catalog import MAX_OFFSET, MAX_SEARCH_CHARS
from vskill_platform.ports.kv import MAX_KEY_BYTES

MAX_LIMIT = 500
DEFAULT_LIMIT = 50
MAX_URL_CHARS = 2000
MAX_NAME_CHARS = 200
MOST_SUBJECTS = 500
_SUBJECT = re.compile(r"[A-Za-z0-9._/@~-]{1,400}")


class Direction(StrEnum):
    """Which end of an order comes first."""

    ASC = "asc"
    DESC = "desc"


Limit = Annotated[int, QueryParameter(ge=1, le=MAX_LIMIT, description=f"Rows of a page, 1 to {MAX_LIMIT}.")]
Offset = Annotated[int, QueryParameter(ge=0, le=MAX_OFFSET, description="Rows to leave out before the page begins.")]
Search = Annotated[str, QueryParameter(name="q", max_length=MAX_SEARCH_CHARS, description="Words to look for.")]
SortDirection = Annotated[Direction, QueryParameter(name="sortDir", description="Which end comes first.")]
RepositoryUrl = Annotated[
    str,
    QueryParameter(name="repoUrl", max_length=MAX_URL_CHARS, description="Address of a repository, in any spelling."),
]
Cursor = Annotated[
    str | None,
    QueryParameter(max_length=2 * MAX_KEY_BYTES, description="Where the page before left off; none for the first."),
]
Identity = Annotated[str, PathParameter(min_length=1, max_length=100, description="Id, as `sub_` and 32 digits.")]


def read_subjects(name: str, given: str | None) -> frozenset[str] | None:
    """Ids or slugs with commas between; None where the parameter was not given."""
    if given is None:
        return None
    subjects = [subject for subject in given.split(",") if subject]
    if not 1 <= len(subjects) <= MOST_SUBJECTS or not all(_SUBJECT.fullmatch(subject) for subject in subjects):
        raise InvalidInput(f"`{name}` has 1 to {MOST_SUBJECTS} names with commas between, each up to 400 characters.")
    return frozenset(subjects)


async def refuse_unknown_parameters(connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler) -> None:
    """The guard of every route of the API. Raises InvalidInput, and names what is allowed."""
    if not connection.scope["query_string"]:
        return
    known = _parameters_of(handler)
    seen: set[str] = set()
    for name, value in connection.query_params.multi_items():
        if name not in known.all:
            allowed = f"Allowed are: {', '.join(known.all)}." if known.all else "None is allowed."
            raise InvalidInput(f"There is no parameter '{name[:64]}' here. {allowed}", parameter=name)
        if name in seen and name not in known.repeatable:
            raise InvalidInput(
                f"The parameter '{name}' is given more than once. Give each at most once.", parameter=name
            )
        if name in known.without_null and str(value).lower() == "null":
            raise InvalidInput(f"The parameter '{name}' cannot be null. Leave it out instead.", parameter=name)
        seen.add(name)


class _Known(NamedTuple):
    all: tuple[str, ...]
    repeatable: frozenset[str]
    without_null: frozenset[str]
    """Those that the framework would take the word `null` for nothing in."""


@lru_cache(1024)
def _parameters_of(handler: BaseRouteHandler) -> _Known:
    fields = handler.parsed_fn_signature.parameters
    found = {
        field.kwarg_definition.name or name: field
        for name, field in fields.items()
        if isinstance(field.kwarg_definition, QueryParameter)
    }
    repeatable = frozenset(name for name, field in found.items() if field.is_non_string_sequence)
    without_null = frozenset(name for name, field in found.items() if field.is_optional and not _takes_text(field))
    return _Known(tuple(found), repeatable, without_null)


def _takes_text(field: FieldDefinition) -> bool:
    return any(inner.annotation is str for inner in field.inner_types)
