"""Statements for databases that are put together from what somebody gives."""

from __future__ import annotations

import re

from vskill_platform.scanning.tier1.code.python import catalogue
from vskill_platform.scanning.tier1.code.python.checks.calls import ReadCall
from vskill_platform.scanning.tier1.code.python.values import FILE, FROM_USER, PARAMETER, TOOL, UNKNOWN

_STATEMENT = re.compile(
    r"\s*(?:select|insert|update|delete|replace|drop|alter|create|with|merge|call)\b", re.IGNORECASE
)
_IN_VALUE = re.compile(r"(?:=|<|>|\blike|\bin\s*\(|\bvalues\s*\(|,|\blimit)\s*['\"%]*\0|['\"%]\0", re.IGNORECASE)
_EXECUTORS = frozenset(["execute", "executemany", "executescript", "read_sql", "read_sql_query", "raw"])


def may_query(name: str) -> bool:
    """Whether a call of this name may hand a statement to a database."""
    return catalogue.last_of(name) in _EXECUTORS


def check_query(call: ReadCall) -> None:
    """Look at a call that may hand a statement to a database."""
    given = call.argument(0, "sql", "query", "statement")
    exposure = call.exposure(given)
    is_given = given.taint & FROM_USER and not given.taint & FILE
    if not is_given and not exposure:
        return
    statements = [text for text in given.texts if UNKNOWN in text and _STATEMENT.match(text)]
    if not statements:
        return
    is_value = any(_IN_VALUE.search(text) for text in statements)
    if exposure & TOOL or (exposure & PARAMETER and is_value):
        call.sight("python_exposed_query")
    elif is_value or exposure & PARAMETER:
        call.sight("python_query_of_argument")
