"""Query parameters that several routes take in the same form."""

from __future__ import annotations

import re

from litestar import Request
from litestar.datastructures import State

from vskill_platform.domain.errors import InvalidInput

MOST_SUBJECTS = 500
_SUBJECT = re.compile(r"[A-Za-z0-9._/@~-]{1,400}")


def read_parameters(request: Request[object, object, State], *allowed: str) -> dict[str, str]:
    """The parameters of a request, each given once. Raises InvalidInput for one that means nothing there."""
    given: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        if name not in allowed or name in given:
            raise InvalidInput(f"The parameters here are {', '.join(allowed)}, each at most once.")
        given[name] = str(value)
    return given


def read_subjects(name: str, given: dict[str, str]) -> frozenset[str] | None:
    """Ids or slugs with commas between; None where the parameter was not given."""
    if name not in given:
        return None
    subjects = [subject for subject in given[name].split(",") if subject]
    if not 1 <= len(subjects) <= MOST_SUBJECTS or not all(_SUBJECT.fullmatch(subject) for subject in subjects):
        raise InvalidInput(f"`{name}` has 1 to {MOST_SUBJECTS} names with commas between, each up to 400 characters.")
    return frozenset(subjects)
