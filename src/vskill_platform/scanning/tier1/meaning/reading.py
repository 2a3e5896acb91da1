"""Reads prose once, for what its sentences say, what comes together in its passages and whom it gives things to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from vskill_platform.scanning.tier1.file_kinds import FileKind, Shape
from vskill_platform.scanning.tier1.meaning.concepts import concept
from vskill_platform.scanning.tier1.meaning.likeness import read_like_attacks
from vskill_platform.scanning.tier1.meaning.prose import prose_views
from vskill_platform.scanning.tier1.meaning.statements import statements_in, texts_of
from vskill_platform.scanning.tier1.meaning.strangers import Mentions, mentions_of, strangers_in, uploads_to_strangers
from vskill_platform.scanning.tier1.meaning.tells import against_the_user
from vskill_platform.scanning.tier1.skill import Hit, LimitHit, Observation, Sighting, SkillUnderScan
from vskill_platform.scanning.tier1.views.view import LineIndex, View

FOR_READERS = frozenset([FileKind.MARKDOWN, FileKind.HIDDEN, FileKind.DECODED])
_UPLOAD = b"curl "
"""What a file must have for commands in it to be looked at."""


def read_prose(skill: SkillUnderScan) -> Iterator[Observation]:
    """What the rules over sentences and passages find in what a skill has for readers, and in the comments of its code."""
    return read_views(chain(prose_views(skill), _code_views(skill)), skill)


def read_views(views: Iterable[View], skill: SkillUnderScan) -> Iterator[Observation]:
    """What those rules find in these views."""
    mentions: Mentions | None = None
    for view, text in texts_of(list(views)):
        yield from statements_in(text, view, skill)
        if view.kinds & FOR_READERS:
            mentions = mentions_of(skill)
            alike = read_like_attacks(text, view, skill) if not text.language else ()
            for seen in chain(against_the_user(text, view, skill), alike, strangers_in(text, view, mentions)):
                yield from _hits(seen, skill)
    for file in skill.files:
        if file.is_markdown and mentions is not None and _UPLOAD in file.encoded:
            for seen in uploads_to_strangers(file, mentions):
                yield from _hits(seen, skill)


def _hits(seen: Sighting | LimitHit, skill: SkillUnderScan) -> Iterator[Observation]:
    if isinstance(seen, LimitHit):
        yield seen
        return
    rules = skill.ruleset.rules_by_check.get(seen.check, ())
    yield from (Hit(rule, *seen[1:]) for rule in rules)


def _code_views(skill: SkillUnderScan) -> Iterator[View]:
    """Scripts and settings, for the rules over sentences that look there, where one of them can hit at all."""
    rules = [rule for rule in skill.ruleset.statement_rules if rule.applies_to & {FileKind.SCRIPT, FileKind.CONFIG}]
    for file in skill.files:
        data = file.encoded if file.shape is Shape.TEXT and FileKind.MARKDOWN not in file.kinds else b""
        if data and any(concept(name).is_in(data) for rule in rules for name in rule.says[-1].split("|")):
            yield View(file=file.path, layer="raw", kinds=file.kinds, data=data, locate=LineIndex(data).locate)
