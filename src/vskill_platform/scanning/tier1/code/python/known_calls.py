"""A call of something with a name, as those see it who know what single functions give."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import NamedTuple

from vskill_platform.scanning.tier1.code.python.evaluation import Evaluator
from vskill_platform.scanning.tier1.code.python.model import Site
from vskill_platform.scanning.tier1.code.python.values import NOTHING, Value


class KnownCall(NamedTuple):
    """A call. `callee` is what is called, and `name` what it is known by; it may be empty."""

    evaluator: Evaluator
    site: Site
    callee: Value
    name: str

    @property
    def receiver(self) -> Value:
        """What the method belongs to; nothing where it is no method."""
        func = self.site.node.func
        return self.evaluator.value(func.value, self.site.scope) if isinstance(func, ast.Attribute) else NOTHING

    def argument(self, place: int, *names: str) -> Value:
        """One argument, by its place or by one of its names."""
        return self.evaluator.argument(self.site, place, *names)

    def positional(self) -> list[Value]:
        """The arguments that have no names."""
        return [self.evaluator.value(each, self.site.scope) for each in self.site.node.args]


Handler = Callable[[KnownCall], Value | None]
"""Tells what a call gives; None where it has nothing to say."""
