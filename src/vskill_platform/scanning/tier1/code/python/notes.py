"""What is noted while a program is read: sightings by the name of a check, and facts. Each is told once a place."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from vskill_platform.scanning.tier1.code.python.fragments import is_fragment
from vskill_platform.scanning.tier1.code.python.model import Module
from vskill_platform.scanning.tier1.code.python.values import UNKNOWN
from vskill_platform.scanning.tier1.excerpts import make_excerpt
from vskill_platform.scanning.tier1.skill import Fact, FactKind, Sighting

LAYER = "python"
LONGEST_VALUE = 300
MOST_FACTS = 500
ATTACKS = frozenset(
    {
        "python_secret_sent",
        "python_environment_sent",
        "python_user_files_sent",
        "python_key_sent_elsewhere",
        "python_runs_fetched",
        "python_runs_decoded",
        "python_runs_asset",
        "python_hidden_call",
        "python_hidden_command",
        "python_reverse_shell",
        "python_persists",
        "python_persists_fetched",
        "python_gated",
        "python_encrypts_files",
        "python_destroys_files",
        "python_installs_elsewhere",
        "python_endless",
    }
)
"""What nobody does by mistake. In a text it is shown, and a person has to judge whether it is to be run."""
SHOWN = "python_attack_shown"
SHOWN_IN_PART = "python_fragment_shown"


class Notes:
    """Collects what was seen, in the order in which it was seen."""

    def __init__(self) -> None:
        self._sightings: dict[tuple[str, str, int], Sighting] = {}
        self._facts: dict[Fact, None] = {}

    def sight(self, check: str, node: ast.AST, module: Module) -> None:
        """Note that something was seen. In a fenced block only attacks count: it is no code that anybody calls."""
        if module.source.is_fenced:
            if check not in ATTACKS:
                return
            check = SHOWN_IN_PART if is_fragment(module) else SHOWN
        sighting = _sighting(check, node, module)
        self._sightings.setdefault((check, sighting.file, sighting.line), sighting)

    def fact(self, kind: FactKind, node: ast.AST, module: Module, value: str) -> None:
        """Note a fact. What the program alone knows is written as `*`."""
        shown = value.replace(UNKNOWN, "*")[:LONGEST_VALUE]
        if len(self._facts) < MOST_FACTS and shown.isprintable():
            line = module.source.line_in_file(getattr(node, "lineno", 1))
            self._facts.setdefault(Fact(kind, module.source.file, line, shown, LAYER))

    def __iter__(self) -> Iterator[Sighting | Fact]:
        yield from self._sightings.values()
        yield from self._facts

    def has(self, check: str, module: Module) -> bool:
        """Whether something was seen in the file of a module."""
        return any(name == check and file == module.source.file for name, file, _ in self._sightings)


def _sighting(check: str, node: ast.AST, module: Module) -> Sighting:
    source = module.source
    number = getattr(node, "lineno", 0)
    line = source.line_in_file(number) if number else 0
    lines = module.lines
    text = lines[number - 1] if 0 < number <= len(lines) else ""
    offset = getattr(node, "col_offset", 0)
    column = len(text.encode("utf-8", "replace")[:offset].decode("utf-8", "replace")) if text else 0
    return Sighting(check, source.file, line, column + 1 if line else 0, make_excerpt(text, start=column), LAYER)
