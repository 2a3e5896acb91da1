"""Reads views twice: by the rules that are patterns and by those about what sentences say."""

from __future__ import annotations

from collections.abc import Iterator

from vskill_platform.scanning.tier1.matching import pattern_analyser
from vskill_platform.scanning.tier1.meaning.reading import read_views
from vskill_platform.scanning.tier1.skill import Analyser, Observation, SkillUnderScan
from vskill_platform.scanning.tier1.views.view import JOINED, UNQUOTED, Uncoverer, View

CODE_LAYERS = frozenset([UNQUOTED, JOINED])
"""Layers in which there are no sentences."""


def uncovering_analyser(uncover: Uncoverer) -> Analyser:
    """The analyser that reads what is uncovered; what the file shows as it stands has been read there."""

    def observe_uncovered(skill: SkillUnderScan) -> Iterator[Observation]:
        made = list(uncover(skill))
        if not made:
            return
        yield from pattern_analyser(lambda _skill: iter(made))(skill)
        views = [view for view in made if isinstance(view, View) and view.layer not in CODE_LAYERS]
        yield from read_views([view.in_passages() if view.in_passages else view for view in views], skill)

    return observe_uncovered
