"""The environment variables that a program names."""

from __future__ import annotations

import ast
from itertools import islice

from vskill_platform.scanning.tier1.code.python.model import Module
from vskill_platform.scanning.tier1.code.python.notes import Notes
from vskill_platform.scanning.tier1.patterns import Pattern
from vskill_platform.scanning.tier1.skill import FactKind

MOST_VARIABLES = 100
_VARIABLE = Pattern(
    r"\b(?:environb?(?:\.(?:get|pop|setdefault)[ \t]*\(|\[)|getenvb?[ \t]*\()[ \t]*b?[\"']([A-Za-z_][A-Za-z0-9_]{1,63})[\"']"
)


def note_variables(notes: Notes, modules: list[Module]) -> None:
    """Note the variables that are asked for by name, at the head of the file: they are what it needs to be given."""
    for module in modules:
        place = module.tree.body[0] if module.tree.body else ast.Pass(lineno=1)
        for name in islice(_VARIABLE.groups(module.encoded), MOST_VARIABLES):
            notes.fact(FactKind.READS_ENVIRONMENT, place, module, name)
