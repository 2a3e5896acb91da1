"""Reads the prose of a skill once, for what its sentences say and for what comes together in its passages."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from vskill_platform.scanning.tier1.meaning.prose import prose_views
from vskill_platform.scanning.tier1.meaning.statements import statements_in, texts_of
from vskill_platform.scanning.tier1.meaning.strangers import count_mentions, strangers_in
from vskill_platform.scanning.tier1.meaning.tells import against_the_user
from vskill_platform.scanning.tier1.skill import Hit, Observation, SkillUnderScan


def read_prose(skill: SkillUnderScan) -> Iterator[Observation]:
    """What the rules over sentences and passages find."""
    rules = skill.ruleset.rules_by_check
    mentions = count_mentions(skill)
    for view in prose_views(skill):
        for text in texts_of(view.data):
            yield from statements_in(text, view, skill)
            for seen in chain(against_the_user(text, view, skill), strangers_in(text, view, skill, mentions)):
                yield from (Hit(rule, *seen[1:]) for rule in rules.get(seen.check, ()))
