"""The environment variables that a program names."""

from __future__ import annotations

from itertools import islice

from vskill_platform.scanning.tier1.code.python.model import Module
from vskill_platform.scanning.tier1.code.python.notes import Notes
from vskill_platform.scanning.tier1.patterns import Pattern
from vskill_platform.scanning.tier1.skill import FactKind

MOST_VARIABLES = 100
_ASKED = Pattern(
    r"\b(?:environb?(?:\.(?:get|pop|setdefault)[ \t]*\(|\[)|getenvb?[ \t]*\()[ \t]*b?[\"'][A-Za-z_][A-Za-z0-9_]{1,63}[\"']"
)


def note_variables(notes: Notes, modules: list[Module]) -> None:
    """Note the variables that are asked for by name."""
    for module in modules:
        line, at = 1, 0
        for span in islice(_ASKED.spans(module.encoded), MOST_VARIABLES):
            line, at = line + module.encoded.count(b"\n", at, span.start), span.start
            asked = module.encoded[span.start : span.end - 1]
            name = asked[max(asked.rfind(b'"'), asked.rfind(b"'")) + 1 :]
            notes.fact_at(FactKind.READS_ENVIRONMENT, line, module, name.decode())
