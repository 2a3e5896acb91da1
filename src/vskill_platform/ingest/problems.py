"""Making the problems of a SKILL.md that can be read all the same."""

from __future__ import annotations

from vskill_platform.domain.lint import Problem, ProblemSeverity


def error(code: str, *, line: int, message: str, fix: str) -> Problem:
    """A breach of the agent-skills specification."""
    return Problem(code=code, severity=ProblemSeverity.ERROR, line=line, message=message, fix=fix)


def warning(code: str, *, line: int, message: str, fix: str) -> Problem:
    """Something that the specification allows and that a reader should know."""
    return Problem(code=code, severity=ProblemSeverity.WARNING, line=line, message=message, fix=fix)
