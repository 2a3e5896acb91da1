"""A call with what is known of it, as the checks see it."""

from __future__ import annotations

import ast

from vskill_platform.scanning.tier1.code.python import catalogue
from vskill_platform.scanning.tier1.code.python.commands import Command, command_of
from vskill_platform.scanning.tier1.code.python.evaluation import Evaluator
from vskill_platform.scanning.tier1.code.python.model import Module, Site, terminal
from vskill_platform.scanning.tier1.code.python.notes import Notes
from vskill_platform.scanning.tier1.code.python.values import EXPOSED, NOTHING, REQUEST, TOOL, Value
from vskill_platform.scanning.tier1.skill import FactKind


class ReadCall:
    """A call of something known by `name`; where it has no full name, `name` is its last word with a dot before it.

    `last` is the last word of the name, `module` the one that the call stands in.
    """

    __slots__ = ("_commands", "callee", "evaluator", "last", "module", "name", "notes", "site")

    def __init__(self, evaluator: Evaluator, notes: Notes, site: Site, callee: Value, name: str) -> None:
        self.evaluator = evaluator
        self.notes = notes
        self.site = site
        self.callee = callee
        self.name = name
        self.last = catalogue.last_of(name)
        self.module: Module = site.scope.module
        self._commands: list[Command] | None = None

    @property
    def commands(self) -> list[Command]:
        """The commands that the call may start: where it is handed them by its function's callers, each of these too."""
        if self._commands is None:
            function, evaluator = self.site.scope.function, self.evaluator
            frames = evaluator.functions.frames_of(function) if function is not None else []
            found = [evaluator.within(each, self._command) for each in (evaluator.frame, *frames)]
            self._commands = list(dict.fromkeys(found))
        return self._commands

    def _command(self) -> Command:
        return command_of(self.evaluator, self.site, self.name)

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
