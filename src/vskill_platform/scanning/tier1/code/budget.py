"""How much work one skill's code may cost. Counted in steps, never in seconds: the same skill always gets the same report."""

from __future__ import annotations

MOST_STEPS = 250_000
LARGEST_SNIPPET = 1_000_000
"""Characters of one piece of code beyond which it is not read."""


class OutOfSteps(Exception):
    """The code would take more work than a scan does."""


class TooDeep(Exception):
    """The code nests further than its reader follows."""


class Budget:
    """Steps that are left."""

    __slots__ = ("_left",)

    def __init__(self, steps: int = MOST_STEPS) -> None:
        self._left = steps

    def spend(self, steps: int = 1) -> None:
        """Takes steps away. Raises OutOfSteps when none are left."""
        self._left -= steps
        if self._left < 0:
            raise OutOfSteps
