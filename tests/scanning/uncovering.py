"""Views to look at in tests: what one of them shows of a file."""

from __future__ import annotations

from tests.scanning.building import make_skill
from vskill_platform.domain.content import SkillContent
from vskill_platform.scanning.limits import ScanLimits
from vskill_platform.scanning.tier1.rules import load_ruleset
from vskill_platform.scanning.tier1.skill import LimitHit, Sighting, SkillUnderScan, file_under_scan
from vskill_platform.scanning.tier1.views.view import Uncovered, Uncoverer, View


def under_scan(content: SkillContent) -> SkillUnderScan:
    """The content as analysers see it."""
    files = tuple(file_under_scan(file) for file in content.files)
    return SkillUnderScan(content=content, files=files, ruleset=load_ruleset(), limits=ScanLimits())


def uncovered(uncover: Uncoverer, text: str | bytes, *, path: str = "notes.md") -> list[Uncovered]:
    """Everything that is made of a skill with this file."""
    return list(uncover(under_scan(make_skill({path: text}))))


def shown(uncover: Uncoverer, text: str | bytes, *, path: str = "notes.md", layer: str | None = None) -> str:
    """The texts of the views of this file, one after another."""
    views = [made for made in uncovered(uncover, text, path=path) if isinstance(made, View) and made.file == path]
    return "\n".join(view.data.decode() for view in views if layer in (None, view.layer))


def sighted(uncover: Uncoverer, text: str | bytes, *, path: str = "notes.md") -> list[str]:
    """The checks that were reported of this file while its views were made."""
    return [made.check for made in uncovered(uncover, text, path=path) if isinstance(made, Sighting)]


def limits_hit(uncover: Uncoverer, text: str | bytes, *, path: str = "notes.md") -> set[str]:
    """The limits that were hit on the way."""
    return {made.name for made in uncovered(uncover, text, path=path) if isinstance(made, LimitHit)}
