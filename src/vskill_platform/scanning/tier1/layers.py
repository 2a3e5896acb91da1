"""Where a rule looks, for people who ask: in which views of a file, with which parser, by which engine."""

from __future__ import annotations

from vskill_platform.scanning.tier1 import matching
from vskill_platform.scanning.tier1.analysers import ANALYSERS, CHECKS, FINDERS, JOINERS, SEEN_WHILE_UNCOVERING
from vskill_platform.scanning.tier1.meaning import reading, statements
from vskill_platform.scanning.tier1.rules import Rule
from vskill_platform.scanning.tier1.views import reading as uncovering
from vskill_platform.scanning.tier1.yara_matching import LAYER

_PATTERNS = {matching.__name__, uncovering.__name__}
_SENTENCES = {statements.__name__, reading.__name__, uncovering.__name__}
_PLACES = [
    *((check.__name__, "structure") for check in CHECKS),
    *((check, "uncovering") for check in SEEN_WHILE_UNCOVERING),
    *((check, finder.name) for finder in FINDERS for check in finder.checks),
    *((check, joiner.name) for joiner in JOINERS for check in joiner.checks),
]
"""Checks, each with whatever reports it: some are reported by several, as a command is where a program starts a shell."""


def layers_of(rule: Rule) -> tuple[str, ...]:
    """The names of what the rule looks with, in the order in which they look."""
    if rule.check is not None:
        return tuple(dict.fromkeys(name for check, name in _PLACES if check == rule.check)) or ("prose",)
    if rule.pattern is None and not rule.says:
        return (LAYER,)
    looking = _SENTENCES if rule.says else _PATTERNS
    return tuple(name for name, analyse in ANALYSERS if analyse.__module__ in looking)
