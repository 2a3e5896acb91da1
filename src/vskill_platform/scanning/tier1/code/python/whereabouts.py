"""What a path or an address means to the user: whole folders of theirs, what a program is confined to, who serves what."""

from __future__ import annotations

import re

from vskill_platform.scanning.tier1.code.hosts import HostKind, kind_of_address
from vskill_platform.scanning.tier1.code.places import Lasting, lasting_at, plain_path
from vskill_platform.scanning.tier1.code.python.values import UNKNOWN

LONGEST_PATH = 400
_FOLDERS = "documents|desktop|downloads|pictures|photos|videos|movies|music|dropbox|onedrive|icloud|google drive|library|appdata"
_USER_ROOT = re.compile(
    rf"(?:~|/home(?:/[^/]+)?|/users(?:/[^/]+)?|/root|/|[a-z]:/?|[a-z]:/users(?:/[^/]+)?)(?:/(?:{_FOLDERS}))?(?:/[*\0]+)*/?",
    re.IGNORECASE,
)
_OWN_NOTES = (f"{UNKNOWN}/memory.md", f"{UNKNOWN}/identity.md")
_CONFINED = re.compile(r"/(?:home|etc|var|usr|srv|root|opt|users|data)/", re.IGNORECASE)


def is_user_root(path: str) -> bool:
    """Whether the path is a place where the user keeps files of all kinds, or everything."""
    text = path[:LONGEST_PATH].replace("\\", "/").rstrip(UNKNOWN) or path[:1]
    head = re.split(r"/(?=[^/]*[*?\[])", text, maxsplit=1)[0]
    return bool(_USER_ROOT.fullmatch(head or "/"))


def lasting_place(path: str) -> Lasting | None:
    """How what is written to the path comes back, also where its beginning is not known but can only be the home."""
    text = path[:LONGEST_PATH]
    if text.startswith(UNKNOWN + "/."):
        text = "~" + text[1:]
    found = lasting_at(text)
    return found if found is not None or not text.startswith(UNKNOWN) else lasting_at(text.lstrip(UNKNOWN))


def is_of_vendor(address: str) -> bool:
    """Whether an address leads to a host that is known for the installers it serves; none may be left open in it."""
    return UNKNOWN not in address and kind_of_address(address) is HostKind.VENDOR


def is_of_project(path: str) -> bool:
    """Whether the path is relative, and so belongs to whatever the agent works on."""
    text = plain_path(path)
    return not text.startswith(("~", "/", UNKNOWN)) and text[1:2] != ":"


def may_be_own_notes(path: str) -> bool:
    """Whether a file has a name that agents have for their notes, and many programs for theirs, in a folder nobody knows."""
    return path.lower() in _OWN_NOTES


def is_confined(path: str) -> bool:
    """Whether a path leads from a constant folder of the system or of a user to a part that is given."""
    head, found, _ = path.partition(UNKNOWN)
    return bool(found) and bool(_CONFINED.match(head)) and head.endswith("/")
