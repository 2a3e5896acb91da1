"""Commands that do not stand in the source as they are: the rules for texts are tried on what they turn out to be."""

from __future__ import annotations

from vskill_platform.domain.scan import Severity
from vskill_platform.scanning.tier1.code.python.analysis import Analysis
from vskill_platform.scanning.tier1.code.python.values import UNKNOWN
from vskill_platform.scanning.tier1.file_kinds import FileKind
from vskill_platform.scanning.tier1.matching import matcher_for
from vskill_platform.scanning.tier1.skill import Hit, SkillUnderScan
from vskill_platform.scanning.tier1.views.view import WHOLE_FILE, View

SHORTEST = 8
MOST_COMMANDS = 50
_GRAVE = frozenset([Severity.HIGH, Severity.CRITICAL])


def note_disguised_commands(analysis: Analysis, skill: SkillUnderScan) -> None:
    """Note the commands that a rule would have caught, had they been written as they are run."""
    tried: set[str] = set()
    for text, site in analysis.commands:
        module = site.scope.module
        known = text.replace(UNKNOWN, "x")
        if len(known) < SHORTEST or known in tried or _is_written(text, module.source.text):
            continue
        tried.add(known)
        if len(tried) <= MOST_COMMANDS and _is_grave(known, skill):
            analysis.notes.sight("python_hidden_command", site.node, module)


def _is_written(text: str, source: str) -> bool:
    """Whether all that is known of a command stands in the source, word for word."""
    return all(word in source for piece in text.split(UNKNOWN) for word in piece.split())


def _is_grave(text: str, skill: SkillUnderScan) -> bool:
    kinds = frozenset([FileKind.ANY, FileKind.SCRIPT])
    data = text.encode("utf-8", "replace")
    view = View(file="", layer="python", kinds=kinds, data=data, locate=lambda _: WHOLE_FILE)
    hits = (seen for seen in matcher_for(skill.ruleset).observe(view, limits=skill.limits) if isinstance(seen, Hit))
    return any(skill.ruleset.rules[hit.rule_id].severity in _GRAVE for hit in hits)
