"""What many rooms of the house say alike: the input is wrong, the thing is not there, the folder is taken."""

from __future__ import annotations

from vskill_platform.domain.errors.base import VskillError


class InvalidInput(VskillError):
    """The caller's input breaks a stated limit or form."""

    code = "invalid_input"


class FolderTaken(InvalidInput):
    """An export, a backup or a skill goes into a folder of its own, and there is something else in this one."""

    code = "folder_taken"


class NotFound(VskillError):
    """The thing that was asked for is not there."""

    code = "not_found"
