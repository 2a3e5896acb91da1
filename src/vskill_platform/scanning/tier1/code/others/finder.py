"""Finds what programs do that are written in languages without a parser here. The one door to this package.

It knows calls, texts, names and blocks, and no grammar: a value is followed by its name within one file. That is enough for a
program that reads keys and sends them, fetches and runs, decodes and evaluates, or ties a shell to a connection.
"""

from __future__ import annotations

from collections.abc import Iterator

from vskill_platform.scanning.limits import UNREAD_CODE
from vskill_platform.scanning.tier1.code.budget import LARGEST_SNIPPET
from vskill_platform.scanning.tier1.code.others import sinks
from vskill_platform.scanning.tier1.code.others.catalogue import TONGUES, Tongue
from vskill_platform.scanning.tier1.code.others.deeds import Deed
from vskill_platform.scanning.tier1.code.others.flows import Flows
from vskill_platform.scanning.tier1.code.others.program import Program
from vskill_platform.scanning.tier1.code.others.sinks import Sinks
from vskill_platform.scanning.tier1.code.report import Report
from vskill_platform.scanning.tier1.patterns import compile_pattern
from vskill_platform.scanning.tier1.skill import Fact, LimitHit, Sighting, SkillUnderScan, Snippet

CHECKS = sinks.CHECKS
MOST_TEXT = 1_500_000
"""Characters of all such programs of a skill together."""
_IN_FILES_ALONE = frozenset(
    [
        sinks.SHELL_OF_ARGUMENT,
        sinks.SHELL_OF_INPUT,
        sinks.QUERY_OF_INPUT,
        sinks.QUERY_OF_ARGUMENT,
        sinks.EVALUATES_DATA,
        sinks.EVALUATES_INPUT,
        sinks.RUNS_DECODED,
        sinks.PERSISTS,
    ]
)
"""What is a fault in a program and only an example in a text."""
_NEEDED = (Deed.SEND, Deed.EVALUATE, Deed.RUN, Deed.SHELL, Deed.LOOKUP)


def find_other_flows(skill: SkillUnderScan) -> Iterator[Sighting | Fact | LimitHit]:
    """What the programs of a skill do that are in none of the languages with a parser."""
    left = MOST_TEXT
    for snippet in skill.snippets:
        if snippet.language not in TONGUES:
            continue
        left -= len(snippet.text)
        if left < 0 or len(snippet.text) > LARGEST_SNIPPET:
            yield LimitHit(UNREAD_CODE)
            continue
        yield from _read(snippet)


def _may_attack(text: str, tongue: Tongue) -> bool:
    """Whether a text has a call in it that an attack needs, so that examples of honest code cost little."""
    data = text.encode("ascii", "replace")
    return any(compile_pattern(tongue.deeds[deed]).is_in(data) for deed in _NEEDED if deed in tongue.deeds)


def _read(snippet: Snippet) -> Iterator[Sighting | Fact | LimitHit]:
    tongue = TONGUES[snippet.language]
    if snippet.is_fenced and not _may_attack(snippet.text, tongue):
        return
    report = Report(snippet.file, snippet.text, layer="others", first_line=snippet.first_line)
    program = Program(snippet.text, tongue)
    flows = Flows(program, tongue)
    if program.is_cut:
        yield LimitHit(UNREAD_CODE)
    if flows.deeds:
        flows.follow()
        Sinks(flows, report).weigh()
    for seen in report.all():
        if not (snippet.is_fenced and isinstance(seen, Sighting) and seen.check in _IN_FILES_ALONE):
            yield seen
