"""What is noted while a program is read: sightings by the name of a check, and facts. Each is told once a place."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from vskill_platform.scanning.limits import UNREAD_CODE
from vskill_platform.scanning.tier1.code.python.fragments import is_fragment
from vskill_platform.scanning.tier1.code.python.model import Module
from vskill_platform.scanning.tier1.code.python.values import UNKNOWN
from vskill_platform.scanning.tier1.excerpts import make_excerpt
from vskill_platform.scanning.tier1.skill import Fact, FactKind, LimitHit, Sighting

LAYER = "python"
LONGEST_VALUE = 300
MOST_FACTS = 5_000
"""Values of facts of one kind that are kept."""
MOST_PLACES = 100
"""Places of one check in one file that are told apart."""
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
        "python_plants_orders",
        "python_wipes_traces",
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
        self._counts: dict[tuple[str, str], int] = {}
        self._facts: dict[Fact, None] = {}
        self._values: dict[FactKind, set[tuple[str, str]]] = {}

    def sight(self, check: str, node: ast.AST, module: Module) -> None:
        """Note that something was seen. In a fenced block only attacks count: it is no code that anybody calls."""
        if module.source.is_fenced:
            if check not in ATTACKS:
                return
            check = SHOWN_IN_PART if is_fragment(module) else SHOWN
        source = module.source
        number = getattr(node, "lineno", 0)
        key = (check, source.file, source.line_in_file(number) if number else 0)
        counted = (check, source.file)
        if key not in self._sightings and self._counts.get(counted, 0) < MOST_PLACES:
            self._counts[counted] = self._counts.get(counted, 0) + 1
            self._sightings[key] = _sighting(check, node, module, line=key[2])

    def fact(self, kind: FactKind, node: ast.AST, module: Module, value: str) -> None:
        """Note a fact. What the program alone knows is written as `*`."""
        self.fact_at(kind, getattr(node, "lineno", 1), module, value)

    def fact_at(self, kind: FactKind, number: int, module: Module, value: str) -> None:
        """Note a fact on a line of a module."""
        shown = value.replace(UNKNOWN, "*")[:LONGEST_VALUE]
        fact = Fact(kind, module.source.file, module.source.line_in_file(number), shown, LAYER)
        if fact in self._facts or not shown.isprintable():
            return
        values = self._values.setdefault(kind, set())
        values.add((fact.file, shown))
        if len(values) <= MOST_FACTS:
            self._facts[fact] = None

    def __iter__(self) -> Iterator[Sighting | Fact | LimitHit]:
        yield from self._sightings.values()
        yield from self._facts
        if any(len(values) > MOST_FACTS for values in self._values.values()):
            yield LimitHit(UNREAD_CODE)


def _sighting(check: str, node: ast.AST, module: Module, *, line: int) -> Sighting:
    number = getattr(node, "lineno", 0)
    text = module.lines[number - 1] if 0 < number <= len(module.lines) else ""
    offset = getattr(node, "col_offset", 0)
    column = len(text.encode("utf-8", "replace")[:offset].decode("utf-8", "replace")) if text else 0
    excerpt = make_excerpt(text, start=column)
    return Sighting(check, module.source.file, line, column + 1 if line else 0, excerpt, LAYER)
