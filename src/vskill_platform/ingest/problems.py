"""What is wrong with a SKILL.md that can be read all the same."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class ProblemSeverity(StrEnum):
    """Whether the specification forbids it, or it is only unwise."""

    ERROR = "error"
    WARNING = "warning"


class Problem(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One thing to mend. `line` counts from 1; 0 means the file as a whole. `code` is stable, for programs."""

    code: str
    severity: ProblemSeverity
    line: int
    message: str
    fix: str


def error(code: str, *, line: int, message: str, fix: str) -> Problem:
    """A breach of the agent-skills specification."""
    return Problem(code=code, severity=ProblemSeverity.ERROR, line=line, message=message, fix=fix)


def warning(code: str, *, line: int, message: str, fix: str) -> Problem:
    """Something that the specification allows and that a reader should know."""
    return Problem(code=code, severity=ProblemSeverity.WARNING, line=line, message=message, fix=fix)
