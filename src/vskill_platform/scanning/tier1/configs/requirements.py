"""How a package that is asked for is reported: as a fact, and under the checks that it falls under."""

from __future__ import annotations

from collections.abc import Iterator

from vskill_platform.scanning.tier1.configs.packages import Requirement, judge_requirement, resembles
from vskill_platform.scanning.tier1.configs.reporting import Seen, Source
from vskill_platform.scanning.tier1.configs.structured import Entry
from vskill_platform.scanning.tier1.skill import FactKind


def report_requirement(source: Source, entry: Entry, requirement: Requirement | None) -> Iterator[Seen]:
    """What a requirement installs, and what is wrong with it."""
    if requirement is None:
        return
    if requirement.name:
        yield source.fact(FactKind.INSTALLS, entry, f"{requirement.registry}:{requirement.name}")
    for check in judge_requirement(requirement):
        shown = "" if entry.keys and not entry.keys[-1].isdecimal() else entry.value
        yield source.sighting(check, entry, shown=shown, detail=resembles(requirement))
