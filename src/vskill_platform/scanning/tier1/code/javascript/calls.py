"""A call as what is known of functions sees it, and the tables by which they are found."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from vskill_platform.scanning.tier1.code.javascript.values import NOTHING, Origin, Value

if TYPE_CHECKING:
    from vskill_platform.scanning.tier1.code.javascript.world import World


class Callback(NamedTuple):
    """What a function that is given to a call will be called with."""

    origins: frozenset[Origin]
    item: Value
    is_handler: bool
    place_of_item: int = 0


class Call(NamedTuple):
    """A call as the library sees it."""

    world: World
    callee: Value
    arguments: list[Value]
    at: int

    def argument(self, number: int) -> Value:
        """An argument, or nothing."""
        return self.arguments[number] if number < len(self.arguments) else NOTHING

    @property
    def receiver(self) -> Value:
        """What the method belongs to."""
        return self.callee.base or NOTHING


Handler = Callable[[Call], Value]
HANDLERS: dict[str, Handler] = {}
"""What is known of functions, by their paths."""
SOURCES: dict[str, Callable[[Call], frozenset[Origin]]] = {}
"""What functions hand to the callbacks that they are given, by their paths."""


def handles(paths: str) -> Callable[[Handler], Handler]:
    """Marks what stands for the functions of these paths."""

    def register(handler: Handler) -> Handler:
        HANDLERS.update(dict.fromkeys(paths.split(), handler))
        return handler

    return register
