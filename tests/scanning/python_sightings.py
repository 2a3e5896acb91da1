"""What the reader of Python says about files, for its tests."""

from __future__ import annotations

from pathlib import Path

from tests.scanning.building import make_skill
from vskill_platform.domain.content import SkillContent
from vskill_platform.scanning.limits import ScanLimits
from vskill_platform.scanning.tier1.code.python.finder import find_python_flows
from vskill_platform.scanning.tier1.rules import load_ruleset
from vskill_platform.scanning.tier1.skill import Fact, LimitHit, Sighting, SkillUnderScan, file_under_scan

Seen = list[Sighting | Fact | LimitHit]


def under_scan(content: SkillContent) -> SkillUnderScan:
    """The skill as finders see it."""
    files = tuple(file_under_scan(file) for file in content.files)
    return SkillUnderScan(content=content, files=files, ruleset=load_ruleset(), limits=ScanLimits())


def read(files: str | dict[str, str | bytes]) -> Seen:
    """All that is said about a script, or about several files."""
    given: dict[str, str | bytes] = {"tool.py": files} if isinstance(files, str) else files
    return list(find_python_flows(under_scan(make_skill(given))))


def checks(files: str | dict[str, str | bytes]) -> set[str]:
    """The names of the checks that something was seen under."""
    return {seen.check for seen in read(files) if isinstance(seen, Sighting)}


def limits(files: str | dict[str, str | bytes]) -> set[str]:
    """The limits that were hit."""
    return {seen.name for seen in read(files) if isinstance(seen, LimitHit)}


def facts(files: str | dict[str, str | bytes]) -> set[tuple[str, str]]:
    """The facts, without their places."""
    return {(seen.kind.value, seen.value) for seen in read(files) if isinstance(seen, Fact)}


def samples(name: str) -> list[tuple[str, str, dict[str, str | bytes]]]:
    """The samples of a file in `data`: behind `=== check: title` stands a script, or several files behind `--- path`."""
    text = (Path(__file__).parent / "data" / f"{name}.txt").read_text(encoding="utf-8")
    found = []
    for block in text.split("=== ")[1:]:
        head, _, body = block.partition("\n")
        check, _, title = head.partition(": ")
        parts = body.split("--- ")
        files = {part.partition("\n")[0]: part.partition("\n")[2] for part in parts[1:]} or {"tool.py": body}
        found.append((check, title, dict[str, str | bytes](files)))
    return found
