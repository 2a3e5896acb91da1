"""A skill that somebody sends as files, held to the same rules as one that is fetched.

A file that is too large refuses the skill. Of a repository such a file is left out and named; whoever sends files can leave
it out themselves, and what they sent is then what is published.
"""

from __future__ import annotations

from vskill_platform.domain.content import SkillContent, make_content, skill_file_of
from vskill_platform.domain.errors import SkillTooLarge, UnreadableSkill
from vskill_platform.ingest.escaping import printable
from vskill_platform.ingest.limits import SkillLimits, check_depth, check_files, check_total
from vskill_platform.ingest.paths import check_collisions, check_path
from vskill_platform.ingest.skill_md import parse_skill_md


def check_pushed(content: SkillContent, *, limits: SkillLimits) -> SkillContent:
    """The content in its proper order. Raises UnsafePath, SkillTooLarge, or UnreadableSkill without a sound SKILL.md."""
    check_files(len(content.files), limits=limits)
    for file in content.files:
        check_depth(check_path(file.path), limits=limits)
        if len(file.content) > limits.file_bytes:
            raise SkillTooLarge(
                f"'{printable(file.path)}' has more than {limits.file_bytes} bytes. Leave it out, or split it.",
                limit="file_bytes",
                allowed=limits.file_bytes,
            )
    check_collisions(file.path for file in content.files)
    check_total(content.size, limits=limits)
    ordered = make_content(content.files, content.omitted)
    skill_file = skill_file_of(ordered)
    if skill_file is None:
        raise UnreadableSkill("There is no SKILL.md among the files. A skill has one at its root.")
    parse_skill_md(skill_file.content)
    return ordered
