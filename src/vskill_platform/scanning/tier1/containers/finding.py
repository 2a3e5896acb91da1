"""What the opening of containers has shown, as findings, together with what only a look at single files can tell."""

from __future__ import annotations

from collections.abc import Iterator

from vskill_platform.scanning.tier1.containers.members import Flaw
from vskill_platform.scanning.tier1.containers.svg import find_in_svg, is_svg
from vskill_platform.scanning.tier1.skill import LimitHit, Sighting, SkillUnderScan

CHECKS = frozenset(f"archive_{flaw}" for flaw in Flaw) | {
    "office_macro",
    "office_external_part",
    "pdf_starts_something",
    "pdf_carries_files",
    "archive_is_disguised",
    "office_hidden_text",
    "picture_is_archive",
    "picture_holds_code",
    "picture_has_a_trailer",
    "svg_script",
    "svg_hidden_text",
}


def find_in_containers(skill: SkillUnderScan) -> Iterator[Sighting | LimitHit]:
    """What is wrong with the containers of the skill, and with its vector graphics."""
    yield from skill.opening
    for file in skill.files:
        if is_svg(file):
            yield from find_in_svg(file)
