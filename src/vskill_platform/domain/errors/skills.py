"""What a skill turned out to be: one that cannot be read, or that is not, or no longer, under the name it was asked for."""

from __future__ import annotations

from vskill_platform.domain.errors.base import VskillError
from vskill_platform.domain.errors.general import InvalidInput, NotFound


class UnreadableSkill(InvalidInput):
    """A skill cannot be read as one: no folder, no SKILL.md, or a SKILL.md whose frontmatter does not parse."""

    code = "unreadable_skill"


class InvalidFrontmatter(UnreadableSkill):
    """The frontmatter of a SKILL.md is missing, no YAML mapping, over a limit, or uses what is not allowed there."""

    code = "invalid_frontmatter"


class UnsafePath(UnreadableSkill):
    """A file of a skill has a name that cannot be installed safely everywhere."""

    code = "unsafe_path"


class SkillTooLarge(UnreadableSkill):
    """A skill has more files, more bytes or deeper folders than a skill may have."""

    code = "skill_too_large"


class AmbiguousPackage(VskillError):
    """A short name could mean several skills. The whole name of each is in the sentence."""

    code = "ambiguous_package"


class SkillWithdrawn(NotFound):
    """The skill was published and is not any more; the message says why."""

    code = "skill_withdrawn"


class SkillQuarantined(SkillWithdrawn):
    """The skill is held back until somebody has looked at it; the message says why."""

    code = "skill_quarantined"


class VersionYanked(NotFound):
    """The version was published and is no longer handed out; the message says why."""

    code = "version_yanked"


class SkillMoved(NotFound):
    """The skill that was called `former` has another slug now, which `slug` names."""

    code = "skill_moved"


class AmbiguousSkillSlug(VskillError):
    """Several skills have this name. The answer names them; ask for one of them by its owner, or by its whole name."""

    code = "ambiguous_skill_slug"
