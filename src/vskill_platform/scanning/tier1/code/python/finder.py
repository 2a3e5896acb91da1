"""Finds what a skill's Python does. The one door to this package.

Text that names nothing dangerous and hides nothing is not even parsed. Nothing is ever compiled or run.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from vskill_platform.scanning.limits import UNREAD_CODE
from vskill_platform.scanning.tier1.code.python.analysis import Analysis
from vskill_platform.scanning.tier1.code.python.bounds import Refused
from vskill_platform.scanning.tier1.code.python.disguises import note_disguised_commands
from vskill_platform.scanning.tier1.code.python.evaluation import OutOfBudget
from vskill_platform.scanning.tier1.code.python.indexing import TooManyNodes, index_module
from vskill_platform.scanning.tier1.code.python.model import Program
from vskill_platform.scanning.tier1.code.python.notes import LAYER
from vskill_platform.scanning.tier1.code.python.parsing import Reading, read_python
from vskill_platform.scanning.tier1.code.python.selection import names_danger, select_sources
from vskill_platform.scanning.tier1.code.python.sources import (
    LARGEST_NOTEBOOK,
    PythonSource,
    is_notebook,
    python_sources,
)
from vskill_platform.scanning.tier1.code.python.variables import note_variables
from vskill_platform.scanning.tier1.code.shell.checks import HIDDEN_METADATA
from vskill_platform.scanning.tier1.excerpts import make_excerpt
from vskill_platform.scanning.tier1.skill import Fact, LimitHit, Sighting, SkillUnderScan

MOST_NODES = 200_000
MOST_LOST = 5
MOST_FRAMES = 8_000
CHECKS = frozenset(
    {
        "python_secret_sent",
        "python_environment_sent",
        "python_user_files_sent",
        "python_key_sent_elsewhere",
        "python_identity_sent",
        "python_unverified_send",
        "python_hides_address",
        HIDDEN_METADATA,
        "python_runs_fetched",
        "python_runs_decoded",
        "python_remote_argument",
        "python_hidden_call",
        "python_hidden_command",
        "python_replaces_builtin",
        "python_replaces_function",
        "python_reverse_shell",
        "python_persists",
        "python_persists_fetched",
        "python_plants_orders",
        "python_wipes_traces",
        "python_writes_agent_file",
        "python_gated",
        "python_evaluates_argument",
        "python_evaluates_data",
        "python_takes_places",
        "python_runs_asset",
        "python_shell_argument",
        "python_tool_shell_argument",
        "python_exposed_query",
        "python_query_of_argument",
        "python_tool_path",
        "python_confined_path",
        "python_unpickles_fetched",
        "python_unpickles_input",
        "python_endless",
        "python_runs_unasked",
        "python_installs_elsewhere",
        "python_destroys_files",
        "python_deletes_argument",
        "python_encrypts_files",
        "python_attack_shown",
        "python_fragment_shown",
        "python_unreadable",
        "python_unreadable_code",
        "python_strange_encoding",
    }
)
"""The names of all checks that this package reports under."""


def find_python_flows(skill: SkillUnderScan) -> Iterator[Sighting | Fact | LimitHit]:
    """What the Python of a skill does, and what of it could not be read."""
    if any(is_notebook(file) and len(file.content) > LARGEST_NOTEBOOK for file in skill.files):
        yield LimitHit(UNREAD_CODE)
    sources = list(python_sources(skill))
    yield from (_strange_encoding(source) for source in sources if source.encoding)
    chosen = select_sources(sources)
    if chosen:
        yield from _Reader(skill).read(chosen)


@contextmanager
def _room_on_the_stack() -> Iterator[None]:
    """Let questions within questions go as deep as the evaluator allows; its bound is far below the machine's own."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, MOST_FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


class _Reader:
    """Reads the chosen sources of one skill."""

    def __init__(self, skill: SkillUnderScan) -> None:
        self._skill = skill
        self._program = Program()
        self._left = MOST_NODES

    def read(self, sources: list[PythonSource]) -> Iterator[Sighting | Fact | LimitHit]:
        for source in sources:
            yield from self._take(source)
        analysis = Analysis(self._program, own_data=_own_data(self._skill))
        with _room_on_the_stack(), suppress(OutOfBudget, RecursionError):
            analysis.run()
        if not analysis.is_complete:
            yield LimitHit(UNREAD_CODE)
        note_disguised_commands(analysis, self._skill)
        note_variables(analysis.notes, self._program.modules)
        yield from analysis.notes
        analysis.evaluator.take_apart()
        self._program.take_apart()

    def _take(self, source: PythonSource) -> Iterator[Sighting | LimitHit]:
        try:
            reading = read_python(source)
            if reading is None:
                return
            module, met = index_module(source, reading.tree, most_nodes=self._left)
        except TooManyNodes:
            yield LimitHit(UNREAD_CODE)
            return
        except Refused:
            if not source.is_fenced:
                yield LimitHit(UNREAD_CODE)
            return
        self._left -= met
        self._program.add(module)
        yield from _lost(source, reading)


def _own_data(skill: SkillUnderScan) -> frozenset[str]:
    """The names of the skill's files that are no programs."""
    return frozenset(file.path.rpartition("/")[2] for file in skill.files if file.language is None)


def _lost(source: PythonSource, reading: Reading) -> Iterator[Sighting]:
    """What is said of lines that could not be read: it weighs more where they name something dangerous."""
    if source.is_fenced or not reading.lost:
        return
    lines = source.text.split("\n")
    named = [number for number in reading.lost if names_danger(lines[number - 1])]
    check = "python_unreadable_code" if named else "python_unreadable"
    for number in (named or list(reading.lost))[:MOST_LOST]:
        excerpt = make_excerpt(lines[number - 1])
        yield Sighting(check, source.file, source.line_in_file(number), 1, excerpt, LAYER)


def _strange_encoding(source: PythonSource) -> Sighting:
    return Sighting("python_strange_encoding", source.file, 1, 1, make_excerpt(source.encoding), LAYER)
