"""The error that every other one descends from, and the tree of them all."""

from __future__ import annotations

from typing import ClassVar


class VskillError(Exception):
    """Something went wrong that the caller can be told about."""

    code: ClassVar[str] = "internal_error"
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, **fields: object) -> None:
        super().__init__(message)
        self.message = message
        self.fields: dict[str, object] = fields


def error_tree() -> list[type[VskillError]]:
    """Every error of the tree, parents before children, in the order of definition."""
    found: list[type[VskillError]] = []
    waiting: list[type[VskillError]] = [VskillError]
    while waiting:
        error = waiting.pop(0)
        found.append(error)
        waiting.extend(error.__subclasses__())
    return found
