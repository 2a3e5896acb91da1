"""Files as they stand, and the head of the SKILL.md for the rules that look at nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from vskill_platform.scanning.tier1.file_kinds import FileKind
from vskill_platform.scanning.tier1.skill import SkillUnderScan
from vskill_platform.scanning.tier1.views.view import FRONTMATTER, RAW, WHOLE_FILE, LineIndex, View, places_in


def raw_views(skill: SkillUnderScan) -> Iterator[View]:
    """Every file as it stands, whatever it is."""
    for file in skill.files:
        yield View(file=file.path, layer=RAW, kinds=file.kinds, data=file.encoded, locate=places_in(file))


def frontmatter_views(skill: SkillUnderScan) -> Iterator[View]:
    """The frontmatter of the SKILL.md."""
    if skill.skill_file is None or skill.frontmatter is None:
        return
    data = skill.frontmatter.text.encode()
    index = LineIndex(data, first_line=skill.frontmatter.first_line)
    yield View(
        file=skill.skill_file.path,
        layer=FRONTMATTER,
        kinds=frozenset({FileKind.FRONTMATTER}),
        data=data,
        locate=index.locate if skill.skill_file.has_places else lambda _offset: WHOLE_FILE,
    )
