"""A call with what is known of it, as the checks see it."""

from __future__ import annotations

import ast
from typing import NamedTuple

from vskill_platform.scanning.tier1.code.python import catalogue
from vskill_platform.scanning.tier1.code.python.evaluation import Evaluator
from vskill_platform.scanning.tier1.code.python.model import Module, Site, terminal
from vskill_platform.scanning.tier1.code.python.notes import Notes
from vskill_platform.scanning.tier1.code.python.values import EXPOSED, NOTHING, REQUEST, TOOL, Value
from vskill_platform.scanning.tier1.skill import FactKind


class ReadCall(NamedTuple):
    """A call of something known by `name`; where it has no full name, `name` is its last word with a dot before it."""

    evaluator: Evaluator
    notes: Notes
    site: Site
    callee: Value
    name: str

    @property
    def module(self) -> Module:
        """The module that the call stands in."""
        return self.site.scope.module

    @property
    def last(self) -> str:
        """The last word of the name."""
        return catalogue.last_of(self.name)

    @property
    def receiver(self) -> Value:
        """What the method belongs to; nothing where it is no method."""
        func = self.site.node.func
        return self.evaluator.value(func.value, self.site.scope) if isinstance(func, ast.Attribute) else NOTHING

    def argument(self, index: int, *names: str) -> Value:
        """One argument, by its place or by one of its names."""
        return self.evaluator.argument(self.site, index, *names)

    def keyword(self, *names: str) -> Value:
        """One argument, by its name alone."""
        return self.evaluator.argument(self.site, -1, *names)

    def arguments(self) -> list[Value]:
        """All arguments."""
        return self.evaluator.arguments(self.site)

    def exposure(self, value: Value) -> int:
        """Whether a value comes from a tool's or an exposed function's caller; a request counts where requests are served."""
        if value.taint & REQUEST and is_serving(self.module):
            return value.taint & EXPOSED | TOOL
        return value.taint & EXPOSED

    def sight(self, check: str) -> None:
        """Note that the call is what a check looks for."""
        self.notes.sight(check, self.site.node, self.module)

    def fact(self, kind: FactKind, value: str) -> None:
        """Note something that the call does."""
        self.notes.fact(kind, self.site.node, self.module, value)


def is_serving(module: Module) -> bool:
    """Whether a module has functions that answer requests."""
    if "serving" not in module.memo:
        marks = [mark for each in module.functions for mark in each.decorators]
        words = {terminal(mark.func if isinstance(mark, ast.Call) else mark) for mark in marks}
        module.memo["serving"] = bool(words & (catalogue.TOOL_MARKS | catalogue.METHOD_MARKS))
    return module.memo["serving"]
