"""What a skill declares that it needs, held against what its scripts do: a user agrees to the declaration."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from vskill_platform.scanning.tier1.configs.frontmatter import read_frontmatter
from vskill_platform.scanning.tier1.configs.reporting import LAYER
from vskill_platform.scanning.tier1.configs.structured import Entry
from vskill_platform.scanning.tier1.excerpts import make_excerpt
from vskill_platform.scanning.tier1.file_kinds import suffix_of
from vskill_platform.scanning.tier1.skill import (
    MARKDOWN_SUFFIXES,
    Fact,
    FactKind,
    Observation,
    Sighting,
    SkillUnderScan,
)

CHECKS = frozenset(["declares_less_than_it_does"])
_DECLARES = re.compile(r"(?im)^(?:allowed[-_]tools|permissions)\s*:")
_KEYS = frozenset(["allowed-tools", "allowed_tools", "permissions"])
_CAN_RUN = re.compile(
    r"(?i)bash|shell|terminal|python|node|script|exec|command|process|run|task|agent|code|\*|all\b|mcp__|full|system"
)
_CAN_REACH = re.compile(r"(?i)net|http|web|fetch|internet|url|api|outbound|browser|curl|remote|online")
_CAN_WRITE = re.compile(
    r"(?i)write|edit|modif|create|delet|manage|full|\*|all\b|bash|shell|exec|python|storage|output|generat|save"
)
_REACHES = frozenset([FactKind.SENDS, FactKind.REACHES, FactKind.DOWNLOADS])
_WRITES = frozenset([FactKind.WRITES])
_RUNS = frozenset([FactKind.RUNS, FactKind.EXECUTES, FactKind.EVALUATES])


def join_declarations(skill: SkillUnderScan, observations: Sequence[Observation]) -> Iterator[Sighting]:
    """Where scripts reach out and run programs, and what the skill declares has room for neither.

    What a text shows does not count, because it may be for the user to do.
    """
    head = skill.frontmatter
    if head is None or skill.skill_file is None or not _DECLARES.search(head.text):
        return
    facts = [seen for seen in observations if isinstance(seen, Fact) and suffix_of(seen.file) not in MARKDOWN_SUFFIXES]
    if not facts:
        return
    declared = [
        entry for entry in read_frontmatter(skill).entries if entry.names[:1] and entry.names[0].lower() in _KEYS
    ]
    if not declared:
        return
    words = " ".join(f"{' '.join(entry.names[1:])} {entry.value}" for entry in declared)
    reaches, runs = _first(facts, _REACHES), _first(facts, _RUNS)
    is_unexpected_reach = reaches is not None and not _CAN_REACH.search(words) and not _CAN_RUN.search(words)
    is_unexpected_run = runs is not None and not _CAN_RUN.search(words)
    is_strict = any(entry.names[0].lower() == "permissions" for entry in declared)
    writes = _first(facts, _WRITES) if is_strict and not _CAN_WRITE.search(words) else None
    beyond = [
        fact for fact in (reaches if is_unexpected_reach else None, runs if is_unexpected_run else None, writes) if fact
    ]
    if len(beyond) > 1 or (is_strict and beyond):
        yield _sighting(declared[0], beyond[0])


def _first(facts: Sequence[Fact], kinds: frozenset[FactKind]) -> Fact | None:
    return next((fact for fact in facts if fact.kind in kinds), None)


def _sighting(declared: Entry, fact: Fact) -> Sighting:
    excerpt = make_excerpt(f"{declared.names[0]}: {declared.value or '(nothing)'}, but {fact.kind} {fact.value}")
    return Sighting("declares_less_than_it_does", fact.file, fact.line, 1 if fact.line else 0, excerpt, LAYER)
