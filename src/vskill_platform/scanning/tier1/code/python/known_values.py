"""Values that have a meaning of their own: environment variables, paths, and how the two are put together."""

from __future__ import annotations

import re

from vskill_platform.scanning.tier1.code.python.values import ENVIRONMENT, NAMED_KEY, NOTHING, Value

PATH = "pathlib.Path()"
"""What every path object is called here."""
ENVIRONMENTS = frozenset(["os.environ", "os.environb", "posix.environ"])
_SECRET_NAME = re.compile(
    r"KEY|TOKEN|SECRET|PASS|PWD|CRED|AUTH|PRIVATE|SESSION|COOKIE|MNEMONIC|SEED|_DSN|DATABASE_URL", re.IGNORECASE
)
_FOLDERS = {
    "HOME": "~",
    "USERPROFILE": "~",
    "APPDATA": "~/AppData/Roaming",
    "LOCALAPPDATA": "~/AppData/Local",
    "TMPDIR": "/tmp",  # noqa: S108 - what the variable stands for
    "TEMP": "/tmp",  # noqa: S108
    "XDG_CONFIG_HOME": "~/.config",
}


def variable(key: Value) -> Value:
    """One environment variable, by its name; all of them, where the name is any of theirs."""
    if key.taint & ENVIRONMENT:
        return Value(taint=ENVIRONMENT)
    folders = tuple(_FOLDERS[each] for each in key.texts if each in _FOLDERS)
    if folders:
        return Value(folders)
    secret = tuple(each for each in key.texts if _SECRET_NAME.search(each))
    return Value(taint=NAMED_KEY, variables=secret) if secret or not key.texts else NOTHING


def full_path(left: str, right: str) -> str:
    """Two parts of a path as one; a part that starts anew drops what stood before."""
    if not left or right.startswith(("/", "~")):
        return right
    return f"{left.rstrip('/')}/{right}" if left != "." else right
