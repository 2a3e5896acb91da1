"""What a submission or a push cannot do: a step that there is not, or a name or version that it cannot be published as."""

from __future__ import annotations

from vskill_platform.domain.errors.base import VskillError
from vskill_platform.domain.errors.general import InvalidInput
from vskill_platform.domain.errors.sources import SourceRefused


class InvalidVersion(InvalidInput):
    """A version is no semantic version, is not higher than the one before, or is taken by other bytes."""

    code = "invalid_version"


class IllegalTransition(VskillError):
    """The transition table has no such step for a submission."""

    code = "illegal_transition"


class SecondReviewerNeeded(IllegalTransition):
    """What has a critical finding is published only when two different people have approved it."""

    code = "second_reviewer_needed"


class SlugTaken(SourceRefused):
    """Every slug that the skill could be published under belongs to another skill."""

    code = "slug_taken"


class BytesYanked(SourceRefused):
    """The bytes are those of a version that was yanked. Change the skill, or have the version restored."""

    code = "bytes_yanked"


class VersionTaken(SourceRefused):
    """The version that was pushed exists with other bytes, is yanked, or is not higher than the newest one."""

    code = "version_taken"


class PushPending(VskillError):
    """Another push of the same skill is in work. Wait until it is decided."""

    code = "push_pending"


class PublishingHeld(SourceRefused):
    """The skill is in quarantine, and nothing is published under its slug until it is restored."""

    code = "publishing_held"
