"""Where the machine's own Chromium is, and how tests start it."""

from __future__ import annotations

import os
import shutil

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


def find_chromium() -> str:
    """The path of an installed Chromium. Raises FileNotFoundError, which says what to install."""
    for program in PROGRAMS:
        found = shutil.which(program)
        if found is not None:
            return found
    raise FileNotFoundError("There is no Chromium on this machine. Run scripts/ensure-chromium.sh.")


def chromium_arguments() -> list[str]:
    """The arguments that it needs here: root has no sandbox, and small machines have little shared memory."""
    return ["--disable-dev-shm-usage", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
