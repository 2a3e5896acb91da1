"""What the readers of code see in a skill made of these files."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tests.scanning.building import HEAD
from vskill_platform.domain.content import SkillFile, make_content
from vskill_platform.scanning.limits import ScanLimits
from vskill_platform.scanning.tier1.code.javascript.finder import find_javascript_flows
from vskill_platform.scanning.tier1.code.shell.finder import find_shell_flows
from vskill_platform.scanning.tier1.rules import Ruleset
from vskill_platform.scanning.tier1.skill import Fact, FactKind, LimitHit, Sighting, SkillUnderScan, file_under_scan

Seen = list[Sighting | Fact | LimitHit]
Find = Callable[[SkillUnderScan], Iterable[Sighting | Fact | LimitHit]]


def under_scan(files: dict[str, str | bytes]) -> SkillUnderScan:
    """A skill as finders see it."""
    given = {"SKILL.md": HEAD, **files}
    kept = [
        SkillFile(path=path, content=body if isinstance(body, bytes) else body.encode()) for path, body in given.items()
    ]
    return SkillUnderScan(
        content=make_content(kept),
        files=tuple(file_under_scan(file) for file in kept),
        ruleset=Ruleset(rules={}, version="none"),
        limits=ScanLimits(),
    )


def in_shell(text: str, *, path: str = "run.sh", others: dict[str, str | bytes] | None = None) -> Seen:
    """What is seen in shell code."""
    return list(find_shell_flows(under_scan({path: text, **(others or {})})))


def in_javascript(text: str, *, path: str = "run.js", others: dict[str, str | bytes] | None = None) -> Seen:
    """What is seen in JavaScript."""
    return list(find_javascript_flows(under_scan({path: text, **(others or {})})))


def checks_of(seen: Seen) -> set[str]:
    """The names of the checks that saw something."""
    return {one.check for one in seen if isinstance(one, Sighting)}


def limits_of(seen: Seen) -> set[str]:
    """The limits that were hit."""
    return {one.name for one in seen if isinstance(one, LimitHit)}


def facts_of(seen: Seen, kind: FactKind) -> set[str]:
    """The facts of one kind."""
    return {one.value for one in seen if isinstance(one, Fact) and one.kind is kind}
