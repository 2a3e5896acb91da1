"""Commands that do not stand in the source as they are: the rules for texts are tried on what they turn out to be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vskill_platform.domain.scan import Severity
from vskill_platform.scanning.tier1.code.python.analysis import Analysis
from vskill_platform.scanning.tier1.code.python.model import Site
from vskill_platform.scanning.tier1.code.python.values import UNKNOWN
from vskill_platform.scanning.tier1.file_kinds import FileKind
from vskill_platform.scanning.tier1.matching import matcher_for
from vskill_platform.scanning.tier1.skill import Hit, SkillUnderScan
from vskill_platform.scanning.tier1.views.view import WHOLE_FILE, View

SHORTEST = 8
_GRAVE = frozenset([Severity.HIGH, Severity.CRITICAL])


def note_disguised_commands(analysis: Analysis, skill: SkillUnderScan) -> None:
    """Note the commands that a rule would have caught, had they been written as they are run."""
    found: dict[str, Site] = {}
    for text, site in analysis.commands:
        known = text.replace(UNKNOWN, "x")
        if len(known) >= SHORTEST and known not in found and not _is_written(text, site.scope.module.source.text):
            found[known] = site
    for (_, site), is_grave in zip(found.items(), _are_grave(list(found), skill), strict=True):
        if is_grave:
            analysis.notes.sight("python_hidden_command", site.node, site.scope.module)


def _is_written(text: str, source: str) -> bool:
    """Whether all that is known of a command stands in the source, word for word."""
    return all(word in source for piece in text.split(UNKNOWN) for word in piece.split())


def _are_grave(texts: Sequence[str], skill: SkillUnderScan) -> Iterator[bool]:
    """Whether a rule that counts for much hits a command, for each of them."""
    kinds = frozenset([FileKind.ANY, FileKind.SCRIPT])
    views = [
        View(file="", layer="python", kinds=kinds, data=text.encode("utf-8", "replace"), locate=lambda _: WHOLE_FILE)
        for text in texts
    ]
    for seen in matcher_for(skill.ruleset).observe_each(views, limits=skill.limits):
        hits = (one for one in seen if isinstance(one, Hit))
        yield any(skill.ruleset.rules[hit.rule_id].severity in _GRAVE for hit in hits)
