"""What a SKILL.md gets wrong although it can be read: breaches of the specification, and things a reader should know."""

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


class Lint(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Whether a SKILL.md keeps the agent-skills specification to the letter, and what there is to mend."""

    strict_valid: bool
    problems: tuple[Problem, ...] = ()
