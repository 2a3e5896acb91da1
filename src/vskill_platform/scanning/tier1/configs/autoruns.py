"""Scripts of a skill that something starts by itself, held against what they do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from vskill_platform.scanning.tier1.code.hosts import domain_of, is_named
from vskill_platform.scanning.tier1.configs.reporting import LAYER
from vskill_platform.scanning.tier1.excerpts import make_excerpt
from vskill_platform.scanning.tier1.skill import Fact, FactKind, Observation, Sighting, SkillUnderScan

CHECKS = frozenset(["autorun_reaches_out"])
_REACHES = frozenset([FactKind.SENDS, FactKind.DOWNLOADS, FactKind.REACHES])


def join_autoruns(skill: SkillUnderScan, observations: Sequence[Observation]) -> Iterator[Sighting]:
    """Where a hook, an install script or a task starts a script of the skill that talks to other machines."""
    facts = [seen for seen in observations if isinstance(seen, Fact)]
    started = [fact for fact in facts if fact.kind is FactKind.EXECUTES and fact.layer == LAYER]
    if not started:
        return
    by_name: dict[str, list[str]] = {}
    for file in skill.files:
        by_name.setdefault(file.path.rpartition("/")[2], []).append(file.path)
    reaching: dict[str, Fact] = {}
    hosts: dict[str, set[str]] = {}
    for fact in facts:
        if fact.kind in _REACHES:
            reaching.setdefault(fact.file, fact)
        if fact.kind is FactKind.REACHES:
            hosts.setdefault(fact.file, set()).add(fact.value)
    for start in started:
        path = _file_meant(start, by_name)
        reached = reaching.get(path)
        if reached is not None and reached.layer != LAYER and not _is_told(skill, hosts.get(path, set())):
            excerpt = make_excerpt(f"{start.value}: {reached.kind} {reached.value}")
            detail = f"{path} is started by {start.file}, line {start.line}"
            yield Sighting("autorun_reaches_out", path, reached.line, 1 if reached.line else 0, excerpt, LAYER, detail)


def _is_told(skill: SkillUnderScan, hosts: Set[str]) -> bool:
    """Whether the description names whoever it talks to."""
    described = skill.frontmatter.text if skill.frontmatter else ""
    return bool(hosts) and all(is_named(domain_of(host), described) for host in hosts)


def _file_meant(start: Fact, by_name: dict[str, list[str]]) -> str:
    """The file of the skill that a command starts: the one whose path ends most like the one in the command."""
    parts = start.value.replace("\\", "/").strip("\"'").split("/")
    candidates = by_name.get(parts[-1], [])
    for count in range(len(parts), 0, -1):
        tail = "/".join(parts[-count:])
        found = [path for path in candidates if path == tail or path.endswith(f"/{tail}")]
        if len(found) == 1:
            return found[0]
    return ""
